/**
 * Pages that came and are known already are compared with their stored copies, in a thread of its own. Until all pages of
 * a parcel have been, the parcel waits, and what its sender brings later waits behind it. First visits are not compared.
 */
import { Worker } from 'node:worker_threads';
import type { Delta } from '../../archive/following.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Difference } from '../../judge/edits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { InferredRow } from '../../ledger/pages/inferred.ts';
import { type CopyPlace, copyPlaceOf } from '../copies/copies.ts';

/** What the thread is given. */
export interface JudgeThreadData {
  readonly directory: string;
}

export interface JudgeQuestion {
  readonly id: number;
  readonly copy: CopyPlace;
  /** What the copy has become since it was stored. */
  readonly followed?: Delta & { readonly time: number };
  /** What was inferred of it. */
  readonly inferred?: Delta & { readonly time: number };
  readonly server: number;
  /** Of the visit. */
  readonly url: string;
  readonly time: number;
  /** The response that came, a WARC member. */
  readonly record: Uint8Array;
}

/** How a page differs from its stored copy. */
export interface Comparison extends Difference {
  /** Words could be counted: both are text. */
  readonly measured: boolean;
  readonly follows: Delta;
  /** The delta is worth having. */
  readonly small: boolean;
  /** What was inferred of the page was wrong. */
  readonly refuted: boolean;
}

export interface InferQuestion {
  readonly infer: number;
}

export interface JudgeAnswer {
  readonly id: number;
  readonly inferred?: readonly InferredRow[];
  /** Absent where there is no copy that can be read. */
  readonly found?: Comparison;
}

/** What was found of a parcel's pages, by URL; complete when nothing is open. */
export interface Findings {
  open: number;
  readonly found: Map<string, Comparison>;
}

export class Judging {
  readonly #ledger: Ledger;
  readonly #frontier: Frontier;
  readonly #wake: () => void;
  #thread: Worker | undefined;
  #asked = 0;
  readonly #waiting = new Map<number, { url: string; findings: Findings }>();
  readonly #inferring = new Map<number, (rows: readonly InferredRow[]) => void>();

  constructor(ledger: Ledger, frontier: Frontier, wake: () => void) {
    this.#ledger = ledger;
    this.#frontier = frontier;
    this.#wake = wake;
  }

  /** Undefined when there is nothing to compare. */
  ask({ visits, members }: Parcel): Findings | undefined {
    let findings: Findings | undefined;
    for (const visit of visits) {
      const copy = visit.outcome === 'fetched' && visit.record ? this.#copyOf(visit) : undefined;
      if (!copy) continue;
      findings ??= { open: 0, found: new Map() };
      findings.open++;
      const { offset, length, requestLength } = visit.record!;
      this.#post(visit, copy, members.slice(offset + requestLength, offset + length), findings);
    }
    return findings;
  }

  /** Pages will be compared: the thread may start while the first are fetched. */
  begin(): void {
    this.#thread ??= this.#start();
  }

  /** What follows for pages that were not fetched from all that were compared so far. */
  infer(): Promise<readonly InferredRow[]> {
    const thread = this.#thread;
    if (!thread || this.#asked === 0) return Promise.resolve([]);
    const infer = ++this.#asked;
    return new Promise(resolve => {
      this.#inferring.set(infer, resolve);
      thread.postMessage({ infer } satisfies InferQuestion);
    });
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #copyOf({ url, cost }: Visit): CopyPlace | undefined {
    if (cost.cause === 'image' || cost.cause === 'sitemap') return undefined;
    const page = this.#frontier.admission.find(url);
    const known = page === 0 ? undefined : this.#ledger.pages.known(page);
    return known && copyPlaceOf(known);
  }

  #post({ url, time }: Visit, copy: CopyPlace, record: Uint8Array<ArrayBuffer>, findings: Findings): void {
    this.#thread ??= this.#start();
    const id = ++this.#asked;
    this.#waiting.set(id, { url, findings });
    const row = this.#ledger.followed.of(copy.page);
    const followed = row && row.segment === copy.segment && row.place === copy.offset ? row : undefined;
    const guess = this.#ledger.inferred.of(copy.page);
    const inferred = guess && guess.segment === copy.segment && guess.place === copy.offset ? guess : undefined;
    const { server } = this.#ledger.pages.get(copy.page)!;
    const question: JudgeQuestion = {
      ...{ id, copy, record, server, url, time },
      ...(followed && { followed }),
      ...(inferred && { inferred }),
    };
    this.#thread.postMessage(question, [record.buffer]);
  }

  #start(): Worker {
    const workerData: JudgeThreadData = { directory: this.#ledger.directory };
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const thread = new Worker(new URL(`./judge-thread.${ending}`, import.meta.url), { workerData });
    thread.unref();
    thread.on('message', ({ id, found, inferred }: JudgeAnswer) => {
      if (inferred) this.#inferred(id, inferred);
      else this.#answered(id, found);
    });
    // Pages that nobody compared count as changed: nothing is lost.
    const over = () => {
      if (this.#thread === thread) this.#thread = undefined;
      for (const id of this.#waiting.keys()) this.#answered(id, undefined);
      for (const id of this.#inferring.keys()) this.#inferred(id, []);
    };
    thread.on('error', over);
    thread.on('exit', over);
    return thread;
  }

  #inferred(id: number, rows: readonly InferredRow[]): void {
    this.#inferring.get(id)?.(rows);
    this.#inferring.delete(id);
  }

  #answered(id: number, found: Comparison | undefined): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (found) waiting.findings.found.set(waiting.url, found);
    waiting.findings.open--;
    if (waiting.findings.open === 0) this.#wake();
  }
}
