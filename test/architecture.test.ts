/**
 * The rules of the house that a machine can check: which folder may import which, no cycles, small files and functions,
 * names, catches that say why, and documents that name only what exists. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readSources } from './read-sources.ts';
import { usesInText } from './source-names.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The only folders that a folder may import, besides itself and base. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  errand: [],
  crawler: ['errand', 'notices'],
  transfer: ['errand'],
  outpost: ['errand', 'transfer', 'crawler'],
  revisit: ['errand'],
  judge: ['errand', 'crawler'],
  ledger: ['errand'],
  frontier: ['errand', 'notices', 'revisit', 'ledger'],
  archive: ['errand'],
  search: ['errand', 'archive', 'ledger'],
  notices: ['errand'],
  cluster: ['errand', 'ledger'],
  home: [
    'errand',
    'crawler',
    'transfer',
    'outpost',
    'revisit',
    'judge',
    'ledger',
    'frontier',
    'archive',
    'search',
    'notices',
    'cluster',
  ],
  questions: ['errand', 'crawler', 'revisit', 'ledger', 'frontier', 'archive', 'search', 'transfer', 'cluster', 'home'],
  extract: [],
  export: ['errand', 'judge', 'ledger', 'archive', 'home', 'extract'],
  site: ['errand', 'crawler', 'notices'],
  report: ['errand', 'crawler', 'ledger', 'home', 'questions'],
  workbench: ['home', 'search', 'archive', 'ledger', 'questions', 'notify', 'site'],
  notify: ['crawler', 'home', 'ledger', 'extract'],
  serve: ['search', 'archive', 'ledger', 'home', 'extract', 'questions'],
  engine: [
    'errand',
    'crawler',
    'transfer',
    'outpost',
    'revisit',
    'ledger',
    'frontier',
    'archive',
    'search',
    'home',
    'extract',
    'export',
    'questions',
    'workbench',
    'notify',
    'cluster',
  ],
  testing: ['engine'],
};
/** The command line asks the engine, and any other folder, for what it shows; nothing imports it. */
const FREE = 'cli';

const MOST_LINES = 400;
const MOST_FUNCTION_LINES = 60;
const MOST_PARAMETERS = 4;

/** Breaches that stand until they are mended; nothing is ever added here. */
const debts = new Set<string>([]);

const sources = readSources(root);
const shipped = sources.filter(({ path }) => path.startsWith('src/'));

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

function holds(breaches: readonly string[]): void {
  assert.deepEqual(
    breaches.filter(breach => !debts.has(breach)),
    [],
  );
}

test('folders import only what their place in the data path allows', () => {
  const wrong: string[] = [];
  for (const { path, imports } of shipped) {
    const folder = path.split('/')[1]!;
    const allowed = mayImport[folder];
    if (folder === FREE) continue;
    if (!allowed) wrong.push(`${path}: the table does not know the folder ${folder}`);
    for (const target of imports) {
      const [area, other] = target.split('/');
      const fine = area === 'src' && (other === folder || other === 'base' || allowed?.includes(other!));
      if (!fine) wrong.push(`${path} imports ${target}`);
    }
  }
  holds(wrong);
});

test('the engine alone puts things together', () => {
  const made = /\bnew (?:Home|Frontier|Dispatch|Outposts|ThreadCarrier)\(/;
  const wrong = shipped.filter(({ path }) => /^src\/(?:cli|workbench)\//.test(path) && made.test(textOf(path)));
  holds(wrong.map(({ path }) => path));
});

test('SQL is in src/ledger and src/search, and where a site reads its own databases', () => {
  const sql = /\bnode:sqlite\b|\.database\b|\['database'\]|\.prepare\(/;
  const wrong = shipped.filter(
    ({ path }) => !/^src\/(?:ledger|search|site\/records)\//.test(path) && sql.test(textOf(path)),
  );
  holds(wrong.map(({ path }) => path));
});

test('no file imports itself, however long the way round', () => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  const settled = new Set<string>();
  const cycles: string[] = [];
  const walk = (path: string, way: readonly string[]): void => {
    if (settled.has(path)) return;
    if (way.includes(path)) {
      cycles.push([...way.slice(way.indexOf(path)), path].join(' → '));
      return;
    }
    for (const next of graph.get(path) ?? []) walk(next, [...way, path]);
    settled.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  holds(cycles);
});

test('every import names a file that is there', () => {
  const missing = sources.flatMap(({ path, imports }) =>
    imports.filter(target => !existsSync(join(root, target))).map(target => `${path} imports ${target}`),
  );
  holds(missing);
});

/** Packages that every crawl loads: each takes time at every start. */
const CRAWL_LOADS = new Set(['commander']);
const CRAWL = 'src/cli/commands/crawl.ts';

test('a crawl loads no package that it may not need', () => {
  const graph = new Map(sources.map(({ path, loads }) => [path, loads]));
  const from = new Map([[CRAWL, '']]);
  for (const [path] of from) {
    for (const next of graph.get(path) ?? []) if (!from.has(next)) from.set(next, path);
  }
  assert.ok(from.size > 100, 'the way of a crawl was followed');
  const packages = [...from].filter(([path]) => !path.startsWith('src/') && !path.startsWith('node:'));
  holds(packages.filter(([name]) => !CRAWL_LOADS.has(name)).map(([name, path]) => `${path} loads ${name}`));
});

/** What others call by name: a bundle on another machine, programs that use Skein as a library. */
const CALLED = new Set(['src/outpost/stdio.ts#start']);

test('what a file exports, another takes', () => {
  const others = globSync(['src/workbench/ui/**/*.{ts,svelte}', 'scripts/*.{js,ts}', 'examples/*.ts'], {
    cwd: root,
    exclude: path => path.includes('node_modules') || path.includes('dist'),
  });
  const used = new Set(sources.flatMap(({ uses }) => uses));
  for (const path of others) for (const use of usesInText(path, textOf(path))) used.add(use);
  const idle = shipped.flatMap(({ path, exports }) =>
    exports
      .map(name => `${path}#${name}`)
      .filter(each => !used.has(each) && !used.has(`${path}#*`) && !CALLED.has(each)),
  );
  holds(idle);
});

/** Files of one folder; beyond, it has rooms that want a name. */
const MOST_FILES = 15;
/** One file a command, one a part of the scanner: lists, not rooms. */
const LISTS = ['src/cli/commands', 'src/crawler/scanner/assembly'];

test(`folders have at most ${MOST_FILES} files`, () => {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: path => path.includes('node_modules') });
  const folders = new Map<string, number>();
  for (const path of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  const full = [...folders].filter(([folder, count]) => count > MOST_FILES && !LISTS.includes(folder));
  holds(full.map(([folder, count]) => `${folder} has ${count} files`));
});

test(`files have at most ${MOST_LINES} lines and names in small letters with hyphens`, () => {
  const all = globSync('{src,test,bench}/**/*.{ts,svelte}', {
    cwd: root,
    exclude: path => path.includes('node_modules'),
  });
  const wrong: string[] = [];
  for (const path of all) {
    const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length;
    if (lines > MOST_LINES) wrong.push(`${path} has ${lines} lines`);
    // Components are named like the tags they are used as; svelte and config are what tools look for.
    if (path.endsWith('.ts') && !/\/[a-z0-9]+(-[a-z0-9]+)*(\.(test|bench|d|svelte|config))?\.ts$/.test(path))
      wrong.push(`${path}: name`);
  }
  holds(wrong);
});

test(`functions have at most ${MOST_FUNCTION_LINES} lines and ${MOST_PARAMETERS} parameters`, () => {
  const wrong: string[] = [];
  for (const { path, functions } of shipped) {
    for (const { name, line, lines, parameters } of functions) {
      if (lines > MOST_FUNCTION_LINES) wrong.push(`${path}: ${name} has ${lines} lines, from line ${line}`);
      if (parameters > MOST_PARAMETERS) wrong.push(`${path}: ${name} has ${parameters} parameters`);
    }
  }
  holds(wrong);
});

test('a type has a name that no other file gives to another', () => {
  const files = new Map<string, Set<string>>();
  for (const { path, types } of shipped) {
    // The page in the browser is a program of its own.
    if (path.startsWith('src/workbench/ui/')) continue;
    for (const name of types) files.set(name, (files.get(name) ?? new Set()).add(path));
  }
  const twice = [...files].filter(([, where]) => where.size > 1);
  holds(twice.map(([name, where]) => `${name} is declared in ${[...where].join(' and ')}`));
});

/** Public members of a class; beyond, it does more than one thing. */
const MOST_MEMBERS = 15;

test(`classes have at most ${MOST_MEMBERS} public members`, () => {
  const wrong = shipped.flatMap(({ path, classes }) =>
    classes
      .filter(({ members }) => members.length > MOST_MEMBERS)
      .map(({ name, members }) => `${path}: ${name} has ${members.length} public members`),
  );
  holds(wrong);
});

test('a catch that does nothing says why', () => {
  const wrong = sources.flatMap(({ path, silentCatches }) => silentCatches.map(line => `${path}:${line}`));
  holds(wrong);
});

for (const document of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  test(`${document} names only what exists`, () => {
    const text = readFileSync(join(root, document), 'utf8');
    const named = new Set(
      [...text.matchAll(/\b(?:src|test|bench|docs|bin|scripts)\/[\w./-]*[\w/]/g)].map(([path]) => path),
    );
    assert.ok(named.size > 0, 'it names no path at all');
    assert.deepEqual(
      [...named].filter(path => !existsSync(join(root, path))),
      [],
    );
  });
}
