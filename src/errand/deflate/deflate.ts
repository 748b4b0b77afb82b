/**
 * The host's side of the fast deflate encoder (assembly/): input is written into the module's memory, output read from
 * it. One module per thread, made at first use and used again for every page.
 */
import type { Borrowed } from '../../base/borrowed.ts';
import { compileWasm } from '../../base/wasm.ts';

/** Longer inputs are for zlib. Three times this is the memory that a thread may come to hold. */
export const MAX_INPUT = 4 << 20;

interface DeflateExports {
  readonly memory: WebAssembly.Memory;
  reserve(length: number): number;
  deflate(length: number): number;
  outputAt(length: number): number;
}

let encoder: DeflateExports | undefined;

function load(): DeflateExports {
  const module = compileWasm(new URL('deflate.wasm', import.meta.url));
  return new WebAssembly.Instance(module).exports as unknown as DeflateExports;
}

/** Where to write up to `length` ≤ MAX_INPUT bytes; valid until the next call. */
export function inputRoom(length: number): Uint8Array {
  encoder ??= load();
  const at = encoder.reserve(length);
  return new Uint8Array(encoder.memory.buffer, at, length);
}

/** The first `length` bytes of inputRoom() as a raw deflate stream. */
export function deflateInput(length: number): Borrowed<Uint8Array> {
  encoder ??= load();
  const size = encoder.deflate(length);
  return new Uint8Array(encoder.memory.buffer, encoder.outputAt(length), size);
}
