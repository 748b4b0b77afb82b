/**
 * What the owner of a machine lets its outpost use in a day: pages and bytes. An errand cannot raise it: it is shortened
 * to what is left, or refused. Counts are kept on disk, so that a restart does not begin a new day.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { SkeinError } from '../base/errors.ts';
import type { Errand } from '../errand/errand.ts';

export interface QuotaTerms {
  /** A day; absent = no limit. */
  readonly pages?: number;
  /** On the wire between here and servers, both ways. */
  readonly bytes?: number;
}

interface Count {
  /** Days since 1970. */
  readonly day: number;
  readonly pages: number;
  readonly bytes: number;
}

const DAY = 86_400_000;

export class Quota {
  readonly #file: string;
  readonly #terms: QuotaTerms;
  #count: Count;

  constructor(file: string, terms: QuotaTerms) {
    this.#file = file;
    this.#terms = terms;
    this.#count = load(file);
  }

  /** The errand within what is left; throws 'refused' when nothing is. */
  admit(errand: Errand, now: number): Errand {
    const { pages, bytes } = this.#terms;
    const used = this.#today(now);
    if (bytes !== undefined && used.bytes >= bytes) throw refused(`${bytes} bytes a day are used up`);
    if (pages === undefined) return errand;
    const left = pages - used.pages;
    if (left <= 0) throw refused(`${pages} pages a day are used up`);
    return { ...errand, limits: { ...errand.limits, pages: Math.min(errand.limits.pages, left) } };
  }

  /** Counts what visits cost. True = there is nothing left, and what is under way has to end. */
  spend(visits: readonly { readonly cost: { readonly up: number; readonly down: number } }[], now: number): boolean {
    const { day, pages, bytes } = this.#today(now);
    const spent = visits.reduce((sum, { cost }) => sum + cost.up + cost.down, 0);
    this.#count = { day, pages: pages + visits.length, bytes: bytes + spent };
    if (this.#terms.pages === undefined && this.#terms.bytes === undefined) return false;
    save(this.#file, this.#count);
    const { pages: mostPages = Number.POSITIVE_INFINITY, bytes: mostBytes = Number.POSITIVE_INFINITY } = this.#terms;
    return this.#count.pages >= mostPages || this.#count.bytes >= mostBytes;
  }

  #today(now: number): Count {
    const day = Math.floor(now / DAY);
    // A clock that went back does not give a day twice.
    return this.#count.day >= day ? this.#count : { day, pages: 0, bytes: 0 };
  }
}

function load(file: string): Count {
  try {
    const { day, pages, bytes } = JSON.parse(readFileSync(file, 'utf8')) as Count;
    return { day, pages, bytes };
  } catch {
    return { day: 0, pages: 0, bytes: 0 }; // nothing was counted yet
  }
}

function save(file: string, count: Count): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(count), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // A full disk: the count goes on in memory.
  }
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `The owner of this machine allows no more today: ${why}.`);
}
