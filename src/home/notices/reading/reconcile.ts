/**
 * Comparing all that a site has with what we hold, by buckets of hashes: for a reader that begins, or whose place in the
 * journal is gone. One poll gives one batch of notices. Where there are more, the next poll goes on behind the last one
 * that was given, and the cursor moves only after the last bucket: so nothing is left out, however much differs.
 */
import { hash } from 'node:crypto';
import { originOf } from '../../../base/url.ts';
import type { FaceState } from '../../../ledger/schedule/faces.ts';
import { MOST_NOTICES, type Notice } from '../../../notices/notice.ts';
import { siteLimits } from '../../../notices/site/discovery.ts';
import {
  bucketDigest,
  bucketOf,
  decodeEntries,
  decodeSummary,
  type ManifestEntry,
} from '../../../notices/site/manifest.ts';
import { byPathHash, pathOf } from '../../../notices/site/paths.ts';

export interface HeldPage {
  readonly url: string;
  readonly content: Uint8Array;
  /** The site has told of it, as far as we know. */
  readonly spoken: boolean;
}

/** What home knows of the pages of a server: which there are, and the content hash of each. */
export type Holdings = (origin: string) => Iterable<HeldPage>;

interface ReconcileParts {
  readonly holdings: Holdings;
  /** The answer to a question for the manifest. */
  read(url: string): Promise<Uint8Array>;
}

interface Reconciled {
  readonly state: FaceState;
  readonly notices: readonly Notice[];
  /** Pages that we hold and that the site, read for the first time, does not tell of. */
  readonly unspoken: readonly string[];
  /** There is more: to be asked again at once. */
  readonly more: boolean;
}

type ComparingPlace = NonNullable<FaceState['comparing']>;

/** Reads the buckets of the manifest that differ from what we hold. `site`: where its face is. */
export async function reconcile(parts: ReconcileParts, state: FaceState, site: string): Promise<Reconciled> {
  const summary = decodeSummary(await parts.read(state.manifest!));
  const buckets = summary.digests.length;
  // The cursor of the beginning: what changes while we compare is told by the changes since it.
  const place: ComparingPlace =
    state.comparing?.buckets === buckets ? state.comparing : { cursor: summary.cursor, buckets, bucket: 0, after: '' };
  const ours = Array.from({ length: buckets }, (): HeldPage[] => []);
  for (const page of parts.holdings(originOf(site))) ours[bucketOf(page.url, buckets)]!.push(page);
  const differ: number[] = [];
  for (let bucket = place.bucket; bucket < buckets; bucket++) {
    const told = ours[bucket]!.filter(({ spoken }) => spoken);
    if (Buffer.compare(summary.digests[bucket]!, bucketDigest(told)) !== 0) differ.push(bucket);
  }
  // About as many buckets at once as make one batch, so that little is read twice.
  const inOne = Math.floor((MOST_NOTICES * buckets) / Math.max(1, summary.pages));
  const step = Math.max(1, Math.min(siteLimits.bucketsAsked, inOne));
  const again = state.cursor !== undefined;
  const notices: Notice[] = [];
  const unspoken: string[] = [];
  for (let at = 0; at < differ.length; at += step) {
    const asked = differ.slice(at, at + step);
    const told = await parts.read(`${state.manifest}?buckets=${buckets}&of=${asked.join(',')}`);
    const held = new Map(asked.flatMap(bucket => ours[bucket]!).map(page => [page.url, page]));
    const hashes = byPathHash(() => held.keys());
    const found = ordered(differences(decodeEntries(told, site, hashes), held, again), buckets);
    // What differences leaves there the site does not name.
    if (!again) unspoken.push(...held.keys());
    for (const { notice, bucket, name } of found) {
      if (bucket < place.bucket || (bucket === place.bucket && name <= place.after)) continue;
      if (notices.length < MOST_NOTICES) notices.push(notice);
      else return { state: { ...state, comparing: placeOf(place, notices.at(-1)!) }, notices, unspoken, more: true };
    }
  }
  const { comparing: _, ...rest } = state;
  return { state: { ...rest, cursor: place.cursor }, notices, unspoken, more: false };
}

function placeOf(place: ComparingPlace, { url }: Notice): ComparingPlace {
  return { ...place, bucket: bucketOf(url, place.buckets), after: nameOf(url) };
}

/** By bucket, and within it by an order that stays the same whatever pages come and go. */
function ordered(
  notices: Iterable<Notice>,
  buckets: number,
): { readonly notice: Notice; readonly bucket: number; readonly name: string }[] {
  return [...notices]
    .map(notice => ({ notice, bucket: bucketOf(notice.url, buckets), name: nameOf(notice.url) }))
    .sort((a, b) => a.bucket - b.bucket || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function nameOf(url: string): string {
  return hash('sha256', pathOf(url));
}

/** `again`: we have read this site before, so that of what it told, what it does not name any more was removed. */
function* differences(
  entries: readonly ManifestEntry[],
  held: Map<string, HeldPage>,
  again: boolean,
): Generator<Notice> {
  for (const { url, kind, content, time } of entries) {
    const ours = held.get(url);
    held.delete(url);
    if (ours?.spoken && Buffer.compare(ours.content.subarray(0, content.length), content) === 0) continue;
    const change = ours ? 'updated' : 'created';
    yield { kind: 'cursor', url, change, time, ...details(change, kind, content) };
  }
  if (!again) return;
  for (const { url, spoken } of held.values()) if (spoken) yield { kind: 'cursor', url, change: 'deleted', time: 0 };
}

export function details(change: Notice['change'], kind: ManifestEntry['kind'], content: Uint8Array): Partial<Notice> {
  return {
    ...(change !== 'deleted' && { content: Buffer.from(content).toString('hex') }),
    ...((kind === 'record' || kind === 'media') && { hidden: kind }),
  };
}
