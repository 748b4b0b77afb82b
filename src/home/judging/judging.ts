/**
 * Pages of a partition that came and are known already are compared with their stored copies, in a thread (judge.ts). Until
 * all pages of a parcel have been, the parcel waits, and what its sender brings later waits behind it. First visits are
 * not compared.
 */
import type { Parcel } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { InferredRow } from '../../ledger/storage/inferred.ts';
import { type CopyPlace, copyPlaceOf } from '../copies/copies.ts';
import type { Judge } from './judge.ts';
import type { Comparison } from './questions.ts';

/** What was found of a parcel's pages, by URL; complete when nothing is open. */
export interface Findings {
  open: number;
  readonly found: Map<string, Comparison>;
}

/** Whom the pages are of, and who compares them. */
interface JudgingParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly judge: Judge;
  /** Told when a parcel need not wait any more. */
  readonly wake: () => void;
}

export class Judging {
  readonly #parts: JudgingParts;
  #asked = false;

  constructor(parts: JudgingParts) {
    this.#parts = parts;
  }

  /** Undefined when there is nothing to compare. */
  ask({ visits, members }: Parcel): Findings | undefined {
    let findings: Findings | undefined;
    for (const visit of visits) {
      // A page that has a copy was analysed before: nothing needs to be asked of one that comes for the first time.
      const isAgain = visit.outcome === 'fetched' && visit.stage !== 'first' && visit.record;
      const copy = isAgain ? this.#copyOf(visit) : undefined;
      if (!copy) continue;
      findings ??= { open: 0, found: new Map() };
      findings.open++;
      const { offset, length, requestLength } = visit.record!;
      this.#post(visit, copy, members.slice(offset + requestLength, offset + length), findings);
    }
    return findings;
  }

  /** What follows for pages that were not fetched from all that were compared so far. */
  infer(): Promise<readonly InferredRow[]> {
    return this.#asked ? this.#parts.judge.infer(this.#parts.ledger.directory) : Promise.resolve([]);
  }

  #copyOf({ url, cost }: Visit): CopyPlace | undefined {
    if (cost.cause === 'image' || cost.cause === 'sitemap') return undefined;
    const { ledger, frontier } = this.#parts;
    const page = frontier.admission.find(url);
    const known = page === 0 ? undefined : ledger.pages.known(page);
    return known && copyPlaceOf(known);
  }

  #post({ url, time }: Visit, copy: CopyPlace, record: Uint8Array<ArrayBuffer>, findings: Findings): void {
    const { ledger, judge, wake } = this.#parts;
    const { directory } = ledger;
    const row = ledger.storage.followed.of(copy.page);
    const followed = row && row.segment === copy.segment && row.place === copy.offset ? row : undefined;
    const guess = ledger.storage.inferred.of(copy.page);
    const inferred = guess && guess.segment === copy.segment && guess.place === copy.offset ? guess : undefined;
    const { server } = ledger.pages.get(copy.page)!;
    this.#asked = true;
    const question = { directory, copy, record, server, url, time };
    judge.compare({ ...question, ...(followed && { followed }), ...(inferred && { inferred }) }, found => {
      if (found) findings.found.set(url, found);
      findings.open--;
      if (findings.open === 0) wake();
    });
  }
}
