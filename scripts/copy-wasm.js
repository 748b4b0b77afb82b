// The compiler emits JavaScript only: the WebAssembly modules that it belongs to are copied beside it.
//   node scripts/copy-wasm.js [dist]
import { copyFileSync, globSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = process.argv[2] ?? join(root, 'dist');

for (const file of globSync('**/*.wasm', { cwd: join(root, 'src') })) {
  mkdirSync(dirname(join(target, file)), { recursive: true });
  copyFileSync(join(root, 'src', file), join(target, file));
}
