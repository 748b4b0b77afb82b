/**
 * A cage for WebAssembly. A module without imports can compute and nothing else, so a thread with a watchdog is all it
 * needs: memory is bounded by what the module states, time by ending the thread. Verdicts lie in shared memory, so that
 * it is known which page a thread that hangs was at.
 *
 * The module exports `memory`, `input(length) → address` (where a page is to be written) and
 * `decide(address, length) → bits`; an export named `text` or `body` says that it wants to see that.
 */
import { Worker } from 'node:worker_threads';
import type { Wants } from '../crawler/decider.ts';
import {
  type Cage,
  type CageEvents,
  MOST_PAGES,
  misbehaved,
  type OpenCage,
  type SandboxLimits,
  STARTING,
} from './decider.ts';
import { checkModule } from './wasm-limits.ts';

export interface WasmData {
  readonly module: Uint8Array;
  /** 32-bit words: how many pages of the batch are decided, then their verdicts. */
  readonly answers: SharedArrayBuffer;
}

/** What the thread says: what it wants when it has started, `done` after each batch, or what went wrong. */
export type WasmWord =
  | { readonly kind: 'wants'; readonly wants: Wants }
  | { readonly kind: 'done' }
  | { readonly kind: 'wrong'; readonly why: string };

export function wasmCage(module: Uint8Array, limits: SandboxLimits): OpenCage {
  return events => {
    checkModule(module, limits.memory);
    return openThread(module, limits, events);
  };
}

function openThread(module: Uint8Array, limits: SandboxLimits, events: CageEvents): Promise<Cage> {
  const answers = new Int32Array(new SharedArrayBuffer((1 + MOST_PAGES) * 4));
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./wasm-thread.${ending}`, import.meta.url), {
    workerData: { module, answers: answers.buffer } satisfies WasmData,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8, stackSizeMb: 2 },
  });
  let seen = 0;
  const peek = () => {
    const done = Atomics.load(answers, 0);
    while (seen < done) events.answer(answers[++seen]!);
  };
  const cageOf = (wants: Wants): Cage => ({
    wants,
    show(pages) {
      seen = 0;
      Atomics.store(answers, 0, 0);
      worker.postMessage(pages, [pages.buffer]);
    },
    peek,
    close: async () => {
      await worker.terminate();
    },
  });
  return new Promise((resolve, reject) => {
    const end = (why: string) => {
      clearTimeout(late);
      void worker.terminate();
      peek();
      reject(misbehaved(why)); // of no effect once it has started
      events.ended(why);
    };
    // Compiling is the module's doing too.
    const late = setTimeout(() => end('it takes too long to start'), limits.time + STARTING);
    worker.on('message', (word: WasmWord) => {
      if (word.kind === 'wants') {
        clearTimeout(late);
        resolve(cageOf(word.wants));
      } else if (word.kind === 'done') peek();
      else end(word.why);
    });
    worker.on('error', error => end((error as Error).message));
    worker.on('exit', () => end('its thread ended'));
  });
}
