/**
 * The spool: parcels on the outpost's disk until home has them durably, and a note of every errand that was taken. One
 * file each, written and synced before the parcel leaves, so that kill -9 at any moment loses nothing that was sent and
 * nothing that was promised. It never looks into a parcel.
 *
 * Invariants: a parcel is in the list from put() until it is acknowledged or its errand forgotten. Where the disk is
 * full the parcel stays in memory and the spool says `full`; its owner then stops the work that makes more of them.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { type ErrandFrame, encodeFrame, type Frame, FrameReader, type ParcelFrame } from '../transfer/wire/frames.ts';

export interface Spooled {
  readonly errand: string;
  readonly sequence: number;
  readonly done: boolean;
  readonly size: number;
  /** The whole frame while it is at hand; else it is read from its file. */
  bytes: Uint8Array | undefined;
  stored: boolean;
  gone: boolean;
}

interface TakenParcel {
  readonly frame: ErrandFrame;
  /** Name of the outpost it was passed on to; empty = it runs here. */
  readonly to: string;
  /** The whole errand is in the spool. */
  ended: boolean;
}

/** Bytes of frames kept in memory beside their files, so that a line that keeps up costs no reading. */
const AT_HAND = 16 << 20;
/** Bytes that must be free before a disk that was full is used again. */
const SPARE = 64 << 10;

export class Spool {
  readonly directory: string;
  readonly errands = new Map<string, TakenParcel>();
  readonly #most: number;
  readonly #parcels = new Map<string, Spooled[]>();
  #bytes = 0;
  #atHand = 0;
  #trouble = '';
  #retrying = false;
  #writing: Promise<unknown> = Promise.resolve();

  /** Opens the directory and finds what an earlier life left. `most`: bytes. */
  constructor(directory: string, most: number) {
    this.directory = directory;
    this.#most = most;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(directory).sort(byNumber)) this.#find(name);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** No more work may be taken now. */
  get full(): boolean {
    return this.#bytes > this.#most || this.#trouble !== '';
  }

  /** Why it is full, one sentence; empty = it is not. */
  get trouble(): string {
    if (this.#trouble !== '') return this.#trouble;
    return this.full ? `${this.#bytes} bytes of parcels wait for home; the limit is ${this.#most}.` : '';
  }

  /** All parcels not yet acknowledged, in the order in which they must leave. */
  *parcels(): Generator<Spooled> {
    for (const list of this.#parcels.values()) yield* list;
  }

  /** Bytes of the errands under way, which say roughly how many pages they name, by the name of the outpost that has
   * them; empty = here. Counted where they are taken, because a burst of them is shared before the first has started. */
  loads(): Map<string, number> {
    const loads = new Map<string, number>();
    for (const { frame, to, ended } of this.errands.values()) {
      if (!ended) loads.set(to, (loads.get(to) ?? 0) + frame.bytes.length);
    }
    return loads;
  }

  /** Notes that the errand was taken, durably, before it starts. */
  async take(frame: ErrandFrame, to: string): Promise<void> {
    this.errands.set(frame.errand, { frame, to, ended: false });
    const note: Frame = { kind: 'give-up', errand: frame.errand, why: to };
    const bytes = Buffer.concat([encodeFrame(note), encodeFrame(frame)]);
    try {
      await this.#inOrder(() => writeSynced(join(this.directory, `${frame.errand}.errand`), bytes));
    } catch (error) {
      this.errands.delete(frame.errand);
      this.#fail(error);
      throw error;
    }
  }

  /** Resolves when the parcel is on disk, or when the disk has no room and it must stay in memory. */
  async put(frame: ParcelFrame): Promise<Spooled> {
    const bytes = encodeFrame(frame);
    const { errand, sequence, done } = frame;
    const parcel: Spooled = { errand, sequence, done, size: bytes.length, bytes, stored: false, gone: false };
    const list = this.#parcels.get(errand) ?? [];
    this.#parcels.set(errand, list);
    list.push(parcel);
    const taken = this.errands.get(errand);
    if (taken && done) taken.ended = true;
    this.#bytes += bytes.length;
    this.#atHand += bytes.length;
    await this.#inOrder(() => this.#store(parcel));
    return parcel;
  }

  /** The bytes of the frame, from memory or disk; undefined when it was acknowledged meanwhile. */
  read(parcel: Spooled): Uint8Array | undefined {
    if (parcel.gone) return undefined;
    return parcel.bytes ?? readFileSync(this.#file(parcel));
  }

  acknowledge(errand: string, sequence: number): void {
    const list = this.#parcels.get(errand);
    if (!list) return;
    for (const parcel of list) if (parcel.sequence <= sequence) this.#drop(parcel);
    const rest = list.filter(parcel => !parcel.gone);
    if (rest.length > 0) this.#parcels.set(errand, rest);
    else this.#parcels.delete(errand);
  }

  /** Home is done with the errand: nothing of it needs to be kept. */
  forget(errand: string): void {
    this.acknowledge(errand, Number.POSITIVE_INFINITY);
    if (!this.errands.delete(errand)) return;
    void this.#inOrder(() => rm(join(this.directory, `${errand}.errand`), { force: true }));
  }

  /** Tries to store what the full disk refused; called now and then. The trouble is over when there is room to spare. */
  async retry(): Promise<void> {
    if (this.#trouble === '' || this.#retrying) return;
    this.#retrying = true;
    let stored = true;
    for (const parcel of this.parcels()) stored &&= await this.#inOrder(() => this.#store(parcel));
    if (stored && (await this.#inOrder(() => this.#hasRoom()))) this.#trouble = '';
    this.#retrying = false;
  }

  async #hasRoom(): Promise<boolean> {
    const file = join(this.directory, 'probe');
    try {
      await rm(file, { force: true });
      await writeSynced(file, new Uint8Array(SPARE));
      await rm(file);
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Waits for writes under way. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  /** False: the disk refused it. */
  async #store(parcel: Spooled): Promise<boolean> {
    if (parcel.gone || parcel.stored) return true;
    try {
      await writeSynced(this.#file(parcel), parcel.bytes!);
      parcel.stored = true;
      if (parcel.gone) await rm(this.#file(parcel), { force: true });
      else this.#release(parcel);
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #release(parcel: Spooled): void {
    if (this.#atHand <= AT_HAND) return;
    this.#atHand -= parcel.size;
    parcel.bytes = undefined;
  }

  #drop(parcel: Spooled): void {
    if (parcel.gone) return;
    parcel.gone = true;
    this.#bytes -= parcel.size;
    if (parcel.bytes) this.#atHand -= parcel.size;
    parcel.bytes = undefined;
    if (parcel.stored) void this.#inOrder(() => rm(this.#file(parcel), { force: true }));
  }

  #fail(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    this.#trouble =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'The disk of the outpost is full.'
        : `The disk of the outpost cannot be used: ${message}.`;
  }

  #file({ errand, sequence }: Spooled): string {
    return join(this.directory, `${errand}.${sequence}.parcel`);
  }

  /** One write at a time: parcels of an errand must become durable in their order. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(work, work);
    this.#writing = done.catch(() => {}); // whoever asked for the write hears of its failure
    return done;
  }

  #find(name: string): void {
    const file = join(this.directory, name);
    const frames = readFrames(file);
    const last = frames.at(-1);
    if (frames.length === 2 && frames[0]!.kind === 'give-up' && last!.kind === 'errand') {
      this.errands.set(last!.errand, { frame: last!, to: frames[0]!.why, ended: false });
    } else if (frames.length === 1 && last!.kind === 'parcel') {
      const { errand, sequence, done, bytes } = last!;
      const parcel: Spooled = {
        errand,
        sequence,
        done,
        size: bytes.length,
        bytes: undefined,
        stored: true,
        gone: false,
      };
      const list = this.#parcels.get(errand) ?? [];
      this.#parcels.set(errand, list);
      list.push(parcel);
      this.#bytes += parcel.size;
      const taken = this.errands.get(errand);
      if (taken && done) taken.ended = true;
    } else if (/\.(errand|parcel)(\.new)?$/.test(name)) {
      rmSync(file, { force: true }); // a write that was cut short: it was never sent, and never promised
    }
  }
}

/** Errands before parcels, parcels of an errand by number: `a.errand`, `a.9.parcel`, `a.10.parcel`. */
function byNumber(a: string, b: string): number {
  const parts = (name: string) => /^(.*?)(?:\.(\d+))?\.(errand|parcel)$/.exec(name);
  const [x, y] = [parts(a), parts(b)];
  if (!x || !y) return x ? -1 : 1;
  if (x[3] !== y[3]) return x[3] === 'errand' ? -1 : 1;
  return x[1]! < y[1]! ? -1 : x[1]! > y[1]! ? 1 : Number(x[2]) - Number(y[2]);
}

function readFrames(file: string): Frame[] {
  try {
    const reader = new FrameReader();
    return [...reader.push(readFileSync(file))];
  } catch (error) {
    if (error instanceof SkeinError) return []; // damaged: the caller removes it
    throw error;
  }
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  // 'wx': another process that took this directory over must not be overwritten.
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}
