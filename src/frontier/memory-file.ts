/**
 * What the frontier holds in memory, in a file beside the ledger: fingerprints, digests, shapes of traps. It is read whole when
 * a run begins, because finding all of it in the ledger again takes seconds of the processor for a million pages. It is a copy
 * of what the ledger says, and never the truth: a file that is missing or damaged costs time and nothing else.
 *
 * A file is written when a run ends, and while it goes on whenever so much has come that reading it from the ledger would take
 * long. So a run that is killed leaves a file, too, and what came after that is read from the ledger, which only grows: pages
 * and visits with higher numbers.
 *
 * Invariant: a file never changes, and the ledger names it, by a random name and a digest, in the transaction up to which it
 * goes. The file that is named is deleted only after another one was named.
 */
import { hash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE } from '../base/file.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** The tables, each as the one who owns it packs it. */
export interface MemoryTables {
  /** Of every page. */
  readonly fingerprints: Int32Array<ArrayBuffer>;
  /** Of stored bytes. */
  readonly digests: Int32Array<ArrayBuffer>;
  readonly near: Uint32Array<ArrayBuffer>;
  /** Shapes of URLs by server: id, number of values, values. */
  readonly shapes: Float64Array<ArrayBuffer>;
}

/** The newest page and visit that the tables tell of. */
interface MemoryEnd {
  readonly page: number;
  readonly visit: number;
}

export interface Memory extends MemoryTables, MemoryEnd {}

/** `frontier.bin`: as earlier versions called it. */
const FILES = /^frontier(?:-[\da-f-]+)?\.bin$/;
const SETTING = 'memory';
/** So many pages and visits the ledger tells as quickly. */
const FEW = 20_000;
/** Pages and visits, as a share of all pages, that may come before the file is written anew: about two microseconds each. */
const SHARE = 1 / 8;
const ALIGNED = 8;
const LAYOUT = 2;

const types = {
  fingerprints: Int32Array,
  digests: Int32Array,
  near: Uint32Array,
  shapes: Float64Array,
} as const satisfies Record<keyof MemoryTables, unknown>;
const names = Object.keys(types) as (keyof MemoryTables)[];

interface Named extends MemoryEnd {
  readonly file: string;
  readonly layout: number;
  readonly digest: string;
  /** Bytes of each table, in the order of `types`. */
  readonly lengths: readonly number[];
}

export class MemoryFile {
  readonly #ledger: Ledger;
  /** Of the newest file, or of the newest attempt to write one. */
  #end: MemoryEnd = { page: 0, visit: 0 };

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** What the newest file holds; without one the tables are empty and end before the first page. */
  read(): Memory {
    const memory = this.#read() ?? { ...unpacked(new ArrayBuffer(0), [0, 0, 0, 0]), page: 0, visit: 0 };
    this.#end = { page: memory.page, visit: memory.visit };
    return memory;
  }

  #read(): Memory | undefined {
    const { pages, visits, directory } = this.#ledger;
    const named = this.#ledger.settings.get<Named>(SETTING);
    if (!named || !isReadable(named) || named.page > pages.size || named.visit > visits.last) return undefined;
    const bytes = bytesOf(join(directory, named.file));
    const whole = named.lengths.reduce((sum, length) => sum + aligned(length), 0);
    if (bytes?.length !== whole || hash('sha256', bytes) !== named.digest) return undefined;
    return { ...unpacked(bytes.buffer, named.lengths), page: named.page, visit: named.visit };
  }

  /** Pages and visits that came after the newest file. */
  get #behind(): number {
    const { pages, visits } = this.#ledger;
    return pages.size - this.#end.page + visits.last - this.#end.visit;
  }

  /** So much came after the newest file that another one is worth its time. */
  get due(): boolean {
    return this.#behind > Math.max(FEW, SHARE * this.#ledger.pages.size);
  }

  /**
   * Writes the file, and its name into the ledger's batch, if anything came after the newest one. A disk without room for it
   * costs time later and nothing else.
   */
  write(tables: () => MemoryTables): void {
    const { pages, visits, directory } = this.#ledger;
    if (pages.size < FEW || this.#behind === 0) return;
    this.#end = { page: pages.size, visit: visits.last };
    this.tidy();
    const packed = tables();
    const parts = names.map(name => new Uint8Array(packed[name].buffer, 0, packed[name].byteLength));
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + aligned(part.length), 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += aligned(part.length);
    }
    const file = `frontier-${randomUUID()}.bin`;
    try {
      writeFileSync(join(directory, file), bytes, { flag: 'wx', mode: PRIVATE });
    } catch {
      rmSync(join(directory, file), { force: true }); // the next run reads the ledger from the file before this one on
      return;
    }
    const lengths = parts.map(part => part.length);
    const named: Named = { file, layout: LAYOUT, ...this.#end, digest: hash('sha256', bytes), lengths };
    this.#ledger.settings.set(SETTING, named);
  }

  /** Deletes the files that are not named. */
  tidy(): void {
    const { directory } = this.#ledger;
    const named = this.#ledger.settings.get<Named>(SETTING)?.file;
    for (const file of readdirSync(directory))
      if (FILES.test(file) && file !== named) rmSync(join(directory, file), { force: true });
  }
}

/** The ledger may come from elsewhere, or from another version. */
function isReadable({ layout, file, page, visit, lengths }: Named): boolean {
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const known = layout === LAYOUT && FILES.test(file) && isCount(page) && isCount(visit);
  return known && Array.isArray(lengths) && lengths.length === names.length && lengths.every(isCount);
}

function unpacked(buffer: ArrayBuffer, lengths: readonly number[]): MemoryTables {
  let at = 0;
  const tables = names.map((name, index) => {
    const length = lengths[index]!;
    const from = at;
    at += aligned(length);
    const type = types[name];
    return [name, new type(buffer, from, length / type.BYTES_PER_ELEMENT)] as const;
  });
  return Object.fromEntries(tables) as unknown as MemoryTables;
}

function bytesOf(file: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const read = readFileSync(file);
    // A buffer of Node's own pool would not begin where its array does.
    return read.byteOffset === 0 ? (read as Uint8Array<ArrayBuffer>) : new Uint8Array(read);
  } catch {
    return undefined; // gone: the ledger has it all
  }
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNED) * ALIGNED;
}
