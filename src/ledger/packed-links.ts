/** The links of one page as one value: targets, flags, anchors. */
import { ByteReader, ByteWriter } from '../errand/bytes.ts';

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

export function packLinks(links: PackedLinks): Uint8Array {
  const out = new ByteWriter(links.count * 4 + links.anchors.length + 16);
  out.varint(links.count);
  for (let i = 0; i < links.count; i++) out.varint(links.targets[i]!);
  out.bytes(links.flags);
  out.bytes(links.anchors);
  return out.finish();
}

export function unpackLinks(bytes: Uint8Array): OutLink[] {
  const from = new ByteReader(bytes);
  const targets = Array.from({ length: from.count(1) }, () => from.varint());
  const flags = from.bytes();
  const anchors = Buffer.from(from.bytes()).toString().split('\n');
  return targets.map((target, i) => ({ target, anchor: anchors[i] ?? '', nofollow: (flags[i]! & 1) === 1 }));
}

export function eachTarget(bytes: Uint8Array, visit: (target: number) => void): void {
  const from = new ByteReader(bytes);
  for (let left = from.count(1); left > 0; left--) visit(from.varint());
}

export function hasTarget(bytes: Uint8Array, wanted: number): boolean {
  const from = new ByteReader(bytes);
  for (let left = from.count(1); left > 0; left--) if (from.varint() === wanted) return true;
  return false;
}
