/**
 * A learned mask for places that always change: a counter, a quotation of the day. A place that differed in at least 3
 * of the last 4 visits, while nothing else on the page did, no longer counts. State of a page: at most 25 bytes.
 *
 * A place is known by its neighbours (the hashes of the blocks before and behind it), so text put in elsewhere does
 * not move it.
 */
import type { Facts } from '../../errand/facts.ts';
import { differingSpots, type Spot } from './blocks.ts';

export interface NoisePlace {
  /** Hash of the block before and behind; 0 at the page's ends. */
  readonly before: number;
  readonly behind: number;
  /** One bit per visit, newest lowest: whether it differed. */
  readonly history: number;
}

export type NoiseMask = readonly NoisePlace[];

const MAX_PLACES = 4;
const VISITS = 4;
const ENOUGH = 3;
const PLACE_BYTES = 6;
/** Longer stretches are news, not noise. */
const MAX_STRETCH = 3;

/** Whether what differs lies only in places that the mask leaves out. */
export function isNoise(mask: NoiseMask, before: Facts, after: Facts): boolean {
  if (mask.length === 0 || !onlyBlocksDiffer(before, after)) return false;
  const spots = differingSpots(before.blocks, after.blocks);
  return (
    spots.length > 0 &&
    spots.every(spot => {
      const place = placeOf(spot, after.blocks);
      return place !== undefined && mask.some(known => isSame(known, place) && bits(known.history) >= ENOUGH);
    })
  );
}

/** The mask after a visit that saw both versions; a visit on which anything else changed teaches nothing. */
export function learnNoise(mask: NoiseMask, before: Facts, after: Facts): NoiseMask {
  if (!onlyBlocksDiffer(before, after)) return mask;
  const spots = differingSpots(before.blocks, after.blocks);
  const places = spots.map(spot => placeOf(spot, after.blocks));
  if (places.some(place => place === undefined) || places.length > MAX_PLACES) return mask;
  const seen = places as readonly NoisePlace[];
  const older = mask
    .map(place => ({ ...place, history: (place.history << 1) & (2 ** VISITS - 1) }))
    .map(place => (seen.some(spot => isSame(spot, place)) ? { ...place, history: place.history | 1 } : place));
  const fresh = seen.filter(spot => !older.some(place => isSame(spot, place))).map(spot => ({ ...spot, history: 1 }));
  return [...older, ...fresh]
    .filter(place => place.history !== 0)
    .toSorted((a, b) => bits(b.history) - bits(a.history))
    .slice(0, MAX_PLACES);
}

function onlyBlocksDiffer(before: Facts, after: Facts): boolean {
  return (
    before.linkHash === after.linkHash && before.structure === after.structure && before.imageHash === after.imageHash
  );
}

function placeOf(spot: Spot, blocks: Uint16Array): NoisePlace | undefined {
  const length = spot.after[1] - spot.after[0];
  if (length !== spot.before[1] - spot.before[0] || length > MAX_STRETCH) return undefined;
  return { before: blocks[spot.after[0] - 1] ?? 0, behind: blocks[spot.after[1]] ?? 0, history: 0 };
}

function isSame(a: NoisePlace, b: NoisePlace): boolean {
  return a.before === b.before && a.behind === b.behind;
}

function bits(history: number): number {
  let count = 0;
  for (let rest = history; rest > 0; rest &= rest - 1) count++;
  return count;
}

/** Empty when there is nothing to remember. */
export function packMask(mask: NoiseMask): Uint8Array {
  const bytes = new Uint8Array(mask.length * PLACE_BYTES);
  const view = new DataView(bytes.buffer);
  mask.forEach((place, i) => {
    view.setUint16(i * PLACE_BYTES, place.before, true);
    view.setUint16(i * PLACE_BYTES + 2, place.behind, true);
    view.setUint16(i * PLACE_BYTES + 4, place.history, true);
  });
  return bytes;
}

export function unpackMask(bytes: Uint8Array | undefined): NoiseMask {
  if (bytes === undefined || bytes.length % PLACE_BYTES !== 0 || bytes.length > MAX_PLACES * PLACE_BYTES) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / PLACE_BYTES }, (_, i) => ({
    before: view.getUint16(i * PLACE_BYTES, true),
    behind: view.getUint16(i * PLACE_BYTES + 2, true),
    history: view.getUint16(i * PLACE_BYTES + 4, true) & (2 ** VISITS - 1),
  }));
}
