/**
 * Compiles assembly/ to deflate.wasm, which is committed so that running Skein needs no compiler. A test compares the
 * committed bytes with a fresh build: `node src/errand/deflate/build.ts` makes them equal again.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SkeinError } from '../../base/errors.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Between the small tables and the hash table of assembly/memory.ts. */
const MEMORY_BASE = 0x8000;
/** Pages of 64 KiB: the tables, and three times the longest input. */
const MAX_PAGES = 256;

const options = [
  'deflate.ts',
  '-O3',
  '--converge',
  '--noAssert',
  ...['--runtime', 'stub'],
  ...['--memoryBase', String(MEMORY_BASE)],
  ...['--initialMemory', '8'],
  ...['--maximumMemory', String(MAX_PAGES)],
  // The module must import nothing: what it cannot call it cannot misuse.
  ...['--use', 'abort='],
  ...['--baseDir', `${here}assembly`, '--outFile', 'deflate.wasm'],
];

export async function buildDeflate(): Promise<Uint8Array> {
  // Named by a variable: the compiler's types declare globals of their own, and would shadow Node's.
  const compiler: string = 'assemblyscript/asc';
  const { main } = (await import(compiler)).default;
  let bytes: Uint8Array | undefined;
  const { error, stderr } = await main(options, {
    writeFile: (_name: string, contents: string | Uint8Array) => {
      if (typeof contents !== 'string') bytes = contents;
    },
  });
  if (error || !bytes) throw new SkeinError('internal', `the encoder does not compile\n${stderr.toString()}`);
  return bytes;
}

if (import.meta.main) writeFileSync(`${here}deflate.wasm`, await buildDeflate());
