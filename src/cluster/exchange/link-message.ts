/**
 * Batches of links on their way from one partition to another, as one message: numbered without gaps, deflated together.
 * Decoded here and nowhere else; what is in a batch, crossing.ts checks.
 *
 *   4 bytes 'SKX1', 4 bytes the sending partition, 8 bytes the number of the first batch, then deflated:
 *   for each batch 4 bytes its length and its bytes
 */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

interface LinkMessage {
  /** Partition that sends. */
  readonly from: number;
  /** Number of the first batch; the others follow it. */
  readonly first: number;
  readonly batches: readonly Uint8Array[];
}

const MAGIC = 0x534b5831;
const HEAD = 16;
/** Bytes of a message: a server takes a megabyte at most unless told otherwise. */
export const MOST_MESSAGE = 900_000;
/** Bytes of all batches together, before they are deflated. */
export const MOST_BATCHES = 4_000_000;

export async function encodeLinks({ from, first, batches }: LinkMessage): Promise<Uint8Array> {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(MAGIC, 0);
  head.writeUInt32BE(from, 4);
  head.writeDoubleBE(first, 8);
  const parts = batches.flatMap(batch => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(batch.length);
    return [length, batch];
  });
  return Buffer.concat([head, await deflate(Buffer.concat(parts), { level: 1 })]);
}

export async function decodeLinks(message: Uint8Array, partitions: number): Promise<LinkMessage> {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length < HEAD || bytes.readUInt32BE(0) !== MAGIC) throw bad();
  const from = bytes.readUInt32BE(4);
  const first = bytes.readDoubleBE(8);
  if (from >= partitions || !Number.isSafeInteger(first) || first < 1) throw bad();
  const packed = bytes.subarray(HEAD);
  // Four bytes more for the length of each batch, of which the shortest has some.
  const all = await inflate(packed, { maxOutputLength: 2 * MOST_BATCHES }).catch(() => {
    throw bad();
  });
  const batches: Uint8Array[] = [];
  for (let at = 0; at < all.length; ) {
    const end = at + 4 + (at + 4 <= all.length ? all.readUInt32BE(at) : all.length);
    if (end > all.length) throw bad();
    batches.push(all.subarray(at + 4, end));
    at = end;
  }
  return { from, first, batches };
}

function bad(): SkeinError {
  return new SkeinError('bad-frame', 'A message from another partition is not a batch of links.');
}
