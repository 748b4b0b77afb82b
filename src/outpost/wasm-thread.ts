/** The thread behind wasm-sandbox.ts: holds one module and shows it pages. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WasmAnswer } from './wasm-sandbox.ts';

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  input(length: number): number;
  decide(address: number, length: number): number;
}

const port = parentPort!;
const say = (answer: WasmAnswer) => port.postMessage(answer);

function load(): Exports | undefined {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(workerData as Uint8Array));
    const found = exports as unknown as Partial<Exports>;
    if (found.memory && found.input && found.decide) return found as Exports;
    say('it does not export memory, input and decide');
  } catch (error) {
    say(String((error as Error).message));
  }
  return undefined;
}

const module = load();
if (module) say(0);

port.on('message', (page: Uint8Array) => {
  try {
    const address = module!.input(page.length) >>> 0;
    new Uint8Array(module!.memory.buffer).set(page, address);
    say(module!.decide(address, page.length) | 0);
  } catch (error) {
    say(String((error as Error).message));
  }
});
