/**
 * One message of a partition's changelog, as bytes: who wrote it, under which claim, and a part of the changes it tells.
 * Whatever comes from the engine is decoded here and nowhere else; anything that is not exactly this is refused.
 *
 *   4 bytes  'SKG1'           8  number of the changes                 2  part, from 0 on
 *   8        epoch            8  milliseconds since 1970              2  parts, 0 = a claim
 *   1        length of the writer's name, and the name                the rest: zstd, cut into parts
 */
import { SkeinError } from '../../base/errors.ts';

export interface EntryWriter {
  readonly peer: string;
  /** Rises with each claim on the partition, whoever makes it. */
  readonly epoch: number;
}

export interface ChangelogEntry {
  readonly writer: EntryWriter;
  /** Of the changes that it is a part of, or of the newest ones before a claim. */
  readonly number: number;
  /** From 0 on. */
  readonly part: number;
  /** 0 = a claim: it only says that the partition has a new owner. */
  readonly parts: number;
  readonly time: number;
  readonly bytes: Uint8Array;
}

const MAGIC = 0x534b4731;
const FIXED = 33;
const LONGEST_NAME = 63;
/** Bytes of the changes in one message: a server takes a megabyte at most unless told otherwise. */
export const PART_BYTES = 512 * 1024;
/** Parts of one number: half a gigabyte after compression, far beyond what a commit can be. */
const MOST_PARTS = 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

export function encodeEntry({ writer, number, part, parts, time, bytes }: ChangelogEntry): Uint8Array {
  const name = Buffer.from(writer.peer, 'latin1');
  const out = Buffer.alloc(FIXED + name.length + bytes.length);
  out.writeUInt32BE(MAGIC, 0);
  out.writeDoubleBE(writer.epoch, 4);
  out.writeDoubleBE(number, 12);
  out.writeDoubleBE(time, 20);
  out.writeUInt16BE(part, 28);
  out.writeUInt16BE(parts, 30);
  out.writeUInt8(name.length, 32);
  out.set(name, FIXED);
  out.set(bytes, FIXED + name.length);
  return out;
}

export function decodeEntry(message: Uint8Array): ChangelogEntry {
  const from = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (from.length < FIXED || from.readUInt32BE(0) !== MAGIC) throw damaged();
  const end = FIXED + from.readUInt8(32);
  const peer = from.toString('latin1', FIXED, end);
  const [epoch, number, time] = [from.readDoubleBE(4), from.readDoubleBE(12), from.readDoubleBE(20)];
  const [part, parts] = [from.readUInt16BE(28), from.readUInt16BE(30)];
  const bytes = from.subarray(end);
  const fine =
    from.length >= end &&
    peer.length <= LONGEST_NAME &&
    NAME.test(peer) &&
    [epoch, number, time].every(value => Number.isSafeInteger(value) && value >= 0) &&
    (part < parts || (part === 0 && parts === 0 && bytes.length === 0)) &&
    parts <= MOST_PARTS &&
    bytes.length <= PART_BYTES;
  if (!fine) throw damaged();
  return { writer: { peer, epoch }, number, part, parts, time, bytes };
}

function damaged(): SkeinError {
  return new SkeinError(
    'damaged',
    'The engine has a changelog entry that Skein did not write.',
    'Give each collection its own NATS account.',
  );
}
