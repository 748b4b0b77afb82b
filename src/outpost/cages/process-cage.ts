/**
 * A cage: a process of its own for one piece of code. The code gets pages on standard input and answers on standard
 * output, two bytes for each (cage-runner.ts); what it is started with and behind, cage-start.ts knows.
 *
 * JavaScript from elsewhere runs behind the wall or not at all. WebAssembly without imports can do nothing but compute, so
 * limits of the system are enough; where there is a wall, it stands behind that too. Code of this machine's own user takes
 * what is there.
 */
import { hostname } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { SkeinError } from '../../base/errors.ts';
import { type CageProcess, cageMeans, endCage, type Means, startCage } from './cage-start.ts';
import {
  type Cage,
  type CageEvents,
  type CageSource,
  misbehaved,
  type OpenCage,
  type SandboxLimits,
  STARTING,
  wantsOrder,
} from './decider.ts';
import { checkModule, isModule } from './wasm-limits.ts';

interface CageTerms {
  readonly limits: SandboxLimits;
  /** The code comes from the user who runs this process. */
  readonly own: boolean;
  /** Where bubblewrap may be; default: where systems have it. */
  readonly bubblewrap?: string[];
}

/** An answer is a byte with the bits of the verdict behind this mark, and a byte of relevance. */
const MARK = 64;
/** The bit of one behind which more stands, and bytes of that: what a page may leave, and URLs that it may add. */
const MORE = 4;
const MOST_MORE = 1 << 20;

/**
 * Opens cages for one piece of code, one after another. From the first death on a process without code waits for the next
 * one, so that code that fails now and then costs no start of Node each time.
 */
export class Cages implements CageSource {
  readonly #code: Uint8Array;
  readonly #terms: CageTerms;
  #lives = 0;
  #spare: CageProcess | undefined;
  #closed = false;

  constructor(code: Uint8Array, terms: CageTerms) {
    this.#code = code;
    this.#terms = terms;
  }

  readonly open: OpenCage = async events => {
    const { limits, own, bubblewrap } = this.#terms;
    if (isModule(this.#code)) checkModule(this.#code, limits.memory);
    const means = await cageMeans(limits, bubblewrap);
    if (!own) demand(means, isModule(this.#code));
    const child = this.#spare ?? startCage(means, limits);
    this.#spare = undefined;
    const cage = await openProcess(child, this.#code, limits, events);
    if (this.#lives++ > 0 && !this.#closed) this.#keep(startCage(means, limits));
    return cage;
  };

  close(): void {
    this.#closed = true;
    if (this.#spare) endCage(this.#spare);
  }

  #keep(spare: CageProcess): void {
    const gone = () => {
      if (this.#spare === spare) this.#spare = undefined;
    };
    spare.once('error', gone);
    spare.once('exit', gone);
    this.#spare = spare;
  }
}

/** Throws where code from elsewhere would have less around it than it must have. */
function demand({ idle, loose, wall, lacking }: Means, module: boolean): void {
  if (wall !== '' && idle !== undefined) return;
  if (idle === undefined) {
    throw new SkeinError('refused', `Code from elsewhere is not run on ${hostname()}: ${loose}.`);
  }
  if (module) return;
  // Home shows the message alone, so what to do is part of it.
  const what = `JavaScript from elsewhere is not run on ${hostname()}: ${lacking}, or send WebAssembly.`;
  throw new SkeinError('refused', what);
}

function openProcess(child: CageProcess, code: Uint8Array, limits: SandboxLimits, events: CageEvents): Promise<Cage> {
  return new Promise((resolve, reject) => {
    const closed = new Promise<void>(done => child.once('close', () => done()));
    const end = (why: string) => {
      clearTimeout(late);
      endCage(child);
      reject(misbehaved(why)); // of no effect once it has started
      events.ended(why);
    };
    const late = setTimeout(() => end('it takes too long to start'), limits.time + STARTING);
    let started = false;
    readAnswers(child.stdout, end, (bits, byte, more) => {
      if (started) return events.answer(byte | (bits << 8), more);
      started = true;
      clearTimeout(late);
      resolve({
        wants: wantsOrder[byte] ?? 'facts',
        show: pages => send(child.stdin, pages),
        async close() {
          endCage(child);
          await closed;
        },
      });
    });
    const said = hear(child.stderr);
    child.stdin.on('error', () => {}); // it has ended: `close` says how
    child.once('error', error => end(error.message));
    child.once('close', (status, signal) => end(reasonOf(said()) || `its process ended (${signal ?? status})`));
    send(child.stdin, code);
  });
}

/** Whatever is not an answer was written by the code, which has nothing to write. */
function readAnswers(
  output: Readable,
  end: (why: string) => void,
  answer: (bits: number, relevance: number, more: unknown) => void,
): void {
  let held: Buffer = Buffer.alloc(0);
  output.on('data', (bytes: Buffer) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    while (held.length >= 2) {
      const bits = held[0]! - MARK;
      if (bits < 0 || bits >= 2 * MORE) return end('it wrote to standard output');
      const said = bits < MORE ? { length: 2, more: undefined } : readMore(held);
      if (said === 'wrong') return end('its answer is too long, or is not JSON');
      if (said === 'incomplete') return;
      const byte = held[1]!;
      held = held.subarray(said.length);
      answer(bits % MORE, byte, said.more);
    }
  });
}

/** What follows the two bytes of an answer that says more: a length, and so much JSON. */
function readMore(held: Buffer): { readonly length: number; readonly more: unknown } | 'incomplete' | 'wrong' {
  if (held.length < 6) return 'incomplete';
  const size = held.readUInt32LE(2);
  if (size > MOST_MORE) return 'wrong';
  if (held.length < 6 + size) return 'incomplete';
  try {
    return { length: 6 + size, more: JSON.parse(held.toString('utf8', 6, 6 + size)) };
  } catch {
    return 'wrong'; // whoever is asked ends it
  }
}

function hear(errors: Readable): () => string {
  let said = '';
  errors.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-4000);
  });
  return () => said;
}

function send(input: Writable, message: Uint8Array): void {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(message.length);
  input.cork();
  input.write(head);
  input.write(message);
  input.uncork();
}

/** The line of standard error that says what it was. */
function reasonOf(said: string): string {
  const line = /^(?:\w*Error.*|FATAL ERROR.*|# Fatal .*|bwrap: .*)$/m.exec(said)?.[0] ?? '';
  return line.replace(/^Error: (?=it )/, '').slice(0, 200);
}
