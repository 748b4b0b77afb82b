/** A workbench that was opened with a run goes on after it, for whoever sits before the terminal. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { html, openPages, prose } from './pages.ts';
import { fast, root, workplace } from './skein.ts';

const SCRIPT = '/usr/bin/script';

test('the workbench of a crawl answers after its end, until Ctrl-C', { skip: !existsSync(SCRIPT) }, async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Front', [prose(1)], []) });
  const words = [process.execPath, join(root, 'bin/skein.js'), 'crawl', `${pages.origin}/`, ...fast];
  const line = [...words, '--data', place.path, '--workbench', '0'].map(word => `'${word}'`).join(' ');
  // A terminal of its own: without one the command ends with its run.
  // The shell makes way: one that waits would die of the Ctrl-C itself, and its end would be counted for ours.
  const child = spawn(SCRIPT, ['-qec', `exec ${line}`, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve));
  let said = '';
  const isThere = new Promise<void>(resolve => {
    child.stdout.on('data', bytes => {
      said += bytes;
      if (said.includes('Stop it with')) resolve();
    });
  });
  await Promise.race([isThere, ended]);
  const origin = /The workbench is still running: (http:\/\/127\.0\.0\.1:\d+)\//.exec(said)?.[1];
  assert.ok(origin, said);
  assert.match(said, /1 page/);
  const answer = await fetch(`${origin}/api/v1/pages`);
  assert.equal(answer.status, 200);
  child.stdin.write('\u0003');
  child.stdin.end();
  assert.equal(await ended, 0);
});
