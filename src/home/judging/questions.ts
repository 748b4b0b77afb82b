/** What home asks the thread that compares (judge-thread.ts), and what it answers. */
import type { Delta } from '../../archive/following.ts';
import type { Difference } from '../../judge/edits.ts';
import type { InferredRow } from '../../ledger/storage/inferred.ts';
import type { CopyPlace } from '../copies/copies.ts';

export interface JudgeQuestion {
  readonly id: number;
  /** Of the partition that has the page. */
  readonly directory: string;
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
  /** Milliseconds for which a cache on the way would give the same answer again (src/home/judging/cached.ts). */
  readonly cached: number;
}

export interface InferQuestion {
  readonly infer: number;
  readonly directory: string;
}

/** A partition that is read no more. */
export interface ForgetQuestion {
  readonly forget: string;
}

export interface JudgeAnswer {
  readonly id: number;
  readonly inferred?: readonly InferredRow[];
  /** Absent where there is no copy that can be read. */
  readonly found?: Comparison;
}
