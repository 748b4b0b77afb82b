/**
 * What do fields out of archived pages cost beside Cheerio over the same pages as plain files? Both take title, heading and
 * links of each page of the JDK documentation (openjdk-17-doc), in turns, as whole processes. The rows must be the same.
 * Then DuckDB reads the Parquet file back, and must find the rows of the JSON lines.
 *
 *   node bench/extract.ts [--root DIR --seed /index.html] [--turns 3]
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cost, measure } from './peers/measured.ts';

const project = join(import.meta.dirname, '..');
const work = join(project, '.cache', 'bench', 'extract');
const bin = join(project, 'bin', 'skein.js');
const PEERS = ['cheerio@1.2.0', '@duckdb/node-api@1.5.6-r.1'];

const { values: options } = parseArgs({
  options: {
    root: { type: 'string', default: '/usr/share/doc/openjdk-17-doc/api' },
    seed: { type: 'string', default: '/index.html' },
    turns: { type: 'string', default: '3' },
  },
});

const schema = {
  fields: { title: 'title', heading: 'h1', links: { css: 'main a', attribute: 'href', all: true } },
};

/** The same by a program of Cheerio's users; `pages.json` names those that the collection has. */
const cheerio = `
import { load } from 'cheerio';
import { createWriteStream, readFileSync } from 'node:fs';
const out = createWriteStream('cheerio.jsonl');
const plain = text => text.replace(/\\s+/g, ' ').trim() || null;
for (const { url, file } of JSON.parse(readFileSync('pages.json', 'utf8'))) {
  const $ = load(readFileSync(file, 'utf8'));
  const links = $('main a').toArray().map(each => $(each).attr('href')).filter(href => href !== undefined).map(plain).filter(href => href !== null);
  const row = { title: plain($('title').first().text()), heading: plain($('h1').first().text()), links };
  if (row.title || row.heading || links.length) if (!out.write(JSON.stringify({ url, ...row }) + '\\n')) await new Promise(resolve => out.once('drain', resolve));
}
await new Promise(resolve => out.end(resolve));
`;

const duckdb = `
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const found = await connection.runAndReadAll("SELECT url, epoch_ms(time) AS time, title, heading, links FROM 'rows.parquet'");
console.log(JSON.stringify(found.getRowObjectsJson()));
`;

/** Collects the pages from memory on loopback; returns the origin. */
async function collect(): Promise<string> {
  const pages = new Map(
    globSync('**/*.html', { cwd: options.root }).map(name => [`/${name}`, readFileSync(join(options.root, name))]),
  );
  const server = createServer(({ url = '/' }, response) => {
    const page = pages.get(url);
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' }).end(page);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const words = [
    bin,
    'crawl',
    `${origin}${options.seed}`,
    '--data',
    'data',
    '--pace',
    '0',
    '--allow-private',
    '--json',
  ];
  await run(process.execPath, words);
  server.close().closeAllConnections();
  return origin;
}

async function run(command: string, words: readonly string[]): Promise<Cost> {
  const cost = await measure({ command, arguments: words, directory: work });
  if (cost.code !== 0) throw new Error(cost.stderr.slice(-500));
  return cost;
}

const extract = (format: string) =>
  run(process.execPath, [
    ...[bin, 'extract', '--schema', 'fields.json', '--format', format, '--out', `rows.${format}`, '--data', 'data'],
  ]);

type Row = Readonly<Record<string, unknown>>;
const rowsIn = (file: string): Row[] =>
  readFileSync(join(work, file), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Row);
const byUrl = (rows: readonly Row[], names: readonly string[]) =>
  rows.map(row => JSON.stringify(names.map(name => row[name]))).sort();

/** Both ends have the same rows; DuckDB has them, too. */
function compareRows(): number {
  const ours = rowsIn('rows.jsonl');
  const names = ['url', 'title', 'heading', 'links'];
  // Cheerio joins the words around a <br>; Skein does not.
  const unspaced = (rows: readonly Row[]) => byUrl(rows, names).map(row => row.replaceAll(' ', ''));
  const others = unspaced(rowsIn('cheerio.jsonl'));
  const differ = unspaced(ours).filter((row, i, all) => row !== others[i] || all.length !== others.length).length;
  assert.equal(differ, 0, 'Cheerio finds the same');
  const text = execFileSync(process.execPath, ['duckdb.mjs'], { cwd: work, encoding: 'utf8', maxBuffer: 1 << 30 });
  const flat = ours.map(row => ({
    ...row,
    time: Date.parse(String(row['time'])),
    links: JSON.stringify(row['links']),
  }));
  const read = (JSON.parse(text) as Row[]).map(row => ({ ...row, time: Number(row['time']) }));
  assert.deepEqual(byUrl(read, [...names, 'time']), byUrl(flat, [...names, 'time']), 'DuckDB reads the same');
  return ours.length;
}

async function compare(): Promise<void> {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'package.json'), '{ "type": "module", "private": true }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...PEERS], { cwd: work });
  for (const [name, text] of Object.entries({ 'cheerio.mjs': cheerio, 'duckdb.mjs': duckdb }))
    writeFileSync(join(work, name), text);
  writeFileSync(join(work, 'fields.json'), JSON.stringify(schema));
  const origin = await collect();
  await extract('jsonl');
  const pages = rowsIn('rows.jsonl').map(({ url }) => ({
    url,
    file: join(options.root, String(url).slice(origin.length)),
  }));
  writeFileSync(join(work, 'pages.json'), JSON.stringify(pages));
  const taken = { skein: [] as number[], cheerio: [] as number[] };
  for (let turn = 0; turn < Number(options.turns); turn++) {
    taken.skein.push((await extract('jsonl')).cpuSeconds);
    taken.cheerio.push((await run(process.execPath, ['cheerio.mjs'])).cpuSeconds);
  }
  await extract('parquet');
  console.log(`${compareRows()} rows of ${pages.length} pages, the same by both and by DuckDB`);
  for (const [name, all] of Object.entries(taken))
    console.log(`${name}: ${all.map(each => each.toFixed(2)).join(', ')} s of processor`);
}

if (existsSync(options.root)) await compare();
else console.log(`notice: there is no ${options.root}; --root names another folder of pages`);
