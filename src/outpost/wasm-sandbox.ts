/**
 * Runs a decider in WebAssembly. A module without imports can compute and nothing else, so a thread with a watchdog is
 * all it needs: memory is bounded by what the module states, time by ending the thread.
 *
 * The module exports `memory`, `input(length) → address` (where the page is to be written) and
 * `decide(address, length) → bits` (1 = keep, 2 = changed).
 */
import { Worker } from 'node:worker_threads';
import { Asking } from './asking.ts';
import { type Decider, decisionOf, encodePage, type SandboxLimits } from './decider.ts';
import { checkModule } from './wasm-limits.ts';

/** What the thread answers: the bits, or what went wrong. */
export type WasmAnswer = number | string;

export async function openWasm(bytes: Uint8Array, limits: SandboxLimits): Promise<Decider> {
  checkModule(bytes, limits.memory);
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./wasm-thread.${ending}`, import.meta.url), {
    workerData: bytes,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8, stackSizeMb: 2 },
  });
  const asking = new Asking(() => void worker.terminate());
  worker.on('message', (answer: WasmAnswer) =>
    typeof answer === 'number' ? asking.answer(answer) : asking.end(answer),
  );
  worker.on('error', error => asking.end((error as Error).message));
  worker.on('exit', () => asking.end('its thread ended'));
  // Compiling is the module's doing too; a thread also takes a while to start. It says 0 when it is ready.
  await asking.ask(() => {}, limits.time + 10_000);
  return {
    decide: async page => {
      const bytes = encodePage(page);
      return decisionOf(await asking.ask(() => worker.postMessage(bytes, [bytes.buffer]), limits.time));
    },
    close: async () => {
      asking.end('it was closed');
      await worker.terminate();
    },
  };
}
