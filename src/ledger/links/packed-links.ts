/** The links of one page as one value: targets, flags, anchors. */
import type { Borrowed } from '../../base/borrowed.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { LINK_IMAGE } from '../../errand/visit.ts';

export interface OutLink {
  readonly target: number;
  readonly anchor: string;
  readonly nofollow: boolean;
}

export interface PackedLinks {
  readonly count: number;
  /** Page ids. */
  readonly targets: ArrayLike<number>;
  readonly flags: Uint8Array;
  /** Joined by newlines, UTF-8. */
  readonly anchors: Uint8Array;
}

/** The links of each page lie here in turn: the database copies them, and memory of their own costs more than that. */
let memory = new Uint8Array(32_768);
/** Bytes of a 32-bit number, seven bits each. */
const MOST_BYTES = 5;

export function packLinks({ count, targets, flags, anchors }: PackedLinks): Borrowed<Uint8Array> {
  const most = (count + 3) * MOST_BYTES + flags.length + anchors.length;
  if (memory.length < most) memory = new Uint8Array(most * 2);
  const bytes = memory;
  let at = writeNumber(bytes, 0, count);
  for (let i = 0; i < count; i++) at = writeNumber(bytes, at, targets[i]!);
  at = writeNumber(bytes, at, flags.length);
  bytes.set(flags, at);
  at = writeNumber(bytes, at + flags.length, anchors.length);
  bytes.set(anchors, at);
  return bytes.subarray(0, at + anchors.length);
}

/** As ByteWriter.varint does, which can do more; returns where the next goes. */
function writeNumber(bytes: Uint8Array, from: number, number: number): number {
  let at = from;
  let left = number;
  for (; left > 127; left >>>= 7) bytes[at++] = (left & 127) | 128;
  bytes[at++] = left;
  return at;
}

export function unpackLinks(bytes: Uint8Array): OutLink[] {
  const from = new ByteReader(bytes);
  const targets = Array.from({ length: from.count(1) }, () => from.varint());
  const flags = from.bytes();
  const anchors = Buffer.from(from.bytes()).toString().split('\n');
  return targets.map((target, i) => ({ target, anchor: anchors[i] ?? '', nofollow: (flags[i]! & 1) === 1 }));
}

/** Each link with its LINK_ bits. */
export function eachLink(bytes: Uint8Array, visit: (target: number, flags: number, anchor: string) => void): void {
  const from = new ByteReader(bytes);
  const targets = Array.from({ length: from.count(1) }, () => from.varint());
  const flags = from.bytes();
  const anchors = Buffer.from(from.bytes()).toString().split('\n');
  for (const [i, target] of targets.entries()) visit(target, flags[i] ?? 0, anchors[i] ?? '');
}

/** The packed links with these images added that are not among them; 0 stands for none. */
export function packedWithImages(bytes: Uint8Array, images: ArrayLike<number>): { bytes: Uint8Array; added: number[] } {
  const from = new ByteReader(bytes);
  const targets = Array.from({ length: from.count(1) }, () => from.varint());
  const flags = from.bytes();
  const anchors = from.bytes();
  const known = new Set([0, ...targets]);
  const added = [...new Set(Array.from(images))].filter(image => !known.has(image));
  // A list of none is no anchor, one of one is an empty one: newlines stand between.
  const newlines = Math.max(0, added.length - (targets.length === 0 ? 1 : 0));
  const packed = packLinks({
    count: targets.length + added.length,
    targets: [...targets, ...added],
    flags: Buffer.concat([flags, new Uint8Array(added.length).fill(LINK_IMAGE)]),
    anchors: Buffer.concat([anchors, Buffer.from('\n'.repeat(newlines))]),
  });
  return { bytes: packed.slice(), added };
}

/** The packed links without those to some pages, and which went. */
export function withoutTargets(
  bytes: Uint8Array,
  pages: ReadonlySet<number>,
): { bytes: Uint8Array; removed: readonly number[] } {
  const removed: number[] = [];
  eachTarget(bytes, target => void (pages.has(target) && removed.push(target)));
  if (removed.length === 0) return { bytes, removed };
  const kept: { target: number; flags: number; anchor: string }[] = [];
  eachLink(bytes, (target, flags, anchor) => void (pages.has(target) || kept.push({ target, flags, anchor })));
  const packed = packLinks({
    count: kept.length,
    targets: kept.map(({ target }) => target),
    flags: Uint8Array.from(kept, ({ flags }) => flags),
    anchors: Buffer.from(kept.map(({ anchor }) => anchor).join('\n')),
  });
  return { bytes: packed.slice(), removed };
}

export function eachTarget(bytes: Uint8Array, visit: (target: number) => void): void {
  const from = new ByteReader(bytes);
  for (let left = from.count(1); left > 0; left--) visit(from.varint());
}

/** The targets in packed links that lie one behind another: reading them together takes a third of the time. */
export function eachTargetOfAll(bytes: Uint8Array, visit: (target: number) => void): void {
  const from = new ByteReader(bytes);
  while (from.left > 0) {
    for (let left = from.count(1); left > 0; left--) visit(from.varint());
    from.bytes();
    from.bytes();
  }
}

/** Bytes that are somewhere in the packed links of every page that links to this one, and of few others. */
export function traceOf(target: number): Uint8Array {
  const out = new ByteWriter(8);
  out.varint(target);
  return out.finish();
}
