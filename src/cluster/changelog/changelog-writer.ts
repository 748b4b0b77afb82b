/**
 * The owner's end of one partition's changelog: changes go in one after the other, compressed, beside this thread and in parts
 * where they are large. Only what `acknowledged` covers may have effects on others (links that leave the partition).
 */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync } from 'node:zlib';
import type { Changeset } from '../../ledger/replica/changes.ts';
import type { Changelog } from './changelog.ts';
import { type EntryWriter, PART_BYTES } from './entry.ts';

const compress = promisify(zstdCompress);
const params = { [constants.ZSTD_c_compressionLevel]: 3 };
/** Bytes up to which it is compressed at once: 60 kB take 40 µs, and six times that where another thread does it. */
const SMALL = 256 * 1024;

async function packed(bytes: Uint8Array): Promise<Uint8Array> {
  const options = { params, pledgedSrcSize: bytes.length };
  return bytes.length <= SMALL ? zstdCompressSync(bytes, options) : compress(bytes, options);
}

/** Where an owner stands. */
interface OwnerStanding {
  readonly writer: EntryWriter;
  /** Of the newest message, 0 = there is none. */
  readonly sequence: number;
  /** Of the newest changes in the log. */
  readonly number: number;
}

export class ChangelogWriter {
  readonly #log: Changelog;
  readonly #partition: number;
  readonly #writer: EntryWriter;
  readonly #now: () => number;
  #sequence: number;
  #acknowledged: number;
  /** Bytes that went out, and messages, since it was made. */
  bytes = 0;
  messages = 0;

  constructor(
    log: Changelog,
    partition: number,
    { writer, sequence, number }: OwnerStanding,
    now: () => number = Date.now,
  ) {
    this.#log = log;
    this.#partition = partition;
    this.#writer = writer;
    this.#now = now;
    this.#sequence = sequence;
    this.#acknowledged = number;
  }

  /** Of the newest message. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Number of the newest changes that are durable in the log. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** A snapshot holds changes that the log lacks: what follows it counts on from there. */
  covered(number: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, number);
  }

  /** Says that the partition has a new owner; from here on no other can write. */
  async claim(): Promise<void> {
    const nothing = { part: 0, parts: 0, bytes: new Uint8Array(0) };
    await this.#publish({ number: this.#acknowledged, ...nothing }, this.#now());
  }

  /** One call at a time. After an error the same changes may be given again. */
  async append({ number, bytes }: Changeset): Promise<void> {
    const whole = await packed(bytes);
    const parts = Math.max(1, Math.ceil(whole.length / PART_BYTES));
    const time = this.#now();
    for (let part = 0; part < parts; part++) {
      const piece = whole.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      await this.#publish({ number, part, parts, bytes: piece }, time);
    }
    this.#acknowledged = number;
  }

  async #publish(entry: { number: number; part: number; parts: number; bytes: Uint8Array }, time: number) {
    this.#sequence = await this.#log.publish(this.#partition, { ...entry, writer: this.#writer, time }, this.#sequence);
    this.bytes += entry.bytes.length;
    this.messages++;
  }
}
