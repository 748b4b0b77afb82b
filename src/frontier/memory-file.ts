/**
 * What the frontier holds in memory, in one file: fingerprints, digests, shapes of traps. It is written when a run ends and
 * read whole when the next one begins, because to find all of it again in the ledger takes 17 seconds of the processor for
 * a million pages. It is a copy of what the ledger says and never the truth: without it, or when it is not the one that the
 * last run wrote, everything is found again in the ledger.
 *
 * Invariant: the ledger names the file by a random id for just as long as nothing was written since. The first commit of a
 * run takes the name away, so that a run that is killed leaves no file that anybody believes.
 */
import { hash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../ledger/ledger.ts';

/** The tables, each as the one who owns it packs it. */
export interface Memory {
  /** Of every page. */
  readonly fingerprints: Int32Array<ArrayBuffer>;
  /** Of stored bytes. */
  readonly digests: Int32Array<ArrayBuffer>;
  readonly near: Uint32Array<ArrayBuffer>;
  /** Pages admitted by server: id and number in turn. */
  readonly admitted: Float64Array<ArrayBuffer>;
  /** Pages refused for a reason that a better link may lift. */
  readonly liftable: Float64Array<ArrayBuffer>;
  /** Shapes of URLs by server: id, number of values, values. */
  readonly shapes: Float64Array<ArrayBuffer>;
  /** Only where a limit of depth matters; else empty. */
  readonly depths: Uint8Array<ArrayBuffer>;
  /** One number: pages out of the scope that are kept. */
  readonly outside: Float64Array<ArrayBuffer>;
}

const FILE = 'frontier.bin';
const SETTING = 'memory';
/** Below so many pages the ledger is as quick. */
const LEAST_PAGES = 20_000;
const ALIGNED = 8;
const LAYOUT = 1;

const types = {
  fingerprints: Int32Array,
  digests: Int32Array,
  near: Uint32Array,
  admitted: Float64Array,
  liftable: Float64Array,
  shapes: Float64Array,
  depths: Uint8Array,
  outside: Float64Array,
} as const satisfies Record<keyof Memory, unknown>;
const names = Object.keys(types) as (keyof Memory)[];

interface Named {
  readonly id: string;
  readonly layout: number;
  readonly pages: number;
  readonly digest: string;
  /** Bytes of each table, in the order of `types`. */
  readonly lengths: readonly number[];
}

/** Writes the file, and its name into the ledger's batch. A disk without room for it costs time later and nothing else. */
export function writeMemory(ledger: Ledger, memory: () => Memory): void {
  if (ledger.pages.size < LEAST_PAGES) return;
  const tables = memory();
  const parts = names.map(name => new Uint8Array(tables[name].buffer, 0, tables[name].byteLength));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + aligned(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += aligned(part.length);
  }
  const id = randomUUID();
  const file = join(ledger.directory, FILE);
  const aside = `${file}.new`;
  try {
    writeFileSync(aside, bytes, { mode: 0o600 });
    renameSync(aside, file);
  } catch {
    rmSync(aside, { force: true }); // the next run reads the ledger
    return;
  }
  const lengths = parts.map(part => part.length);
  const named: Named = { id, layout: LAYOUT, pages: ledger.pages.size, digest: hash('sha256', bytes), lengths };
  ledger.set(SETTING, named);
}

/** The tables of the last run; undefined = the ledger has to be read. In a batch, whose commit makes the file worthless. */
export function readMemory(ledger: Ledger): Memory | undefined {
  const named = ledger.setting<Named>(SETTING);
  if (!named) return undefined;
  ledger.set(SETTING, undefined);
  if (named.layout !== LAYOUT || named.pages !== ledger.pages.size) return undefined;
  const bytes = bytesOf(join(ledger.directory, FILE));
  const whole = named.lengths.reduce((sum, length) => sum + aligned(length), 0);
  if (bytes?.length !== whole || hash('sha256', bytes) !== named.digest) return undefined;
  let at = 0;
  const tables = names.map((name, index) => {
    const length = named.lengths[index]!;
    const from = at;
    at += aligned(length);
    const type = types[name];
    return [name, new type(bytes.buffer, from, length / type.BYTES_PER_ELEMENT)] as const;
  });
  return Object.fromEntries(tables) as unknown as Memory;
}

function bytesOf(file: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const read = readFileSync(file);
    // A buffer of Node's own pool would not be aligned.
    return read.byteOffset % ALIGNED === 0 ? (read as Uint8Array<ArrayBuffer>) : new Uint8Array(read);
  } catch {
    return undefined; // gone: it can be made again
  }
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNED) * ALIGNED;
}
