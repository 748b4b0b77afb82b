/**
 * A recorded site behind the product's own `skein site`: its inventory, journal, hub and submissions, and with
 * `dictionaries` its front. Only one way of telling is let through, so that each is measured alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WELL_KNOWN } from '../../src/notices/site/discovery.ts';
import { ATOM } from '../../src/site/faces/atom.ts';
import { answered } from '../../src/site/node-request.ts';
import { openSite } from '../../src/site/site.ts';
import type { Front } from './front.ts';
import { Meter, SentContents } from './traffic.ts';
import { openWebPages } from './web-pages.ts';

/** What `skein site` tells by. */
export type SiteFace = 'own' | 'resourcesync' | 'feed' | 'websub' | 'indexnow';

interface SiteFrontOptions {
  readonly face: SiteFace;
  /** Pages come as differences from what the reader holds (RFC 9842). */
  readonly dictionaries?: boolean;
  /** Where submissions are sent. */
  readonly door: string;
  readonly now: () => number;
}

/** Paths of each way of telling; `key` is that of submissions. */
function opens(face: SiteFace, path: string): boolean {
  if (face === 'own') return path === WELL_KNOWN || /\/(?:changes|manifest|pages)$/.test(path);
  if (face === 'resourcesync') return /resourcesync|resourcelist|changelist|capabilitylist/.test(path);
  if (face === 'indexnow') return path.endsWith('.txt');
  return path === ATOM || (face === 'websub' && path.endsWith('/hub'));
}

export async function openSiteFront(behind: string, options: SiteFrontOptions): Promise<Front> {
  const { face, dictionaries = false, door, now } = options;
  const directory = mkdtempSync(join(tmpdir(), 'skein-site-front-'));
  const pages = new Map<string, { readonly body: Buffer; readonly type: string; readonly blob: string }>();
  const server = createServer(async (request, response) => {
    const path = request.url!.split('?')[0]!;
    const isFace = opened.site.faces.owns(path);
    meter.note(request, response, isFace ? 'faces' : contents);
    if (isFace && !opens(face, path)) response.writeHead(404).end();
    else if (!(await answered(opened.site.faces, request, response))) web.answer(request, response);
  });
  const contents = new SentContents(path => pages.get(path)?.blob);
  const meter = new Meter(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opened = await openSite(
    {
      ...{ public: origin, data: directory, goneAfter: 0, every: 1e6, requestsAMinute: 1e6, allowPrivate: true },
      pages: async function* (url) {
        const path = url?.slice(origin.length);
        for (const [each, { body, type }] of pages)
          if (path === undefined || path === each) yield { url: each, body, type };
      },
      ...(face === 'websub' && { hubs: ['own'] }),
      ...(face === 'indexnow' && { indexNow: [`${door}/indexnow`] }),
    },
    now,
  );
  const { site } = opened;
  const web = await openWebPages({
    ...{ behind, origin: () => origin, feed: face === 'feed' || face === 'websub' ? ATOM : undefined },
    differences: dictionaries ? site.bodies : undefined,
  });
  return {
    origin,
    patches: 0,
    wholes: 0,
    async turn(days) {
      const begun = pages.size > 0;
      const gone = new Set(pages.keys());
      const differ: string[] = [];
      for (const { path, blob } of days) {
        gone.delete(path);
        if (pages.get(path)?.blob === blob) continue;
        const found = await web.read(path);
        if (!found) continue;
        pages.set(path, { ...found, blob });
        differ.push(path);
      }
      for (const path of gone) pages.delete(path);
      if (!begun) await site.start();
      else if (differ.length + gone.size > 0) await site.changed(...differ, ...gone);
      // What is missing is looked for once more.
      await new Promise(resolve => setTimeout(resolve, 200));
    },
    traffic: () => meter.take(),
    passed: () => meter.passed(),
    problem() {
      const { sources, subscribers, told } = site.status();
      if (face === 'websub' && subscribers.length === 0) return 'nobody has subscribed';
      if ([...subscribers, ...told].some(({ behind }) => behind > 0)) return 'not everything was told';
      return [...sources, ...subscribers, ...told]
        .map(({ problem }) => problem)
        .join(' ')
        .trim();
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await opened.close();
      web.close();
      rmSync(directory, { recursive: true });
    },
  };
}
