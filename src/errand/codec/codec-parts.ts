/** Pieces that errands and parcels have in common, both directions side by side. */
import type { Draft } from '../../base/draft.ts';
import { SkeinError } from '../../base/errors.ts';
import type { RobotsCopy } from '../errand.ts';
import type { Known } from '../known.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

export function writeRobots(out: ByteWriter, robots: RobotsCopy | undefined): void {
  out.byte(robots ? 1 : 0);
  if (!robots) return;
  out.varint(robots.status);
  out.text(robots.body);
  out.double(robots.unreachableSince);
  out.double(robots.time);
}

export function readRobots(from: ByteReader): RobotsCopy | undefined {
  if (from.byte() === 0) return undefined;
  return { status: from.varint(), body: from.text(), unreachableSince: from.double(), time: from.double() };
}

type Optional = Pick<Known, 'etag' | 'lastModified' | 'facts'>;

/** Validators and facts, which both Known and Visit carry when they have them. */
export function writeOptional(out: ByteWriter, from: Optional): void {
  const { etag, lastModified, facts } = from;
  out.byte((etag === undefined ? 0 : 1) | (lastModified === undefined ? 0 : 2) | (facts === undefined ? 0 : 4));
  if (etag !== undefined) out.text(etag);
  if (lastModified !== undefined) out.text(lastModified);
  if (facts !== undefined) out.bytes(facts);
}

export function readOptional(from: ByteReader, into: Draft<Optional> = {}): Optional {
  const bits = from.byte();
  if (bits & 1) into.etag = from.text();
  if (bits & 2) into.lastModified = from.text();
  if (bits & 4) into.facts = from.bytes();
  return into;
}

export function writeTexts(out: ByteWriter, texts: readonly string[]): void {
  out.varint(texts.length);
  for (const text of texts) out.text(text);
}

export function readTexts(from: ByteReader): string[] {
  return readList(from, 4, source => source.text());
}

/** Numbers of the blocks in which a page differs. */
export function writeWhere(out: ByteWriter, blocks: readonly number[]): void {
  out.varint(blocks.length);
  for (const block of blocks) out.varint(block);
}

export function readWhere(from: ByteReader): number[] {
  return readList(from, 1, source => source.varint());
}

export function readList<T>(from: ByteReader, size: number, read: (from: ByteReader) => T): T[] {
  const list: T[] = [];
  for (let left = from.count(size); left > 0; left--) list.push(read(from));
  return list;
}

export function pick<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new SkeinError('bad-frame', 'A message has a code that this version does not know.');
  return value;
}
