/**
 * Questions and answers as they cross the wire. A question is one message: `{ name, args }` as JSON. An answer is the
 * parts of one JSON text, each a message: a kind (1 byte), the part's number (4 bytes), then its bytes.
 */
import { z } from 'zod';

/** Bytes. The engine takes messages of up to 1 MB. */
export const MOST_QUESTION = 256_000;
export const PART = 256_000;
/** Of one peer's whole answer. */
export const MOST_ANSWER = 64_000_000;
/** Parts that may be on their way before the asker has to say that it goes on. */
export const WINDOW = 8;

export const PART_MORE = 0;
export const PART_LAST = 1;
/** The parts before do not count: the text of this one says what went wrong. */
export const PART_ERROR = 2;
/** It is still at it; has no number of its own. */
export const PART_WORKING = 3;
/** Milliseconds between two of these. */
export const WORKING_EVERY = 1000;

const HEAD = 5;

const questionForm = z.object({ name: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/), args: z.unknown() });

export interface PeerQuestion {
  readonly name: string;
  /** JSON. */
  readonly args: unknown;
}

interface RpcFrame {
  readonly kind: number;
  readonly number: number;
  readonly bytes: Uint8Array;
}

export function decodeQuestion(bytes: Uint8Array): PeerQuestion | undefined {
  if (bytes.length > MOST_QUESTION) return undefined;
  try {
    const { data } = questionForm.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return data && { name: data.name, args: data.args };
  } catch {
    // No JSON, hence no question.
    return undefined;
  }
}

export function encodeFrame({ kind, number, bytes }: RpcFrame): Uint8Array {
  const frame = Buffer.allocUnsafe(HEAD + bytes.length);
  frame.writeUInt8(kind, 0);
  frame.writeUInt32BE(number, 1);
  frame.set(bytes, HEAD);
  return frame;
}

export function decodeFrame(bytes: Uint8Array): RpcFrame | undefined {
  if (bytes.length < HEAD || bytes[0]! > PART_WORKING) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { kind: bytes[0]!, number: view.getUint32(1), bytes: bytes.subarray(HEAD) };
}
