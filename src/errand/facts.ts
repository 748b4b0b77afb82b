/**
 * What analysis takes from a page: enough to say later, without the old copy, whether it changed, where, and by which
 * of the papers' measures. Packed into at most 300 bytes (packFacts), because the ledger keeps one per page and an
 * errand may carry thousands.
 */
export interface Facts {
  /** SHA-256 of the body as it came (content-coded), first 16 bytes. */
  readonly raw: Uint8Array;
  /** SHA-256 of canonical main text and links, first 16 bytes: the default definition of "the same". */
  readonly content: Uint8Array;
  /** 64-bit hash of the canonical list of main links. */
  readonly linkHash: bigint;
  /** 64-bit simhash over word bigrams of the visible text; 0 for pages without text. */
  readonly simhash: bigint;
  /** Sum of the byte values of the decoded body ("ASCII count"). */
  readonly asciiSum: number;
  /** Number of href links, repeated ones counted. */
  readonly urls: number;
  /** Words of the visible text that are not general words, repeated ones counted. */
  readonly keywords: number;
  /** Words of the visible text. */
  readonly words: number;
  /** Text I: sum of character codes over the number of distinct characters. */
  readonly textCode1: number;
  /** Text II: root of the sum of squared character codes, over their number. */
  readonly textCode2: number;
  /** Structure I: 32-bit hashes of the strings of first and of last letters of the opening tags. */
  readonly tagFirst: number;
  readonly tagLast: number;
  /** Structure II: elements per level, root first; at most 24 levels, deeper ones added to the last. */
  readonly levels: readonly number[];
  /** 16-bit hashes of the content blocks in order, folded to at most 64 entries: says where a page changed. */
  readonly blocks: Uint16Array;
  /** 32-bit hash of the canonical list of image references. */
  readonly imageHash: number;
}
