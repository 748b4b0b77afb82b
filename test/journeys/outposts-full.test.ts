/** The disk of an outpost fills up in the middle of a crawl. Needs a file system of its own, so root on Linux only. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { openWeb } from '../web/web.ts';
import { askedAgain, invite, startOutpost, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, skeinJson, start, workplace } from './skein.ts';

const MEGABYTE = 1 << 20;

/** A small disk at `path`; undefined where that is not allowed. */
function mountSmall(path: string): Disposable | undefined {
  mkdirSync(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'skein-test', path], { stdio: 'pipe' });
  } catch {
    return undefined; // no right, or no such tool: the test says that it is skipped
  }
  return { [Symbol.dispose]: () => execFileSync('umount', [path]) };
}

/** Writes until nothing more fits; returns what takes it away again. */
function fill(path: string): () => void {
  const files: string[] = [];
  for (let size = MEGABYTE; size >= 1; ) {
    const file = join(path, `ballast-${files.length}`);
    files.push(file);
    try {
      writeFileSync(file, new Uint8Array(size));
    } catch {
      size = Math.floor(size / 2); // what fits of it stays
    }
  }
  return () => {
    for (const file of files) rmSync(file, { force: true });
  };
}

async function stateOf(data: string, machine: string): Promise<string | undefined> {
  const tree = await skeinJson<{ machines: { name: string; state: string }[] }>('outposts', '--data', data);
  return tree.machines.find(({ name }) => name === machine)?.state;
}

test('a full disk at an outpost is said at both ends, loses nothing, and with room it goes on', async t => {
  using place = workplace();
  const small = join(place.path, 'small');
  using mounted = mountSmall(small);
  if (!mounted) return t.skip('a small file system can only be mounted by root');
  await using web = await openWeb({ seed: 41, servers: 3, pagesPerServer: 60, paragraphs: 20, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const outpost = await startOutpost('near', small, await invite(data, port));
  const home = start([
    ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0.05', '--json'],
    ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`, ...UNAUDITED],
  ]);
  try {
    while (web.requests() < 40) await new Promise(resolve => setTimeout(resolve, 20));
    const empty = fill(small);
    await home.says('The outpost near accepts no errands: The disk of the outpost is full.');
    await outpost.running.says('Accepting no errands for now: The disk of the outpost is full.');
    // A second terminal sees it as soon as home writes the state of its machines, once a second.
    while ((await stateOf(data, 'near')) !== 'full') await new Promise(resolve => setTimeout(resolve, 200));
    empty();
    await home.says('The outpost near accepts errands again.');
    await outpost.running.says('Accepting errands again');
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    assert.deepEqual(askedAgain(web), []);
    assert.deepEqual((await skeinJson('verify', '--data', data))['problems'], []);
  } finally {
    home.child.kill('SIGKILL');
    await outpost.kill();
  }
});
