/**
 * Which face answers which path. Everything lies below `/.well-known/skein`, but for the two places where standards want
 * something else: ResourceSync's source description, and IndexNow's key file. What is none of ours is `undefined`.
 */
import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import type { Clock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { askerOf, isLoopback } from '../../base/http.ts';
import { siteLimits, WELL_KNOWN } from '../../notices/site/discovery.ts';
import { decodeTerms } from '../../notices/site/terms.ts';
import { cursorText, type Journal } from '../journal/journal.ts';
import type { Announcements } from '../push/announce.ts';
import type { Hub } from '../push/hub.ts';
import type { Access } from './access.ts';
import { ATOM, ATOM_TYPE, atom } from './atom.ts';
import type { OwnFace } from './own.ts';
import { type FaceAnswer, FaceError, type FaceRequest, failed, json } from './request.ts';
import { resourceSync, SOURCE_DESCRIPTION } from './resourcesync.ts';
import type { SearchBox } from './search-box.ts';
import { sitemap, sitemapIndex } from './sitemap.ts';
import type { SearchedTerms } from './terms.ts';

interface FacesParts {
  readonly site: string;
  readonly now: Clock['now'];
  readonly journal: Journal;
  readonly access: Access;
  readonly own: OwnFace;
  readonly announcements: Announcements;
  readonly hub: Hub | undefined;
  /** Absolute URLs of the hubs that know of changes. */
  readonly hubs: readonly string[];
  readonly terms: SearchedTerms | undefined;
  readonly box: SearchBox | undefined;
}

const XML = 'application/xml; charset=utf-8';
const SMALL = 600;
const FORM_BYTES = 16_384;
const compressors = { zstd: promisify(zstdCompress), gzip: promisify(gzip) };

export class Faces {
  readonly #parts: FacesParts;

  constructor(parts: FacesParts) {
    this.#parts = parts;
  }

  /** Whether a path is ours at all. */
  owns(path: string): boolean {
    if (path === WELL_KNOWN || path.startsWith(`${WELL_KNOWN}/`) || path === SOURCE_DESCRIPTION) return true;
    return path === this.#keyPath;
  }

  async answer(request: FaceRequest): Promise<FaceAnswer | undefined> {
    if (!this.owns(request.path)) return undefined;
    try {
      this.#parts.access.count(request);
      const answer = await this.#route(request);
      if (answer === undefined) throw new FaceError('not-found', 'There is nothing here.');
      return await packed(answer, request);
    } catch (error) {
      if (error instanceof FaceError) return failed(error);
      // What is wrong inside is the owner's to read, not the reader's.
      if (error instanceof SkeinError) return failed(new FaceError('not-ready', 'The site cannot answer now.', 60));
      throw error;
    }
  }

  get #keyPath(): string {
    return `/${this.#parts.announcements.key}.txt`;
  }

  async #route(request: FaceRequest): Promise<FaceAnswer | undefined> {
    const { journal, own, access, hub, terms, box, announcements } = this.#parts;
    const { method, path, query } = request;
    const reads = method === 'GET' || method === 'HEAD';
    if (reads && path === this.#keyPath) {
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: announcements.key };
    }
    if (!journal.begun) throw new FaceError('not-ready', 'The first inventory is under way.', 2);
    const name = path.startsWith(`${WELL_KNOWN}/`) ? path.slice(WELL_KNOWN.length + 1) : '';
    if (reads && path === WELL_KNOWN) return own.discovery(this.#faces());
    if (reads && name === 'suggest') return terms && json({ terms: terms.suggest(query.get('q') ?? '') });
    if (reads && name === 'popular') return terms && json({ terms: terms.suggest('') });
    if (reads && name === 'search') return box?.search(query);
    if (reads && name === 'widget.js') return box?.script();
    if (method === 'POST' && name === 'hub') return hub && (await this.#subscribe(request, hub));
    if (method === 'POST' && name === 'terms') return terms && (await this.#takeTerms(request, terms));
    if (reads && (name === 'changes' || name === 'manifest')) {
      access.check(request);
      return own[name](request);
    }
    if (method === 'POST' && name === 'pages') {
      access.check(request);
      return own.pages(request);
    }
    return reads ? this.#standard(path, name, request) : undefined;
  }

  /** Documents that standards describe; the same as long as the journal stands where it stood. */
  #standard(path: string, name: string, request: FaceRequest): FaceAnswer | undefined {
    const { journal, site, hubs, now } = this.#parts;
    const number = /^sitemap-(\d{1,4})\.xml$/.exec(name);
    const tag = `W/"${cursorText(journal)}"`;
    const headers = { 'content-type': path === ATOM ? ATOM_TYPE : XML, etag: tag, 'cache-control': 'no-cache' };
    const make = (): string | undefined => {
      if (path === ATOM) return atom(journal, { site, hubs });
      if (name === 'sitemap.xml') return sitemapIndex(journal, site);
      if (number) return sitemap(journal, site, Number(number[1]));
      return resourceSync(path, journal, site, now());
    };
    const known = request.header('if-none-match')?.includes(tag) === true;
    const body = known && (path === ATOM || name === 'sitemap.xml') ? '' : make();
    if (body === undefined) return undefined;
    const link = path === ATOM ? hubs.map(hub => `<${hub}>; rel="hub"`).join(', ') : '';
    const all = link === '' ? headers : { ...headers, link: `${link}, <${new URL(ATOM, site).href}>; rel="self"` };
    return known ? { status: 304, headers: { etag: tag } } : { status: 200, headers: all, body };
  }

  async #subscribe(request: FaceRequest, hub: Hub): Promise<FaceAnswer> {
    const form = new URLSearchParams(Buffer.from(await request.body(FORM_BYTES)).toString());
    // Behind a web server that does not say who asks, all are that server.
    hub.take(form, isLoopback(request.address) ? '' : askerOf(request.address));
    return { status: 202, headers: {} };
  }

  /** Only whoever has the token may tell terms: anybody else would write into the owner's search box. */
  async #takeTerms(request: FaceRequest, terms: SearchedTerms): Promise<FaceAnswer> {
    const { access, site } = this.#parts;
    if (!access.hasToken(request) && !request.certified) {
      throw new FaceError('token-wanted', 'Terms are taken with the token of this site only.');
    }
    const text = Buffer.from(await request.body(siteLimits.requestBytes)).toString();
    try {
      terms.add(decodeTerms(text, site));
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'bad-frame') throw new FaceError('bad-request', error.message);
      throw error;
    }
    return { status: 204, headers: {} };
  }

  #faces() {
    const { access, hubs, terms, box, announcements } = this.#parts;
    const shared = { terms: `${WELL_KNOWN}/terms`, suggest: `${WELL_KNOWN}/suggest`, popular: `${WELL_KNOWN}/popular` };
    return {
      access: access.kind,
      sitemap: `${WELL_KNOWN}/sitemap.xml`,
      atom: ATOM,
      resourceSync: SOURCE_DESCRIPTION,
      ...(hubs[0] !== undefined && { hub: hubs[0], topics: [ATOM] }),
      indexNowKey: `/${announcements.key}.txt`,
      ...(terms && shared),
      ...(box && { search: `${WELL_KNOWN}/search`, widget: `${WELL_KNOWN}/widget.js` }),
      limits: { requestsAMinute: access.requestsAMinute, wanted: siteLimits.wanted, wait: siteLimits.wait },
    };
  }
}

/** Compressed where that helps and whoever asks can read it. */
async function packed(answer: FaceAnswer, request: FaceRequest): Promise<FaceAnswer> {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  const accepted = request.header('accept-encoding') ?? '';
  const coding = (['zstd', 'gzip'] as const).find(each =>
    new RegExp(`\\b${each}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\b)`).test(accepted),
  );
  const isPacked = answer.headers['content-type'] === 'application/vnd.skein.pages';
  if (body === undefined || body.length < SMALL || coding === undefined || isPacked) {
    return body === undefined ? answer : { ...answer, body };
  }
  const headers = { ...answer.headers, 'content-encoding': coding, vary: 'accept-encoding' };
  return { ...answer, headers, body: await compressors[coding](body) };
}
