/** A site for tests: a folder of files, what `skein site` makes of it, and a listener on loopback. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { decodeChanges } from '../../src/notices/site/changes.ts';
import { type Discovery, decodeDiscovery } from '../../src/notices/site/discovery.ts';
import { decodeSummary, type ManifestSummary } from '../../src/notices/site/manifest.ts';
import { decodePages, encodeWanted, type SitePage, type WantedPages } from '../../src/notices/site/pages.ts';
import { type ListenOptions, listen } from '../../src/site/listener.ts';
import type { SiteOptions } from '../../src/site/options.ts';
import { openSite, type Site } from '../../src/site/site.ts';

export const PUBLIC = 'https://example.org/';

export function folder(context: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'skein-site-'));
  context.after(() => rmSync(made, { recursive: true, force: true, maxRetries: 3 }));
  return made;
}

export function write(directory: string, name: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text);
}

export const page = (title: string, text: string): string =>
  `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`;

export interface Here {
  readonly site: Site;
  readonly at: string;
  readonly data: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  discovery(): Promise<Discovery>;
  summary(): Promise<ManifestSummary>;
  /** Changes since a cursor; undefined = none. */
  changes(since: string, more?: string): Promise<ReturnType<typeof decodeChanges> | undefined>;
  pages(wanted: readonly WantedPages[], held?: (url: string) => Uint8Array | undefined): Promise<readonly SitePage[]>;
  close(): Promise<void>;
}

export async function startSite(
  context: TestContext,
  options: Partial<SiteOptions> & { readonly listen?: Partial<ListenOptions> },
): Promise<Here> {
  const { listen: listening, ...rest } = options;
  const data = options.data ?? join(folder(context), 'state');
  const opened = await openSite({ public: PUBLIC, requestsAMinute: 100_000, ...rest, data });
  const { site } = opened;
  await site.start();
  const server = await listen(site, { host: '127.0.0.1', port: 0, ...listening });
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await server.close();
    await opened.close();
  };
  context.after(close);
  return { site, data, close, ...reader(`http://127.0.0.1:${server.port}`) };
}

export function reader(at: string): Omit<Here, 'site' | 'data' | 'close'> {
  const own = `${at}/.well-known/skein`;
  const get = (path: string, headers: Record<string, string> = {}) => fetch(at + path, { headers });
  const bytes = async (response: Response) => new Uint8Array(await response.arrayBuffer());
  return {
    at,
    get,
    discovery: async () => decodeDiscovery(await (await fetch(own)).text(), own),
    summary: async () => decodeSummary(await bytes(await fetch(`${own}/manifest`))),
    changes: async (since, more = '') => {
      const response = await fetch(`${own}/changes?since=${since}${more}`);
      if (response.status === 204) return undefined;
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      return decodeChanges(await bytes(response), PUBLIC);
    },
    pages: async (wanted, held = () => undefined) => {
      const body = new Uint8Array(encodeWanted(wanted));
      const response = await fetch(`${own}/pages`, { method: 'POST', body });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      return decodePages(await bytes(response), wanted, held);
    },
  };
}

/** Waits for something to become true, which it must. */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise(resolve => setTimeout(resolve, 20));
}
