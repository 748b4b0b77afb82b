// What a command, or a program with the library, loads in few files: finding and opening some three hundred of them is most of
// what starting a crawl takes. The modules stay, for other threads; main.js, thread.js and what package.json exports hold copies
// of them that know where the originals are (docs/decisions/0068, 0108).
//   node scripts/bundle.js [dist]       for the package: dist/bundle of what the compiler made
//   node scripts/bundle.js --checkout   for a checkout: .cache/bundle of the sources, which bin/skein.js takes while it fits them
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [given] = process.argv.slice(2);
const checkout = given === '--checkout';
const modules = checkout ? join(root, 'src') : resolve(given ?? join(root, 'dist'));
const directory = checkout ? join(root, '.cache', 'bundle') : join(modules, 'bundle');
const ending = checkout ? 'ts' : 'js';
const threads = join(modules, 'engine', 'threads', `thread-module.${ending}`);
const inputs = new Set();

/** What a module finds beside itself is still there: WebAssembly, other threads, the version. */
const places = {
  name: 'places',
  transform(code, id) {
    if (isAbsolute(id)) inputs.add(id);
    if (id === threads) return "export const threadModule = new URL('./thread.js', import.meta.url);";
    if (!code.includes('import.meta.url')) return null;
    const place = JSON.stringify(relative(directory, id).split(sep).join('/'));
    return code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
  },
};

/** What starts threads comes first and is small; then all that a crawl needs, in one file that other commands share. */
const starting = [
  { name: 'start', test: id => id === join(modules, 'cli', `main.${ending}`), priority: 2 },
  { name: 'crawl', test: id => id === join(modules, 'cli', 'commands', `crawl.${ending}`), priority: 1 },
];

/** What programs import by the names in package.json: together, so that a class is one class wherever it comes from. */
const exported = {
  skein: 'engine/library/skein',
  hooks: 'crawler/hooks',
  extract: 'extract/extract',
  site: 'site/middleware',
  testing: 'testing/testing',
};

async function write(rolldown, name, input, groups = []) {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([each, file]) => [each, join(modules, `${file}.${ending}`)])),
    platform: 'node',
    logLevel: 'silent', // what cannot be split stays together: nothing to tell
    external: id => !/^[./]/.test(id),
    plugins: [places],
  });
  await bundle.write({
    ...{ dir: directory, format: 'esm', comments: false },
    chunkFileNames: `${name}-[name]-[hash].js`,
    cleanDir: name === 'main',
    codeSplitting: { groups },
  });
  await bundle.close();
}

async function bundle() {
  const { rolldown } = await import('rolldown');
  // Each by itself: a thread shares no module with home, and so none of home's chunks.
  await write(rolldown, 'main', { main: 'cli/main' }, starting);
  await write(rolldown, 'thread', { thread: 'outpost/workers/thread' }, starting);
  if (!checkout) {
    await write(rolldown, 'library', exported);
    return;
  }
  const files = [...inputs].map(file => {
    const { mtimeMs, size } = statSync(file);
    return [relative(root, file), mtimeMs, size];
  });
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'inputs.json'), JSON.stringify(files));
}

try {
  await bundle();
} catch (error) {
  // Who installs without what develops Skein runs the sources.
  if (!checkout) throw error;
  console.error(`no bundle: ${error.message}`);
}
