/**
 * How long from a change on a site's disk until home finds it? Real processes: `skein site` beside a web server, `skein
 * watch` that waits for its word, and `skein serve`, which is asked for the new word until it answers with the page.
 *
 *   node bench/told.ts [--changes 15] [--pages 300] [--apart 0]
 *
 * `--apart`: seconds between a change that was found and the next. Without them each change comes while the index still rests
 * from the one before, which is the worst case.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/free-port.ts';
import { fast, type Running, skein, start } from '../test/journeys/skein.ts';

const { values: given } = parseArgs({
  options: {
    changes: { type: 'string', default: '15' },
    pages: { type: 'string', default: '300' },
    apart: { type: 'string', default: '0' },
  },
});
const pages = Number(given.pages);
const directory = mkdtempSync(join(tmpdir(), 'skein-told-'));
const root = join(directory, 'www');
mkdirSync(root);
const filler = Array.from({ length: 600 }, (_, i) => `word${(i * 7919) % 601}`).join(' ');
const html = (title: string, text: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`;
const put = (n: number, text: string) => writeFileSync(join(root, `${n}.html`), html(`Page ${n}`, `${filler} ${text}`));
for (let n = 0; n < pages; n++) put(n, `first ${n}`);
const links = Array.from({ length: pages }, (_, n) => `<a href="/${n}.html">${n}</a>`).join(' ');
writeFileSync(join(root, 'index.html'), html('Front', links));

/** A web server of files that passes the site's own face on, as nginx does. */
const sitePort = await freePort();
const web = createServer((asked: IncomingMessage, response: ServerResponse) => {
  if (asked.url!.startsWith('/.well-known/')) {
    const { method, url: path, headers } = asked;
    const passed = request({ host: '127.0.0.1', port: sitePort, method, path, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    asked.pipe(passed);
    return;
  }
  try {
    const body = readFileSync(join(root, asked.url === '/' ? 'index.html' : asked.url!));
    response.writeHead(200, { 'content-type': 'text/html' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
const data = join(directory, 'home');
const running: Running[] = [];
const begin = (words: readonly string[]) => running.push(start(words));
const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds));

/** Milliseconds until the answer is yes; gives up after a minute. */
async function until(question: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await question().catch(() => false))) {
    if (performance.now() - began > 20_000) return Number.POSITIVE_INFINITY;
    await pause(50);
  }
  return performance.now() - began;
}

const servePort = await freePort();
const finds = async (word: string, url: string) =>
  (await (await fetch(`http://127.0.0.1:${servePort}/search?q=${word}`)).text()).includes(url);
const words = ['site', root, '--public', `${origin}/`, '--listen', `127.0.0.1:${sitePort}`];
begin([...words, '--data', join(directory, 'site'), '--requests-a-minute', '100000']);
await until(async () => (await fetch(`${origin}/.well-known/skein`)).status === 200);
await skein(['crawl', `${origin}/`, '--data', data, ...fast]);
begin(['watch', '--data', data, '--budget', '100000', ...fast]);
begin(['serve', '--data', data, '--listen', `127.0.0.1:${servePort}`, '--rate', '100']);
await until(() => finds('first', origin));
const times: number[] = [];
for (let n = 0; n < Number(given.changes); n++) {
  await pause(Number(given.apart) * 1000);
  const page = (n * 7) % pages;
  const word = `novelty${n}x`;
  put(page, word);
  times.push(await until(() => finds(word, `${origin}/${page}.html`)));
  console.error(`${word}: ${(times.at(-1)! / 1000).toFixed(2)} s`);
}
for (const { child, ended } of running) {
  child.kill('SIGTERM');
  await ended;
}
web.closeAllConnections();
web.close();
rmSync(directory, { recursive: true });
const sorted = times.toSorted((a, b) => a - b);
const at = (share: number) => `${(sorted[Math.floor((sorted.length - 1) * share)]! / 1000).toFixed(2)} s`;
console.log(`${pages} pages, ${times.length} changes, from the write to a search that finds it:`);
console.log(`median ${at(0.5)}, nine in ten ${at(0.9)}, longest ${at(1)}`);
