/**
 * Compiles assembly/ to scanner.wasm, which is committed so that running Skein needs no compiler. A test compares the
 * committed bytes with a fresh build: `npm run build:scanner` makes them equal again.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SkeinError } from '../../base/errors.ts';
import { layoutSource, regions } from './layout.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
export const WASM_FILE = `${here}scanner.wasm`;
export const LAYOUT_FILE = `${here}assembly/layout.ts`;

/** Pages of 64 KiB: six buffers of the longest input, the tables, and the longest URLs of as many links as there may be, twice. */
const MAX_PAGES = 3000;

const options = [
  'scanner.ts',
  // Inlines without regard to size: a tenth faster than with a shrink level of 1, for a sixth more bytes.
  '-O3',
  ...['--shrinkLevel', '0'],
  '--noAssert',
  ...['--runtime', 'stub'],
  ...['--enable', 'simd'],
  ...['--memoryBase', String(regions.STATIC.at)],
  ...['--initialMemory', '20'],
  ...['--maximumMemory', String(MAX_PAGES)],
  // The module must import nothing: what it cannot call it cannot misuse.
  ...['--use', 'abort=', '--use', 'trace=', '--use', 'seed='],
  ...['--baseDir', `${here}assembly`, '--outFile', 'scanner.wasm'],
];

export async function buildScanner(): Promise<Uint8Array> {
  // Named by a variable: the compiler's types declare globals of their own, and would shadow Node's.
  const compiler: string = 'assemblyscript/asc';
  const { main } = (await import(compiler)).default;
  const written = new Map<string, Uint8Array>();
  const { error, stderr } = await main(options, {
    writeFile: (name: string, contents: string | Uint8Array) => {
      if (typeof contents !== 'string') written.set(name, contents);
    },
  });
  const bytes = written.get('scanner.wasm');
  if (error || !bytes) throw new SkeinError('internal', `the scanner does not compile\n${stderr.toString()}`);
  return bytes;
}

if (import.meta.main) {
  writeFileSync(LAYOUT_FILE, layoutSource());
  const bytes = await buildScanner();
  writeFileSync(WASM_FILE, bytes);
  console.log(`${WASM_FILE}: ${bytes.length} bytes`);
}
