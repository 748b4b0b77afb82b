/** The own face: discovery, changes since a cursor, the manifest, pages in bulk. docs/protocol.md tells it in words. */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';
import { originOf } from '../../base/url.ts';
import { version } from '../../base/version.ts';
import { encodeChanges, type SiteChange } from '../../notices/site/changes.ts';
import {
  DETECTOR,
  type Discovery,
  encodeDiscovery,
  mediaTypes,
  SITE_PROTOCOL,
  siteLimits,
  WELL_KNOWN,
} from '../../notices/site/discovery.ts';
import { encodeEntries, encodeSummary } from '../../notices/site/manifest.ts';
import {
  bodyHash,
  decodeWanted,
  encodePages,
  type Outgoing,
  type SitePage,
  type WantedPages,
} from '../../notices/site/pages.ts';
import { decodeCursor, encodeCursor, pathOf } from '../../notices/site/paths.ts';
import type { Bodies } from '../journal/bodies.ts';
import { cursorText, type Journal } from '../journal/journal.ts';
import type { Entry } from '../journal/lines.ts';
import type { SourceDocument } from '../sources/source.ts';
import { Buckets, hashOf } from './buckets.ts';
import { type FaceAnswer, FaceError, type FaceRequest } from './request.ts';

interface OwnParts {
  /** Public URL. */
  readonly site: string;
  readonly journal: Journal;
  readonly bodies: Bodies;
  /** The document as it is now; undefined = there is none, or it may not leave. Throws where that cannot be known. */
  read(path: string): Promise<SourceDocument | undefined>;
}

/** What the discovery document says besides. */
type OwnFaces = Omit<
  Discovery,
  'protocol' | 'software' | 'site' | 'detector' | 'journal' | 'pages' | 'changes' | 'manifest' | 'pagesAt'
>;

const MOST_WAITING = 256;
/** Requests for pages that are read, and that are answered, at once. */
const MOST_LISTENING = 128;
const MOST_BULK = 4;

export class OwnFace {
  readonly #parts: OwnParts;
  readonly #buckets: Buckets;
  #waiting = 0;
  readonly #listening = new LimitedWork(MOST_LISTENING);
  readonly #bulk = new LimitedWork(MOST_BULK);

  constructor(parts: OwnParts) {
    this.#parts = parts;
    this.#buckets = new Buckets(parts.journal, originOf(parts.site));
  }

  discovery(faces: OwnFaces): FaceAnswer {
    const { site, journal } = this.#parts;
    const body = encodeDiscovery({
      protocol: SITE_PROTOCOL,
      software: `skein ${version}`,
      site,
      detector: DETECTOR,
      journal: { first: journal.first, cursor: cursorText(journal) },
      pages: journal.pages.size,
      changes: `${WELL_KNOWN}/changes`,
      manifest: `${WELL_KNOWN}/manifest`,
      pagesAt: `${WELL_KNOWN}/pages`,
      ...faces,
    });
    return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' }, body };
  }

  async changes(request: FaceRequest): Promise<FaceAnswer> {
    const given = request.query.get('since') ?? '';
    const cursor = decodeCursor(given);
    if (cursor === undefined) {
      throw new FaceError('bad-request', 'Give the cursor as since=…; without one, begin with the manifest.');
    }
    const wait = Math.min(siteLimits.wait, Math.max(0, Number(request.query.get('wait') ?? 0) || 0));
    let entries = this.#since(cursor);
    if (entries.length === 0 && wait > 0 && (await this.#change(wait, request.gone))) entries = this.#since(cursor);
    if (entries.length === 0) return { status: 204, headers: {} };
    const taken = entries.slice(0, siteLimits.changes);
    const last = taken.at(-1)!;
    const more = taken.length < entries.length;
    const body = encodeChanges({ cursor: encodeCursor(last), more, changes: this.#told(taken) });
    return binary('changes', body);
  }

  #since(cursor: { sequence: number; chain: string }): readonly Entry[] {
    const found = this.#parts.journal.since(cursor);
    if (found.kind === 'changes') return found.entries;
    if (found.kind === 'too-old') {
      throw new FaceError('cursor-too-old', 'The journal no longer reaches back to this cursor: read the manifest.');
    }
    throw new FaceError('other-history', 'This cursor belongs to another history of the site: read the manifest.');
  }

  /** True when something changed within so many seconds. */
  #change(seconds: number, gone: AbortSignal | undefined): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return Promise.resolve(false);
    this.#waiting++;
    return new Promise(resolve => {
      const end = (changed: boolean): void => {
        clearTimeout(timer);
        stop();
        gone?.removeEventListener('abort', left);
        this.#waiting--;
        resolve(changed);
      };
      const left = (): void => end(false);
      const stop = this.#parts.journal.listen(() => end(true));
      const timer = setTimeout(() => end(false), seconds * 1000);
      timer.unref();
      gone?.addEventListener('abort', left, { once: true });
    });
  }

  /** Each page once, in the order of its last change. */
  #told(entries: readonly Entry[]): readonly SiteChange[] {
    const origin = originOf(this.#parts.site);
    const first = new Map<string, Entry>();
    const last = new Map<string, Entry>();
    for (const entry of entries) {
      if (!first.has(entry.page.path)) first.set(entry.page.path, entry);
      last.set(entry.page.path, entry);
    }
    return [...last.values()].map(({ operation, page }) => ({
      url: origin + page.path,
      // One that was made and then changed is new to the reader.
      operation: operation === 'update' && first.get(page.path)!.operation === 'create' ? 'create' : operation,
      kind: page.kind,
      time: page.time,
      content: hashOf(page),
    }));
  }

  manifest(request: FaceRequest): FaceAnswer {
    const { journal } = this.#parts;
    const of = request.query.get('of');
    if (of === null) {
      const { digests } = this.#buckets;
      return binary('manifest', encodeSummary({ cursor: cursorText(journal), pages: journal.pages.size, digests }));
    }
    const count = Number(request.query.get('buckets'));
    const asked = of.split(',', siteLimits.bucketsAsked + 1).map(Number);
    const isCount = Number.isInteger(count) && count > 0 && count <= siteLimits.buckets && (count & (count - 1)) === 0;
    const areBuckets = asked.every(each => Number.isInteger(each) && each >= 0 && each < count);
    if (!isCount || !areBuckets || asked.length > siteLimits.bucketsAsked) {
      throw new FaceError('bad-request', 'Ask for buckets as buckets=64&of=1,5,9, at most 512 of them.');
    }
    const entries = [...new Set(asked)].flatMap(each => this.#buckets.entries(count, each));
    return binary('manifest', encodeEntries(entries));
  }

  async pages(request: FaceRequest): Promise<FaceAnswer> {
    // Whoever has not said all yet takes no place from those who have: a body may be sent a byte a minute.
    const wanted = await this.#listening.of(() => this.#wanted(request));
    return this.#bulk.of(async () => binary('pages', await encodePages(await this.#gather(wanted))));
  }

  async #wanted(request: FaceRequest): Promise<readonly WantedPages[]> {
    const body = await request.body(siteLimits.requestBytes);
    try {
      return decodeWanted(decompressed(body, request.header('content-encoding')), this.#parts.site);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      throw new FaceError('bad-request', error.message);
    }
  }

  async #gather(wanted: readonly WantedPages[]): Promise<readonly Outgoing[]> {
    const outgoing: Outgoing[] = [];
    let room: number = siteLimits.pagesBytes;
    let baseRoom: number = siteLimits.pagesBytes;
    for (const { url, have } of wanted) {
      const page = await this.#page(pathOf(url));
      if (page.state !== 'page') outgoing.push({ page });
      else if (have && Buffer.compare(bodyHash(page.body), have) === 0) outgoing.push({ page: { state: 'same' } });
      else if (page.body.length > room) outgoing.push({ page: { state: 'later' } });
      else {
        room -= page.body.length;
        const base = have && this.#parts.bodies.get(Buffer.from(have).toString('hex'));
        const fits = base !== undefined && base.length <= baseRoom;
        if (fits) baseRoom -= base.length;
        outgoing.push({ page, base: fits ? base : undefined });
      }
    }
    return outgoing;
  }

  async #page(path: string): Promise<SitePage> {
    const known = this.#parts.journal.pages.get(path);
    if (known === undefined) return { state: 'gone' };
    if (known.bytes > siteLimits.pageBytes) return { state: 'elsewhere' };
    try {
      const document = await this.#parts.read(path);
      if (document === undefined) return { state: 'gone' };
      const { kind, type, body, robots } = document;
      // Bulk carries no headers, and crawlers are to know what this one says.
      if (body.length > siteLimits.pageBytes || robots !== undefined) return { state: 'elsewhere' };
      return { state: 'page', kind, type, time: known.time, title: known.title, body };
    } catch {
      return { state: 'elsewhere' }; // the source cannot be read at the moment
    }
  }
}

/** So many at once; whoever comes then comes again. */
class LimitedWork {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async of<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= this.#most) throw new FaceError('slow-down', 'Others are being served: wait a moment.', 1);
    this.#taken++;
    try {
      return await work();
    } finally {
      this.#taken--;
    }
  }
}

function decompressed(body: Uint8Array, coding: string | undefined): Uint8Array {
  const limit = { maxOutputLength: siteLimits.requestBytes };
  try {
    if (coding === 'gzip') return gunzipSync(body, limit);
    if (coding === 'zstd') return zstdDecompressSync(body, limit);
  } catch {
    throw new FaceError('bad-request', 'The body cannot be decompressed.');
  }
  if (coding !== undefined && coding !== 'identity') throw new FaceError('bad-request', 'Compress with gzip or zstd.');
  return body;
}

function binary(type: keyof typeof mediaTypes, body: Uint8Array): FaceAnswer {
  return { status: 200, headers: { 'content-type': mediaTypes[type], 'cache-control': 'no-store' }, body };
}
