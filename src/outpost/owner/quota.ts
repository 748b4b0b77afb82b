/**
 * What an outpost may use in a day: pages and bytes. The owner of the machine sets it there, whoever invited it sets it
 * there and at the parent; where both do, the smaller counts. No errand can raise it: each is promised a part of the
 * pages that are left and shortened to it, so that all of them together cannot exceed the quota; bytes are known only
 * when they have passed, so that at their end what is under way is ended. Counts are kept on disk: a restart begins no
 * new day.
 */

import { readFileSync } from 'node:fs';
import { DAY } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import type { Errand } from '../../errand/errand.ts';

export interface QuotaTerms {
  /** A day; absent = no limit. */
  readonly pages?: number;
  /** On the wire between here and servers, both ways. */
  readonly bytes?: number;
}

interface Used {
  readonly pages: number;
  readonly bytes: number;
}

interface Count extends Used {
  /** Days since 1970. */
  readonly day: number;
}

/** One errand is promised this part of what is left: others shall have something, too. */
const PART = 8;

export class Quota {
  readonly #file: string;
  #own: QuotaTerms;
  #others: QuotaTerms = {};
  #terms: QuotaTerms;
  #count: Count;
  /** Pages promised to errands and not used yet. */
  readonly #promised = new Map<string, number>();

  constructor(file: string, terms: QuotaTerms) {
    this.#file = file;
    this.#own = terms;
    this.#terms = terms;
    this.#count = load(file);
  }

  /** What someone else allows besides: the smaller counts. */
  narrow(terms: QuotaTerms): void {
    this.#others = terms;
    this.#terms = smaller(this.#own, terms);
  }

  /** There is something to count for. */
  get limited(): boolean {
    return this.#terms.pages !== undefined || this.#terms.bytes !== undefined;
  }

  /** Why nothing more may be begun today; empty = it may. */
  exhausted(now: number): string {
    const { pages = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = this.#terms;
    const used = this.#today(now);
    if (used.bytes >= bytes) return `the ${bytes} bytes a day are used up`;
    if (used.pages >= pages) return `the ${pages} pages a day are used up`;
    return this.#free(now) > 0 ? '' : `errands in progress may use all of the ${pages} pages a day`;
  }

  /** The errand within what is left; throws 'refused' when nothing is. */
  admit(errand: Errand, now: number): Errand {
    const why = this.exhausted(now);
    if (why !== '') throw new SkeinError('refused', `This machine has reached its limit for today: ${why}.`);
    if (this.#terms.pages === undefined) return errand;
    const pages = Math.min(errand.limits.pages, Math.ceil(this.#free(now) / PART));
    this.#promised.set(errand.id, pages);
    return { ...errand, limits: { ...errand.limits, pages } };
  }

  /** Other terms from now on; what was used today stays used. */
  change(terms: QuotaTerms): void {
    this.#own = terms;
    this.#terms = smaller(terms, this.#others);
  }

  /** Counts what visits of an errand cost. True = there is nothing left, and what is under way has to end. */
  spend(errand: string, used: Used, now: number): boolean {
    this.keep(errand, used.pages);
    return this.count(used, now);
  }

  /** So many pages of those promised to an errand were visited. */
  keep(errand: string, pages: number): void {
    const promised = this.#promised.get(errand);
    if (promised !== undefined) this.#promised.set(errand, Math.max(0, promised - pages));
  }

  /** What may be used today. */
  left(now: number): QuotaTerms {
    const { pages, bytes } = this.#terms;
    const used = this.#today(now);
    return {
      ...(pages !== undefined && { pages: Math.max(0, pages - used.pages) }),
      ...(bytes !== undefined && { bytes: Math.max(0, bytes - used.bytes) }),
    };
  }

  /** Counts what was used. True = there is nothing left, and what is under way has to end. */
  count(used: Used, now: number): boolean {
    const { day, pages, bytes } = this.#today(now);
    this.#count = { day, pages: pages + used.pages, bytes: bytes + used.bytes };
    const { pages: mostPages = Number.POSITIVE_INFINITY, bytes: mostBytes = Number.POSITIVE_INFINITY } = this.#terms;
    if (mostPages === Number.POSITIVE_INFINITY && mostBytes === Number.POSITIVE_INFINITY) return false;
    if (used.pages > 0 || used.bytes > 0) save(this.#file, this.#count);
    return this.#count.pages >= mostPages || this.#count.bytes >= mostBytes;
  }

  /** The errand has ended; what it was promised and did not use is there for others. */
  end(errand: string): void {
    this.#promised.delete(errand);
  }

  #free(now: number): number {
    let free = (this.#terms.pages ?? Number.POSITIVE_INFINITY) - this.#today(now).pages;
    for (const promised of this.#promised.values()) free -= promised;
    return free;
  }

  #today(now: number): Count {
    const day = Math.floor(now / DAY);
    // A clock that went back does not give a day twice.
    return this.#count.day >= day ? this.#count : { day, pages: 0, bytes: 0 };
  }
}

/** What visits used. */
export function usedBy(visits: readonly { readonly cost: { readonly up: number; readonly down: number } }[]): Used {
  return { pages: visits.length, bytes: visits.reduce((sum, { cost }) => sum + cost.up + cost.down, 0) };
}

function smaller(a: QuotaTerms, b: QuotaTerms): QuotaTerms {
  const least = (x = Number.POSITIVE_INFINITY, y = Number.POSITIVE_INFINITY) => Math.min(x, y);
  const [pages, bytes] = [least(a.pages, b.pages), least(a.bytes, b.bytes)];
  return { ...(Number.isFinite(pages) && { pages }), ...(Number.isFinite(bytes) && { bytes }) };
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
    replaceFile(file, JSON.stringify(count), PRIVATE);
  } catch {
    // A full disk: the count goes on in memory.
  }
}
