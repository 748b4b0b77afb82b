/**
 * Runs a decider in WebAssembly. A module without imports can compute and nothing else, so a thread with a watchdog is
 * all it needs: memory is bounded by what the module states, time by ending the thread.
 *
 * The module exports `memory`, `input(length) → address` (where the page is to be written) and
 * `decide(address, length) → bits` (1 = keep, 2 = changed).
 */
import { Worker } from 'node:worker_threads';
import { type Decider, decisionOf, encodePage, misbehaved, type SandboxLimits } from './decider.ts';
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
  let over = '';
  let answered: (answer: WasmAnswer) => void = () => {};
  const end = (why: string) => {
    over ||= why;
    answered(over);
    void worker.terminate();
  };
  worker.on('message', (answer: WasmAnswer) => answered(answer));
  worker.on('error', error => end((error as Error).message));
  worker.on('exit', () => end('its thread ended'));
  const ask = async (message: Uint8Array<ArrayBuffer> | undefined, time: number): Promise<number> => {
    if (over !== '') throw misbehaved(over);
    const timer = setTimeout(() => end(`it took longer than ${time} milliseconds`), time);
    const answer = await new Promise<WasmAnswer>(resolve => {
      answered = resolve;
      if (message) worker.postMessage(message);
    });
    clearTimeout(timer);
    if (typeof answer === 'number') return answer;
    end(answer);
    throw misbehaved(answer);
  };
  // Compiling is the module's doing too; a thread also takes a while to start.
  await ask(undefined, limits.time + 10_000);
  return {
    decide: async page => decisionOf(await ask(encodePage(page), limits.time)),
    close: async () => {
      over = 'it was closed';
      await worker.terminate();
    },
  };
}
