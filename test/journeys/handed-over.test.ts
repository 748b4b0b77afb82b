/** Where an old Node starts the command, it hands over to a newer one; what happens to the first happens to the other. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openWeb } from '../web/web.ts';
import { fast, start, workplace } from './skein.ts';

/** Makes the door believe that this Node is too old. */
const OLD = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.1.0'}})`;
const onLinux = existsSync('/proc/self/task');

test('kill -9 of the process that was started ends the one that works', {
  skip: !onLinux && 'needs /proc',
}, async () => {
  await using web = await openWeb({ seed: 5, pagesPerServer: 60 });
  using place = workplace();
  const held = web.hold(10);
  const running = start(['crawl', ...web.seeds, '--data', place.path, ...fast], { node: ['--import', OLD] });
  await held;
  const { pid } = running.child;
  const worker = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  assert.match(worker, /^\d+$/, 'one process works for the other');
  running.child.kill('SIGKILL');
  for (let looks = 0; looks < 300 && existsSync(`/proc/${worker}`); looks++)
    await new Promise(resolve => setTimeout(resolve, 100));
  assert.equal(existsSync(`/proc/${worker}`), false, 'nobody is left behind working');
  web.release();
});

test('what is handed over ends as it does by itself', async () => {
  const { code, stdout } = await start(['--version'], { node: ['--import', OLD] }).ended;
  assert.equal(code, 0);
  assert.match(stdout.toString(), /^\d/);
});
