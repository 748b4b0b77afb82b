/**
 * Three levels of machines, each in a network of its own (namespaces, cables, a switch): cables are pulled out and
 * plugged in again, every level is killed in turn, and what was collected is what was there.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  addMachine,
  connect,
  disconnect,
  HOME,
  impossible,
  inWorld,
  plug,
  SITE,
} from '../../bench/migration/network.ts';
import { visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, type Running, skeinJson, start, workplace } from './skein.ts';

const PAGES = 60;
const SERVERS = [8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008];
/** Page n of a server links to pages 2n + 1 and 2n + 2 of it, the first to the other servers. Says who asks. */
const WEB = `
for (const port of [${SERVERS}]) require('node:http').createServer((request, response) => {
  const page = Number(request.url.slice(1) || 0);
  if (!(page < ${PAGES})) return response.writeHead(404).end();
  process.stdout.write(request.socket.remoteAddress + '\\n');
  const links = [2 * page + 1, 2 * page + 2].filter(link => link < ${PAGES}).map(link => '/' + link);
  if (page === 0) links.push(...[${SERVERS}].map(other => 'http://${SITE}:' + other + '/'));
  const text = Array.from({ length: 200 }, (_, i) => ((port * 131 + page * 7919 + i * i * 31) % 99991).toString(36)).join(' ');
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end(text + links.map(link => '<a href="' + link + '">' + link + '</a>').join(' '));
}).listen(port, '${SITE}');`;

function urls(): string[] {
  const paths = Array.from({ length: PAGES }, (_, page) => (page === 0 ? '/' : `/${page}`));
  return SERVERS.flatMap(port => paths.map(path => `http://${SITE}:${port}${path}`)).sort();
}

interface Machine {
  readonly name: string;
  readonly directory: string;
  readonly address: string;
  running: Running;
}

const PORT = 7700;

/** Joins whoever keeps its members in `parent`, in a network of its own. */
async function machine(name: string, place: string, parent: { directory: string; address: string }): Promise<Machine> {
  const address = addMachine(name, '');
  const listen = ['--listen', `${parent.address}:${PORT}`];
  const { token } = await skeinJson<{ token: string }>('outpost', 'invite', '--data', parent.directory, ...listen);
  const directory = join(place, name);
  const words = ['outpost', 'join', token, '--name', name, '--least-pace', '0', ...optionsOf(directory, address)];
  return { name, directory, address, running: start(words, { within: inWorld(name) }) };
}

function optionsOf(directory: string, address: string): string[] {
  return ['--directory', directory, '--set', 'threads=1', '--listen', `${address}:${PORT}`, '--allow-private'];
}

test('cables are pulled, all levels are killed in turn, and nothing is lost', {
  skip: impossible() || false,
}, async () => {
  using place = workplace();
  const data = join(place.path, 'home');
  connect('');
  const asked: string[] = [];
  const [command, ...words] = [...inWorld('site'), process.execPath, '-e', WEB];
  const web: ChildProcess = spawn(command!, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  web.stdout!.on('data', (lines: Buffer) => asked.push(...lines.toString().trim().split('\n')));
  const until = async (count: number) => {
    while (asked.length < count) await pause(20);
  };
  const machines: Machine[] = [];
  let home: Running | undefined;
  try {
    for (const name of ['a', 'b', 'c']) {
      const parent = machines.at(-1) ?? { directory: data, address: HOME };
      machines.push(await machine(name, place.path, parent));
    }
    const crawl = [
      ...['crawl', `http://${SITE}:${SERVERS[0]}/`, '--data', data, '--scope', '*', '--allow-private', '--json'],
      ...['--pace', '0.1', '--set', 'threads=0', '--set', 'audit=0', '--listen', `${HOME}:${PORT}`, '--levels', '3'],
    ];
    // The tree meets first, so that every level is there when the errands leave.
    home = start([...crawl, '--max-pages', '1'], { within: inWorld('home') });
    await Promise.all(machines.map(({ running }) => running.says('Serving')));
    await home.ended;
    home = start(crawl, { within: inWorld('home') });
    for (const [turn, { name }] of machines.entries()) {
      await until(40 + turn * 60);
      plug(name, 'down');
      await pause(1500);
      plug(name, 'up');
    }
    for (const [turn, killed] of [...machines].reverse().entries()) {
      await until(260 + turn * 60);
      killed.running.child.kill('SIGKILL');
      await killed.running.ended;
      const { directory, address, name } = killed;
      killed.running = start(['outpost', 'run', ...optionsOf(directory, address)], { within: inWorld(name) });
    }
    const { code, stderr } = await home.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(collected(await pagesOf(data)), urls());
    assert.deepEqual(visitedTwice(data), []);
    const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
    assert.deepEqual(books.problems, []);
  } finally {
    for (const { running } of machines) running.child.kill('SIGKILL');
    home?.child.kill('SIGKILL');
    web.kill('SIGKILL');
    await disconnect();
  }
});
