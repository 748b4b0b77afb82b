import { createHash } from 'node:crypto';

/** A number that stays with a name, to take samples and halves by. */
export function hash(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0);
}
