/** A tree of machines that ssh reaches: the crawler goes on from one to the next, and leaves nothing behind on any. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { nameBelow } from '../../src/transfer/ssh/machine-tree.ts';
import { noSshd, openSshd, type Sshd } from '../transfer/sshd.ts';
import { openWeb } from '../web/web.ts';
import { askedAgain, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, skein, skeinJson, start, workplace } from './skein.ts';

const missing = noSshd() || false;
const node = dirname(process.execPath);

/** One behind the other: each finds the way to the next, and home only to the first. */
async function openChain(place: string, count: number): Promise<Sshd[] & AsyncDisposable> {
  const machines: Sshd[] = [];
  for (let i = count; i > 0; i--) {
    const own = join(place, `machine-${i}`);
    mkdirSync(own);
    const next = machines[0];
    machines.unshift(await openSshd(own, { node: next ? `${next.bin}:${node}` : node }));
  }
  return Object.assign(machines, {
    async [Symbol.asyncDispose]() {
      for (const machine of machines) await machine[Symbol.asyncDispose]();
    },
  });
}

async function through(first: Sshd, ...args: string[]) {
  const path = process.env['PATH'];
  process.env['PATH'] = `${first.bin}:${path}`;
  try {
    return await start(args).ended;
  } finally {
    process.env['PATH'] = path;
  }
}

const common = ['--scope', '*', '--allow-private', '--pace', '0', '--json', ...UNAUDITED];

/** Everybody who visited something. */
function visitors(data: string): Set<string> {
  const ledger = openLedger(data);
  const rows = ledger['database'].prepare('SELECT DISTINCT outpost FROM visits').all();
  ledger.close();
  return new Set(rows.map(row => row['outpost'] as string));
}

async function emptied(machines: readonly Sshd[]): Promise<void> {
  for (const { temporary } of machines) {
    while (readdirSync(temporary).length > 0) await new Promise(resolve => setTimeout(resolve, 50));
  }
}

test('skein crawl --outpost ssh://a/ssh://b/ssh://c: each is the centre for the next', { skip: missing }, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 23, servers: 9, pagesPerServer: 25 });
  await using machines = await openChain(place.path, 3);
  const data = join(place.path, 'home');
  const way = machines.map(({ url }) => url).join('/');
  const ran = await through(machines[0]!, 'crawl', ...web.seeds, '--data', data, ...common, '--outpost', way);
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
  assert.deepEqual(visitedTwice(data), []);
  assert.deepEqual(askedAgain(web), []);
  const [a, b, c] = machines.map(({ url }) => url) as [string, string, string];
  const known = [a, `${a}/${nameBelow(b)}`, `${a}/${nameBelow(b)}/${nameBelow(c)}`];
  const seen = visitors(data);
  for (const one of seen) assert.ok(known.includes(one), one);
  assert.ok(seen.has(known[2]!), `the third level took part: ${[...seen].join(', ')}`);
  await emptied(machines);
  const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
  assert.deepEqual(books.problems, []);
  const { line } = await skeinJson<{ line: Record<'servers' | 'outposts' | 'elsewhere', Record<string, number>> }>(
    ...['account', '--data', data],
  );
  assert.deepEqual(line.servers, { up: 0, down: 0 }, 'home fetched nothing');
  assert.ok(line.outposts['up']! > 10_000 && line.outposts['down']! > 10_000, JSON.stringify(line));
  assert.ok(line.elsewhere['down']! > 100_000, JSON.stringify(line));
  assert.match((await skein(['account', '--data', data])).stdout.toString(), /home's own line .*\n.*to servers/);
});

test('--levels is the counter: at 1 nobody migrates further', { skip: missing }, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 24, servers: 4, pagesPerServer: 5 });
  await using machines = await openChain(place.path, 2);
  const data = join(place.path, 'home');
  const way = machines.map(({ url }) => url).join('/');
  const ran = await through(
    machines[0]!,
    ...['crawl', ...web.seeds, '--data', data, ...common, '--outpost', way, '--levels', '1'],
  );
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual([...visitors(data)], [machines[0]!.url]);
});

test('a tree in a file; a machine that cannot be reached is told of, and the others do its work', {
  skip: missing,
}, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 25, servers: 3, pagesPerServer: 8 });
  await using machines = await openChain(place.path, 1);
  const data = join(place.path, 'home');
  const file = join(place.path, 'machines.txt');
  const [only] = machines;
  writeFileSync(file, `${only!.url}\n  ${only!.url.replace(/\d+$/, '1')}  # nobody listens there\n`);
  const ran = await through(only!, 'crawl', ...web.seeds, '--data', data, ...common, '--outpost', file);
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
  assert.match(ran.stderr, /cannot be used/);
  await emptied(machines);
});

/** The ssh that a process of ours has started. */
function sshOf(pid: number): number | undefined {
  const children = execFileSync('sh', ['-c', `ps -o pid=,comm= --ppid ${pid} || true`], { encoding: 'utf8' });
  return children
    .split('\n')
    .map(line => /^\s*(\d+)\s+ssh/.exec(line)?.[1])
    .map(Number)
    .find(found => found > 0);
}

test('a line that breaks: the branch comes back, nothing is lost, nothing stays behind', {
  skip: missing,
}, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 26, servers: 6, pagesPerServer: 40 });
  await using machines = await openChain(place.path, 2);
  const data = join(place.path, 'home');
  const way = machines.map(({ url }) => url).join('/');
  const path = process.env['PATH'];
  process.env['PATH'] = `${machines[0]!.bin}:${path}`;
  const paced = ['--scope', '*', '--allow-private', '--pace', '0.05', ...UNAUDITED];
  const running = start(['crawl', ...web.seeds, '--data', data, ...paced, '--outpost', way]);
  process.env['PATH'] = path;
  while (web.log.length < 60) await new Promise(resolve => setTimeout(resolve, 20));
  process.kill(sshOf(running.child.pid!)!, 'SIGKILL');
  const ran = await running.ended;
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stderr, /The connection to .* is back/);
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
  assert.deepEqual(visitedTwice(data), []);
  await emptied(machines);
});
