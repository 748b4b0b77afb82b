/**
 * Everything that a site has, for a reader that begins or that lost its place. Pages are spread over buckets by a hash
 * of their path, each bucket has a digest, and only buckets whose digest differs are read. The digests are functions of
 * path and `content` hash alone, so that a reader that crawled the site itself can compute them from what it knows.
 */
import { hash } from 'node:crypto';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { readCursor } from './changes.ts';
import { bad, siteLimits } from './discovery.ts';
import {
  HASH_BYTES,
  type HeldByHash,
  kindNumber,
  PathReader,
  PathWriter,
  pathOf,
  readHash,
  type ToldKind,
  timeOf,
  toldKindOf,
  writeHash,
} from './paths.ts';

export interface ManifestEntry {
  readonly url: string;
  readonly kind: ToldKind;
  /** First 8 bytes of our detector's `content` hash. */
  readonly content: Uint8Array;
  /** Milliseconds since 1970, whole seconds. */
  readonly time: number;
}

/** Without `buckets` in the request: one digest each. */
export interface ManifestSummary {
  /** Read before the buckets: changes since it bring a reader up to date, whatever happened meanwhile. */
  readonly cursor: string;
  readonly pages: number;
  /** A power of two. */
  readonly digests: readonly Uint8Array[];
}

/** The number of buckets for so many pages: about as many pages in each as there are buckets. */
export function bucketsFor(pages: number): number {
  const wanted = Math.sqrt(pages) / 2;
  return Math.min(siteLimits.buckets, 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, wanted)))));
}

/** The bucket of a page, by its URL on any server: the path alone counts. */
export function bucketOf(url: string, buckets: number): number {
  return hash('sha256', pathOf(url), 'buffer').readUInt16LE(0) & (buckets - 1);
}

/** Digest of a bucket: over its pages in the order of their paths. */
export function bucketDigest(entries: readonly Pick<ManifestEntry, 'url' | 'content'>[]): Uint8Array {
  const lines = entries
    .map(({ url, content }) => ({ path: pathOf(url), content: Buffer.from(content.subarray(0, HASH_BYTES)) }))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .map(({ path, content }) => `${path}\t${content.toString('hex')}\n`);
  return hash('sha256', lines.join(''), 'buffer').subarray(0, HASH_BYTES);
}

export function encodeSummary({ cursor, pages, digests }: ManifestSummary): Uint8Array {
  const out = new ByteWriter(64 + digests.length * HASH_BYTES);
  out.bytes(Buffer.from(cursor, 'latin1'));
  out.varint(pages);
  out.varint(digests.length);
  for (const digest of digests) writeHash(out, digest);
  return out.finish();
}

export function decodeSummary(bytes: Uint8Array): ManifestSummary {
  const from = new ByteReader(bytes);
  const cursor = readCursor(from);
  const pages = from.varint();
  const count = from.count(HASH_BYTES);
  if (pages > siteLimits.pages) throw bad('the site has too many pages');
  if (count > siteLimits.buckets || count === 0 || (count & (count - 1)) !== 0)
    throw bad('an impossible number of buckets');
  const digests = Array.from({ length: count }, () => readHash(from));
  from.end();
  return { cursor, pages, digests };
}

/** With `buckets`: the pages of those, one bucket after another. */
export function encodeEntries(entries: readonly ManifestEntry[]): Uint8Array {
  const out = new ByteWriter(64 + entries.length * 30);
  out.varint(entries.length);
  const paths = new PathWriter(out);
  for (const { url, kind, content, time } of entries) {
    out.byte(kindNumber(kind));
    paths.name(url, kind);
    writeHash(out, content);
    out.varint(Math.max(0, Math.floor(time / 1000)));
  }
  return out.finish();
}

/** Unlisted pages that are not `held` are left out. */
export function decodeEntries(bytes: Uint8Array, site: string, held?: HeldByHash): readonly ManifestEntry[] {
  const from = new ByteReader(bytes);
  const count = from.count(HASH_BYTES + 4);
  if (count > siteLimits.pages) throw bad('the site has too many pages');
  const paths = new PathReader(from, site, held);
  const entries: ManifestEntry[] = [];
  for (let i = 0; i < count; i++) {
    const kind = toldKindOf(from.byte());
    const url = paths.named(kind);
    const content = readHash(from);
    const time = timeOf(from.varint());
    if (url !== undefined) entries.push({ kind, url, content, time });
  }
  from.end();
  return entries;
}
