/**
 * A web server on this machine, read through its own door: from the front page along its links, with Skein's own fetcher,
 * scanner and robots rules. Pages are asked for as the public URL would be, at the address that the owner gave, and
 * conditionally where they were seen before.
 */

import { SkeinError } from '../../base/errors.ts';
import { normalise, originOf } from '../../base/url.ts';
import { version } from '../../base/version.ts';
import { analyse } from '../../crawler/analysis/analyse.ts';
import { openFetcher } from '../../crawler/fetch/fetcher.ts';
import { ROBOTS_LIMIT } from '../../crawler/robots/robots.ts';
import { robotsText } from '../../crawler/robots/robots-text.ts';
import type { Fetcher, Response } from '../../crawler/stages.ts';
import { userAgent } from '../../errand/agent.ts';
import { trapReason } from '../../errand/scope/traps.ts';
import { decodeBody } from '../../errand/warc/decode.ts';
import { siteLimits, WELL_KNOWN } from '../../notices/site/discovery.ts';
import type { SourcePermission } from './permission.ts';
import { HOPELESS, type Item, type SiteSource, type SourceDocument } from './source.ts';

interface HttpOptions {
  /** Public URL. */
  readonly site: string;
  /** Where the server is reached: `http://127.0.0.1:8080`. */
  readonly upstream: string;
  readonly permission: SourcePermission;
  /** Milliseconds between two walks over the whole site. */
  readonly every?: number;
  /** Pages that a walk looks at. */
  readonly most?: number;
}

interface SeenPage {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Paths that the page leads to. */
  readonly links: readonly string[];
}

type Fetched =
  | {
      readonly kind: 'page';
      readonly document: SourceDocument;
      readonly links: readonly string[];
      readonly seen: SeenPage;
    }
  | { readonly kind: 'same' }
  | { readonly kind: 'moved'; readonly links: readonly string[] }
  | { readonly kind: 'none' };

const AT_ONCE = 4;
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const PAGES = /^(?:text\/(?:html|plain|markdown|csv)|application\/(?:xhtml\+xml|pdf))\b/i;

export class HttpSource implements SiteSource {
  readonly name = 'http';
  readonly mayStartLate = true;
  readonly every: number;
  readonly #options: HttpOptions;
  readonly #origin: string;
  readonly #upstream: string;
  readonly #fetcher: Fetcher;
  readonly #seen = new Map<string, SeenPage>();

  constructor(options: HttpOptions) {
    this.#options = options;
    this.every = options.every ?? 600_000;
    this.#origin = originOf(options.site);
    this.#upstream = originOf(normalise(options.upstream) ?? '');
    this.#fetcher = openFetcher({ userAgent: userAgent(version), http2: false });
  }

  /**
   * Breadth first. A page that cannot be read is passed over, with the links that it had. A server whose front page or so many
   * pages in a row cannot be read ends the walk: what was not reached is not gone.
   */
  async *list(): AsyncIterable<Item> {
    const first = this.#options.site.slice(this.#origin.length);
    const known = new Set([first]);
    const queue = [first];
    const most = Math.min(this.#options.most ?? 100_000, siteLimits.pages);
    let failed = 0;
    while (queue.length > 0) {
      const paths = queue.splice(0, AT_ONCE);
      const answers = await Promise.all(paths.map(path => this.#tried(path)));
      for (const [i, answer] of answers.entries()) {
        const path = paths[i]!;
        failed = answer instanceof SkeinError ? failed + 1 : 0;
        if (answer instanceof SkeinError && (path === first || failed === HOPELESS)) throw answer;
        for (const link of this.#linksOf(path, answer)) {
          if (known.has(link) || known.size >= most || !this.#isWanted(link)) continue;
          known.add(link);
          queue.push(link);
        }
        yield* this.#itemOf(path, answer);
      }
    }
  }

  async #tried(path: string): Promise<Fetched | SkeinError> {
    try {
      return await this.#fetch(path, true);
    } catch (error) {
      if (error instanceof SkeinError) return error;
      throw error;
    }
  }

  #linksOf(path: string, answer: Fetched | SkeinError): readonly string[] {
    if (answer instanceof SkeinError || answer.kind === 'same') return this.#seen.get(path)?.links ?? [];
    return answer.kind === 'none' ? [] : answer.links;
  }

  *#itemOf(path: string, answer: Fetched | SkeinError): Iterable<Item> {
    if (answer instanceof SkeinError) yield { path, stamp: '', problem: answer.message };
    else if (answer.kind === 'page') {
      this.#seen.set(path, answer.seen);
      yield { path, stamp: this.#stamp(path), document: () => answer.document };
    }
    // A server's word that a page is the same is its stamp.
    else if (answer.kind === 'same') yield { path, stamp: this.#stamp(path) };
  }

  async read(path: string): Promise<SourceDocument | undefined> {
    const answer = await this.#fetch(path, false);
    return answer.kind === 'page' ? answer.document : undefined;
  }

  async robots(): Promise<Uint8Array | undefined> {
    const url = `${this.#upstream}/robots.txt`;
    const answer = await this.#fetcher.fetch({ url, maxBytes: ROBOTS_LIMIT, allowPrivate: true });
    if (answer.kind === 'failure') throw unreadable(url, answer.detail);
    if (answer.status >= 500) throw unreadable(url, `it answers ${answer.status}`);
    if (answer.status !== 200) return undefined;
    // Half of it would allow what the rest forbids.
    const text = robotsText(answer);
    if (text === undefined) throw unreadable(url, 'its answer is incomplete, or cannot be decoded');
    return Buffer.from(text);
  }

  async close(): Promise<void> {
    await this.#fetcher.close();
  }

  #isWanted(path: string): boolean {
    if (path.startsWith(WELL_KNOWN) || trapReason(this.#origin + path) !== undefined) return false;
    return this.#options.permission.permits(path);
  }

  #stamp(path: string): string {
    const { etag, lastModified } = this.#seen.get(path) ?? {};
    return etag ?? lastModified ?? '';
  }

  async #fetch(path: string, conditional: boolean): Promise<Fetched> {
    const before = conditional ? this.#seen.get(path) : undefined;
    const url = this.#upstream + path;
    const answer = await this.#fetcher.fetch({
      url,
      maxBytes: siteLimits.pageBytes,
      allowPrivate: true,
      ...(before?.etag !== undefined && { etag: before.etag }),
      ...(before?.lastModified !== undefined && { lastModified: before.lastModified }),
    });
    if (answer.kind === 'failure') throw unreadable(url, answer.detail);
    if (answer.status === 304 && before) return { kind: 'same' };
    if (answer.status >= 500 || answer.status === 429) throw unreadable(url, `it answers ${answer.status}`);
    if (answer.status >= 300 && answer.status < 400) {
      return { kind: 'moved', links: this.#ours([answer.headers.get('location') ?? ''], path) };
    }
    return answer.status === 200 ? this.#page(path, answer) : { kind: 'none' };
  }

  #page(path: string, answer: Response): Fetched {
    const type = answer.headers.get('content-type') ?? '';
    const decoded = decodeBody(answer.body, answer.headers.get('content-encoding'), {
      bodyBytes: siteLimits.pageBytes,
    });
    if (!PAGES.test(type) || answer.truncated || decoded.kind === 'failed' || decoded.truncated)
      return { kind: 'none' };
    const page = analyse({ url: this.#origin + path, headers: answer.headers, body: decoded.bytes });
    const found = page.nofollow || !HTML.test(type) ? '' : Buffer.from(page.links.urls).toString();
    const links = this.#ours(found === '' ? [] : found.split('\n'), path);
    const etag = answer.headers.get('etag');
    const lastModified = answer.headers.get('last-modified');
    const modified = lastModified === undefined ? undefined : Date.parse(lastModified) || undefined;
    const seen = { etag, lastModified, links };
    const robots = answer.headers.get('x-robots-tag');
    const unlisted = page.noindex || isCanonicalElsewhere(page.canonical, this.#origin + path);
    const document = { kind: 'page', type, modified, robots, unlisted, body: decoded.bytes } as const;
    return { kind: 'page', document, links, seen };
  }

  /** Paths of those that lie on this site, whether it calls itself by its public name or by the one we use. */
  #ours(links: readonly string[], path: string): readonly string[] {
    const ours: string[] = [];
    for (const link of links) {
      const url = link === '' ? undefined : normalise(link, this.#origin + path);
      if (url === undefined) continue;
      const origin = originOf(url);
      if (origin === this.#origin || origin === this.#upstream) ours.push(url.slice(origin.length));
    }
    return ours;
  }
}

function isCanonicalElsewhere(canonical: string | undefined, url: string): boolean {
  return canonical !== undefined && originOf(canonical) === originOf(url) && canonical !== url;
}

function unreadable(url: string, why: string): SkeinError {
  return new SkeinError('refused', `${url} cannot be read: ${why}.`);
}
