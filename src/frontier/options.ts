/** What a run asks of the frontier, as plain values. */
import type { Errand, Scope } from '../errand/errand.ts';
import type { ReasonCode } from '../errand/reasons.ts';
import type { PartitionNumber } from './admission/neighbours.ts';
import type { PageBudget } from './errands/page-budget.ts';
import type { OrderName } from './orders/order.ts';
import type { PvalueTerms } from './orders/pvalue-terms.ts';

export interface FrontierOptions {
  readonly mode: Errand['kind'];
  readonly order: OrderName;
  /** Terms of the order pvalue; absent = as they are by default. */
  readonly pvalue?: PvalueTerms;
  /** watch: by their headers, in a refresh; store: like pages; off: not at all. */
  readonly images: 'watch' | 'store' | 'off';
  readonly scope: Scope;
  /** Is the URL outside what was asked for? */
  readonly outside: (url: string) => ReasonCode | undefined;
  /** Told where the site of a seed has moved to, where other partitions have to know; absent = there are none. */
  readonly moved?: (url: string) => void;
  /** What decides that, as text: hosts, paths, weights. */
  readonly bounds: string;
  readonly domains: ReadonlyMap<string, number>;
  /** Pages to fetch in this run. */
  readonly maxPages: number;
  /** What counts them; absent = nobody shares it. */
  readonly budget?: PageBudget;
  /**
   * Another machine may have asked the servers until this moment (milliseconds since 1970): the first request to each comes
   * a pace after it. Absent = nobody has.
   */
  readonly askedUntil?: number;
  /** Which partition of how many; absent = there is one. */
  readonly partition?: PartitionNumber;
  readonly pagesPerServer: number;
  readonly depth: number;
  readonly bodyBytes: number;
  /** Milliseconds. */
  readonly pace: number;
  readonly connections: number;
  /** Outposts that may share one server's connections. */
  readonly outposts: number;
  readonly allowPrivate: boolean;
  readonly detector: string;
  /** Digest of the code that decides about pages. */
  readonly code?: string;
  /** Milliseconds an errand may take before it is given up. */
  readonly lease: number;
}

/** Passes on the rows of a large table, and may tell meanwhile how far it is. */
export type Reading = <Row>(rows: Iterable<Row>) => Iterable<Row>;

/** By which a page becomes due that was refused before. */
export function clockOf(mode: FrontierOptions['mode']): 'retry_at' | 'due' {
  return mode === 'explore' ? 'retry_at' : 'due';
}
