/** What a user meets before anything is crawled: help, suggestions, refusals, exit codes, config files, closed pipes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeCertificate } from '../crawler/fetch-certificate.ts';
import { html, openPages, prose } from '../journeys/pages.ts';
import { collected, fast, pagesOf, root, skein, skeinJson, workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

const place = workplace();
after(() => place[Symbol.dispose]());

const help = (await skein(['--help'])).stdout.toString();
const listed = help.slice(help.indexOf('Commands:'));
const commands = [...listed.matchAll(/^ {2}(\w+)/gm)].map(match => match[1]!).filter(name => name !== 'help');

/** They end when they are stopped, and have nothing to report then. */
const LONG_RUNNING = new Set(['service', 'workbench', 'outpost']);

test('every command has help with an example, and says what it takes', async () => {
  assert.ok(commands.length >= 11, commands.join(' '));
  for (const name of ['crawl', 'status', 'pages', 'show', 'cat', 'links', 'export', 'verify', 'demo']) {
    assert.ok(commands.includes(name), name);
  }
  for (const name of commands) {
    const { code, stdout } = await skein([name, '--help']);
    assert.equal(code, 0);
    const text = stdout.toString();
    const wide = text.split('\n').filter(line => line.length > 80);
    assert.deepEqual(wide, [], `the help of ${name} fits a terminal of 80 columns`);
    if (text.includes('\nCommands:')) continue; // a family: its members have the examples
    assert.match(text, /\nExamples?:\n {2}.*skein /, `${name} has an example`);
    if (!LONG_RUNNING.has(name)) assert.match(text, /--json/, `${name} has --json`);
  }
});

test('a collection where none can be is refused in a sentence', async () => {
  const file = join(place.path, 'a-file');
  writeFileSync(file, '');
  const nowhere = [file, join(file, 'below'), ...(existsSync('/proc/self') ? ['/proc/skein'] : [])];
  for (const data of nowhere) {
    const { code, stderr } = await skein(['crawl', 'http://127.0.0.1:1/', '--data', data]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /cannot hold a collection: .*\nName a directory/, data);
  }
});

test('a directory in the place of the ledger is no full disk', async () => {
  const data = join(place.path, 'no-ledger');
  mkdirSync(join(data, 'ledger.db'), { recursive: true });
  const { code, stderr } = await skein(['status', '--data', data]);
  assert.equal(code, 6);
  assert.match(stderr, /The ledger cannot be read\.\n.*ledger\.db/s);
});

test('a crawl of which nothing came says why, and fails', async () => {
  const web = await openWeb({ pagesPerServer: 2 });
  const [silent] = web.origins;
  await web.close();
  for (const [seed, reason, means] of [
    [silent!, 'connect-refused', /the server refuses connections/],
    [`http://${'x'.repeat(64)}.invalid/`, 'dns', /does not resolve/],
  ] as const) {
    const data = join(place.path, reason);
    const people = await skein(['crawl', seed, '--data', data, ...fast]);
    assert.equal(people.code, 1, people.stderr);
    assert.match(people.stdout.toString(), means);
    assert.match(people.stdout.toString(), /No page could be fetched/);
    const { code, stdout } = await skein(['crawl', seed, '--data', `${data}-json`, ...fast, '--json']);
    assert.equal(code, 1);
    assert.deepEqual((JSON.parse(stdout.toString()) as { reasons: unknown }).reasons, { [reason]: 1 });
  }
});

test('sitemaps are counted beside the pages, and a search that finds nothing says only that', async () => {
  const data = join(place.path, 'in-words');
  await using pages = await openPages();
  const named = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${pages.origin}/</loc></url></urlset>`;
  const as = (type: string) => ({ headers: { 'content-type': type } });
  pages.set('/robots.txt', { body: `Sitemap: ${pages.origin}/sitemap.xml`, ...as('text/plain') });
  pages.set('/sitemap.xml', { body: named, ...as('application/xml') });
  pages.set('/', { body: html('Geese', [prose(1)]) });
  const told = async (...words: string[]) => (await skein([...words, '--data', data])).stdout.toString();
  const crawled = await told('crawl', pages.origin, ...fast);
  assert.match(crawled, /^1 page and 1 sitemap in /);
  assert.match(crawled, /^ok +2 /m);
  assert.match(await told('search', 'geese'), /checked less than a minute ago/);
  assert.equal(
    await told('search', 'site:127.0.0.2'),
    'No results for site:127.0.0.2. Try fewer or different words.\n',
  );
});

test('a seed whose site has moved takes the crawl along; one that leads elsewhere is pointed out', async t => {
  await using web = await openWeb({ servers: 2, pagesPerServer: 4, addresses: true });
  let location = web.seeds[0]!;
  const door = createServer((_, response) => response.writeHead(301, { location }).end());
  t.after(() => {
    door.close();
    door.closeAllConnections();
  });
  await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve));
  const seed = `http://127.0.0.1:${(door.address() as AddressInfo).port}/`;
  const visit = async (name: string, ...more: string[]) => {
    const data = join(place.path, name);
    const { stdout } = await skein(['crawl', seed, '--data', data, ...fast, ...more]);
    return { said: stdout.toString(), pages: collected(await pagesOf(data)) };
  };
  const there = web.mustFind().filter(url => url.startsWith(web.origins[0]!));
  const moved = await visit('moved');
  assert.ok(moved.said.includes(`${seed} has moved to ${location}, and the crawl followed`), moved.said);
  assert.deepEqual(moved.pages, there);
  const again = await skein(['crawl', '--data', join(place.path, 'moved'), ...fast]);
  assert.match(again.stdout.toString(), /Nothing left to fetch/, 'a later run stays there, too');
  const bound = await visit('bound', '--scope', new URL(seed).host);
  assert.ok(bound.said.includes(`${seed} redirects to ${location}, which is out of scope`), bound.said);
  location = there[1]!;
  const page = await visit('page');
  assert.ok(page.said.includes(`${seed} redirects to ${location}, which is out of scope`), page.said);
  assert.deepEqual(page.pages, [location]);
});

test('too few files that may be open are told in a sentence', {
  skip: process.platform !== 'linux' && 'the limit is read from /proc',
}, async () => {
  const within = ['sh', '-c', 'ulimit -n 28; exec "$@"', 'sh'];
  const { code, stderr } = await skein(['crawl', 'http://127.0.0.1:1/', '--data', join(place.path, 'few')], { within });
  assert.equal(code, 1);
  assert.match(stderr, /^skein: Only 28 files may be open at once.*\nRaise the limit/);
});

test('a port that is taken ends the command', async () => {
  await using web = await openWeb({ pagesPerServer: 2 });
  const { port } = new URL(web.origins[0]!);
  const data = join(place.path, 'taken');
  const { code, stderr } = await skein(['crawl', ...web.seeds, '--data', data, ...fast, '--workbench', port]);
  assert.equal(code, 2, stderr);
  assert.match(stderr, new RegExp(`Port ${port} is taken`));
  assert.equal((await skein(['crawl', ...web.seeds, '--data', data, ...fast])).code, 0, 'and it holds nothing');
  const again = await skein(['crawl', '--data', data, ...fast]);
  assert.match(again.stdout.toString(), /Nothing left to fetch.*skein refresh --data/);
});

test('a workbench that cannot be had is refused in a sentence, and ends', async () => {
  await using web = await openWeb({ pagesPerServer: 2 });
  const data = join(place.path, 'workbench');
  await skein(['crawl', ...web.seeds, '--data', data, ...fast]);
  const files = [makeCertificate(['localhost']), makeCertificate(['localhost'])].flatMap(({ cert, key }, i) => {
    writeFileSync(join(place.path, `cert-${i}.pem`), cert);
    writeFileSync(join(place.path, `key-${i}.pem`), key);
    return [join(place.path, `cert-${i}.pem`), join(place.path, `key-${i}.pem`)];
  });
  const [certificate, key, , otherKey] = files as [string, string, string, string];
  for (const [args, says] of [
    [['--listen', new URL(web.origins[0]!).port], /Port \d+ is taken/],
    [['--listen', '203.0.113.9:0', '--certificate', certificate, '--key', key], /is not an address of this machine/],
    [['--certificate', certificate, '--key', otherKey], /are not a PEM certificate and its private key/],
    [['--certificate', key, '--key', key], /are not a PEM certificate and its private key/],
    [['--certificate', certificate], /needs both/],
  ] as const) {
    const { code, stderr } = await skein(['workbench', '--data', data, ...args]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
  }
});

test('options are read from skein.config.json and skein.config.ts; the command line wins', async () => {
  await using web = await openWeb({ pagesPerServer: 12 });
  for (const [name, text] of [
    ['skein.config.json', `\ufeff${JSON.stringify({ pace: 0, allowPrivate: true, maxPages: 3, data: 'from-config' })}`],
    [
      'skein.config.ts',
      `const pages: number = 3;\nexport default { pace: 0, maxPages: pages, data: 'from-config' };\n`,
    ],
  ] as const) {
    const cwd = join(place.path, name);
    mkdirSync(cwd);
    writeFileSync(join(cwd, name), text);
    const { code, stdout, stderr } = await skein(['crawl', ...web.seeds, '--json'], { cwd });
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout.toString()) as { pages: number }).pages, 3, name);
    const more = await skein(['crawl', ...web.seeds, '--json', '--max-pages', '2'], { cwd });
    assert.equal((JSON.parse(more.stdout.toString()) as { pages: number }).pages, 2, name);
    assert.equal((await pagesOf(join(cwd, 'from-config'))).size > 0, true);
  }
});

test('a config file that another user of the machine laid there is not read, unless it is named', async context => {
  const cwd = join(place.path, 'shared');
  mkdirSync(cwd);
  const [file, proof] = [join(cwd, 'skein.config.ts'), join(cwd, 'proof')];
  const code = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(proof)}, 'ran');\nexport default {};\n`;
  const refused = async (how: string) => {
    const { code: end, stderr } = await skein(['crawl', 'not-a-url:'], { cwd });
    assert.equal(end, 2, stderr);
    assert.match(stderr, /another user of this machine.*\n.*--config skein\.config\.ts/s, how);
    assert.ok(!existsSync(proof), how);
  };
  writeFileSync(file, code);
  chmodSync(file, 0o666);
  await refused('everybody may write it');
  chmodSync(file, 0o644);
  if (process.getuid?.() !== 0) return context.diagnostic('files of another user can only be made by root');
  chownSync(file, 65_534, 65_534);
  await refused('it belongs to somebody else');
  renameSync(file, join(cwd, 'own.ts'));
  chownSync(join(cwd, 'own.ts'), 0, 0);
  symlinkSync('own.ts', file);
  lchownSync(file, 65_534, 65_534);
  await refused('somebody else has chosen what it leads to');
  await skein(['crawl', 'not-a-url:', '--config', 'skein.config.ts'], { cwd });
  assert.equal(readFileSync(proof, 'utf8'), 'ran', 'whoever names it trusts it');
});

test('a misspelt or wrong entry of a config file is named', async () => {
  const cwd = join(place.path, 'wrong-config');
  mkdirSync(cwd);
  const file = join(cwd, 'skein.config.json');
  for (const [text, says] of [
    ['{"conections": 2}', /"conections".*\n.*"connections"/s],
    ['{"pace": "often"}', /--pace \(from the config file\) cannot be "often"/],
    ['{"pace": ', /skein\.config\.json cannot be read/],
    ['[]', /must hold an object|cannot be/],
  ] as const) {
    writeFileSync(file, text);
    const { code, stderr } = await skein(['crawl', 'http://127.0.0.1:1/'], { cwd });
    assert.equal(code, 2, `${text}: ${stderr}`);
    assert.match(stderr, says);
  }
});

test('seeds come from a file or from standard input, with comments', async () => {
  await using web = await openWeb({ servers: 2, pagesPerServer: 3, crossLinks: 0 });
  // As an editor of another system leaves it.
  const seeds = `\ufeff# two servers\r\n${web.origins[0]}/\r\n\r\n  # or more\r\n${web.origins[1]}/ # the second\r\n`;
  const data = join(place.path, 'from-input');
  const { code, stdout, stderr } = await skein(['crawl', '--seeds', '-', '--data', data, ...fast, '--json'], {
    input: seeds,
  });
  assert.equal(code, 0, stderr);
  assert.equal((JSON.parse(stdout.toString()) as { pages: number }).pages, 6);
  const file = join(place.path, 'seeds.txt');
  writeFileSync(file, seeds);
  const summary = await skeinJson('crawl', '--seeds', file, '--data', join(place.path, 'from-file'), ...fast);
  assert.equal(summary['pages'], 6);
});

test('a reader that goes away is no error, and a watcher that goes away stops no crawl', async () => {
  await using web = await openWeb({ pagesPerServer: 400, links: 1 });
  const data = join(place.path, 'pipes');
  const crawl = shell(
    `"${process.execPath}" bin/skein.js crawl ${web.seeds[0]} --data "${data}" --pace 0 2>&1 >/dev/null | true`,
  );
  assert.equal(await crawl, 0);
  assert.equal((await skeinJson('crawl', ...web.seeds, '--data', data, ...fast))['pages'], 0, 'it was complete');
  const list = `set -o pipefail; "${process.execPath}" bin/skein.js pages --limit 100000 --data "${data}" | head -1`;
  assert.equal(await shell(list), 0);
  if (!existsSync('/dev/full')) return;
  const full = await skeinInto('/dev/full', 'pages', '--data', data);
  assert.deepEqual(full, { code: 5, stderr: 'skein: Standard output cannot be written: no space left on device.\n' });
});

/** With its standard output in a file. */
function skeinInto(file: string, ...args: string[]): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve, reject) => {
    const out = openSync(file, 'w');
    const child = spawn(process.execPath, ['bin/skein.js', ...args], { cwd: root, stdio: ['ignore', out, 'pipe'] });
    const said: Buffer[] = [];
    child.stderr!.on('data', chunk => said.push(chunk as Buffer));
    child.on('error', reject);
    child.on('close', code => {
      closeSync(out);
      resolve({ code, stderr: Buffer.concat(said).toString() });
    });
  });
}

function shell(script: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script], { cwd: root, stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', resolve);
  });
}

test('with --json nothing found is an empty answer, not a sentence', async () => {
  const data = join(place.path, 'nothing');
  const url = 'http://127.0.0.1:1/';
  assert.equal((await skein(['crawl', url, '--data', data, ...fast, '--json'])).code, 1); // nobody listens there
  const answers = new Map<string, unknown[]>();
  const asked = ['status', 'account', 'changes', 'outposts', 'verify', 'search geese', 'pages --outcome gone'];
  for (const words of [...asked, `links ${url}`, `history ${url}`, `why ${url}`, `show ${url}`]) {
    const { code, stdout, stderr } = await skein([...words.split(' '), '--data', data, '--json']);
    assert.deepEqual([code, stderr], [0, ''], words);
    const lines = stdout.toString().split('\n').filter(Boolean);
    answers.set(
      words,
      lines.map(line => JSON.parse(line)),
    );
  }
  assert.deepEqual(answers.get('changes'), []);
  assert.deepEqual(answers.get('pages --outcome gone'), []);
  assert.deepEqual((answers.get('outposts')![0] as { machines: unknown[] }).machines, []);
  assert.deepEqual((answers.get('search geese')![0] as { hits: unknown[] }).hits, []);
  assert.equal((await skein(['outposts', '--data', join(place.path, 'no-such-place'), '--json'])).code, 3);
});
