/** The thread behind wasm-sandbox.ts: holds one module and shows it pages. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WasmData, WasmWord } from './wasm-sandbox.ts';

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  input(length: number): number;
  decide(address: number, length: number): number;
  readonly text?: unknown;
  readonly body?: unknown;
}

const port = parentPort!;
const data = workerData as WasmData;
const answers = new Int32Array(data.answers);
const say = (word: WasmWord) => port.postMessage(word);

function load(): Exports | undefined {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(data.module as Uint8Array<ArrayBuffer>));
    const found = exports as unknown as Partial<Exports>;
    if (found.memory && found.input && found.decide) return found as Exports;
    say({ kind: 'wrong', why: 'it does not export memory, input and decide' });
  } catch (error) {
    say({ kind: 'wrong', why: String((error as Error).message) });
  }
  return undefined;
}

const module = load();
if (module) say({ kind: 'wants', wants: module.body ? 'body' : module.text ? 'text' : 'facts' });

/** Each page begins with its length. */
function decideAll({ memory, input, decide }: Exports, pages: Uint8Array): void {
  const lengths = new DataView(pages.buffer, pages.byteOffset, pages.byteLength);
  let count = 0;
  for (let at = 0; at < pages.length; ) {
    const length = lengths.getUint32(at, true);
    const address = input(length) >>> 0;
    new Uint8Array(memory.buffer).set(pages.subarray(at, at + length), address);
    answers[count + 1] = decide(address, length);
    Atomics.store(answers, 0, ++count);
    at += length;
  }
}

port.on('message', (pages: Uint8Array) => {
  try {
    decideAll(module!, pages);
    say({ kind: 'done' });
  } catch (error) {
    say({ kind: 'wrong', why: String((error as Error).message) });
  }
});
