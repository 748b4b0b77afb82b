/** What home has done with a visit before the frontier learns from it. */

/** Where the records of a visit lie in the archive. */
interface StoredRecords {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  readonly requestLength: number;
}

/** The newest copy of a page that is no new version: a delta to the one in the archive. */
export interface Follows {
  readonly digest: Uint8Array;
  readonly delta: Uint8Array;
  /** It differs in more than stamps. */
  readonly edited: boolean;
}

/** Words of a page that were removed and added, and those of both versions together. */
interface WordCounts {
  readonly removed: number;
  readonly added: number;
  readonly all: number;
}

/** What home has done with a visit before it is learned from. */
export interface Brought {
  readonly outpost: string;
  readonly stored?: StoredRecords | undefined;
  readonly follows?: Follows | undefined;
  readonly words?: WordCounts | undefined;
  /** It is a second look, moments after the first: it says what is noise there, and nothing of how often the page changes. */
  readonly second?: boolean | undefined;
}
