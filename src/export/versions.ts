/**
 * Pages as they were after a visit, read through the ledger. A page that is gone, or has moved, is none; one that could
 * not be reached is as it was before.
 */
import type { Stored } from '../archive/read.ts';
import { SiteBlocks } from '../extract/site.ts';
import type { Template } from '../extract/weigh.ts';
import { WRITTEN_OFF } from '../home/checks/verify.ts';
import { type Copies, openCopies } from '../home/copies/copies.ts';
import { textOf } from '../home/copies/copy-text.ts';
import { everKept } from '../home/house/retention.ts';
import { hashOf } from '../judge/hash.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { VisitRow } from '../ledger/visits.ts';
import type { ReadUpTo } from './cursor.ts';

export interface Version {
  readonly url: string;
  readonly page: number;
  /** Milliseconds since 1970 of the look that stored it. */
  readonly time: number;
  readonly status: number;
  readonly digest: string;
  readonly mediaType: string;
  readonly stored: Stored;
  html(): string;
}

/** Pages of a server that are looked at for what its pages share. */
const SAMPLE = 40;
/** Bytes of a page that are read. */
const MOST = 16_000_000;
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i;

export class Versions {
  readonly ledger: Ledger;
  readonly #copies: Copies;
  #samples: ReadonlyMap<number, readonly number[]> | undefined;
  readonly #templates = new Map<number, Template>();

  constructor(data: string) {
    this.ledger = new Ledger(data, 'read');
    this.#copies = openCopies(this.ledger);
  }

  /** HTML only; after the visit `upTo` at the latest, and before `until`. */
  async of(page: number, upTo: number, until = Number.MAX_SAFE_INTEGER): Promise<Version | undefined> {
    const visits = this.ledger.visits.of(page).filter(visit => visit.id <= upTo && visit.time < until);
    const last = visits.findLast(({ outcome }) => outcome !== 'failed' && outcome !== 'refused');
    if (!last || last.outcome === 'gone' || last.outcome === 'moved') return undefined;
    const visit = visits.findLast(({ segment }) => segment !== null);
    return visit && (await this.#read(page, visit));
  }

  /** The same as a reader at this place has it; `lost`: it has one that is kept no more. */
  async at(page: number, place: ReadUpTo): Promise<Version | 'lost' | undefined> {
    return this.#losesCopies() && this.#isLost(page, place) ? 'lost' : this.of(page, place.visit);
  }

  /** Without that each visit that brought a page has its copy. */
  #losesCopies(): boolean {
    return everKept(this.ledger.settings) || this.ledger.settings.get(WRITTEN_OFF) !== undefined;
  }

  #isLost(page: number, { visit, time }: ReadUpTo): boolean {
    const visits = this.ledger.visits.of(page).filter(({ id }) => id <= visit);
    const last = visits.findLast(({ outcome }) => outcome !== 'failed' && outcome !== 'refused');
    if (last?.outcome === 'gone' || last?.outcome === 'moved') return false;
    const brought = visits.findLast(({ outcome, segment }) => outcome === 'fetched' || segment !== null);
    if (brought) return brought.segment === null;
    // The looks from before a version are deleted some time after it.
    return (this.ledger.pages.known(page)?.first_time ?? Number.POSITIVE_INFINITY) <= time;
  }

  async #read(page: number, visit: VisitRow): Promise<Version | undefined> {
    const stored = await this.#copies.of(visit);
    const mediaType = stored?.headers.get('content-type') ?? '';
    if (!stored || !HTML.test(mediaType)) return undefined;
    const { digest, status } = stored;
    const url = this.ledger.pages.get(page)?.url ?? stored.url;
    return { url, page, time: visit.time, status, digest, mediaType, stored, html: () => textOf(stored, MOST) };
  }

  /** What the pages of a server share, by a sample that stays the same while its pages do. */
  async template(server: number): Promise<Template> {
    const known = this.#templates.get(server);
    if (known) return known;
    const blocks = new SiteBlocks();
    for (const page of this.#sampleOf(server)) {
      const version = await this.of(page, Number.MAX_SAFE_INTEGER);
      if (version) blocks.add(version.html());
    }
    this.#templates.set(server, blocks);
    return blocks;
  }

  #sampleOf(server: number): readonly number[] {
    if (!this.#samples) {
      const samples = new Map<number, number[]>();
      for (const { page, server: its } of this.ledger.storage.copies.pages()) {
        const sample = samples.get(its) ?? [];
        samples.set(its, sample);
        sample.push(page);
        if (sample.length >= 2 * SAMPLE) shorten(sample);
      }
      for (const sample of samples.values()) shorten(sample);
      this.#samples = samples;
    }
    return this.#samples.get(server) ?? [];
  }

  close(): void {
    this.#copies.close();
    this.ledger.close();
  }
}

/** By a hash of the page: any other order would take one part of the site. */
function shorten(sample: number[]): void {
  sample.sort((a, b) => hashOf(String(a)) - hashOf(String(b)));
  sample.length = Math.min(sample.length, SAMPLE);
}
