// What a command loads in fewer files, for the package: finding and opening some three hundred of them is most of what
// starting a crawl takes. The modules stay, for the library and for other threads; main.js and thread.js in dist/bundle hold
// copies of them that know where the originals are (docs/decisions/0068).
//   node scripts/bundle.js [dist]
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = resolve(process.argv[2] ?? join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist'));
const directory = join(dist, 'bundle');
const threads = join(dist, 'engine', 'threads', 'thread-module.js');

/** What a module finds beside itself is still there: WebAssembly, other threads, the version. */
const places = {
  name: 'places',
  transform(code, id) {
    if (id === threads) return "export const threadModule = new URL('./thread.js', import.meta.url);";
    if (!code.includes('import.meta.url')) return null;
    const place = JSON.stringify(relative(directory, id).split(sep).join('/'));
    return code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
  },
};

// Each by itself: a thread shares no module with home, and so none of home's chunks.
for (const [name, entry] of [
  ['main', 'cli/main.js'],
  ['thread', 'outpost/workers/thread.js'],
]) {
  const bundle = await rolldown({
    input: { [name]: join(dist, entry) },
    platform: 'node',
    external: id => !/^[./]/.test(id),
    plugins: [places],
  });
  const chunkFileNames = `${name}-[name]-[hash].js`;
  await bundle.write({ dir: directory, format: 'esm', chunkFileNames, cleanDir: name === 'main', comments: false });
  await bundle.close();
}
