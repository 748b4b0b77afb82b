// The compiler emits JavaScript only: WebAssembly modules and the search box, which are served or loaded as they are, are
// copied beside it.
//   node scripts/copy-wasm.js [dist]
import { copyFileSync, globSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = process.argv[2] ?? join(root, 'dist');

for (const file of globSync(['**/*.wasm', 'serve/*.js'], { cwd: join(root, 'src') })) {
  mkdirSync(dirname(join(target, file)), { recursive: true });
  copyFileSync(join(root, 'src', file), join(target, file));
}
