/** Visits on their way home, with the WARC members of the pages that are to be kept. */
import type { RobotsCopy } from './errand.ts';
import type { Visit } from './visit.ts';

export interface Parcel {
  readonly errand: string;
  /** Counts from 0 within the errand; home ignores one it has already taken. */
  readonly sequence: number;
  readonly visits: readonly Visit[];
  /** The members of all visits, one after another, each a gzip member by itself. */
  readonly members: Uint8Array;
  /** What the crawler learned of the server, when it is news. */
  readonly server?: ServerNews;
  /** True in the errand's last parcel. Pages named in the errand that no visit mentions were not reached. */
  readonly done: boolean;
}

export interface ServerNews {
  readonly origin: string;
  /** Address that was connected to, empty = none. */
  readonly address: string;
  readonly robots?: RobotsCopy;
  /** Sitemaps that robots.txt names. */
  readonly sitemaps: readonly string[];
  /** Milliseconds; 0 = none. */
  readonly crawlDelay: number;
  /** Do not come back before this time; 0 = no wish. */
  readonly notBefore: number;
  /** Smoothed time to first byte, milliseconds. */
  readonly latency: number;
  /** Bytes spent on robots.txt, and on looking for the not-found page. */
  readonly robotsBytes: number;
  /** Print of its not-found page, when it was looked for; empty = it answers 404 as it should. */
  readonly missing?: Uint8Array;
}
