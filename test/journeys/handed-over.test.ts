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

test('secrets in the command are in the list of processes of neither', {
  skip: !onLinux && 'needs /proc',
}, async () => {
  await using web = await openWeb({ seed: 5, pagesPerServer: 60 });
  using place = workplace();
  const secret = 'geese-fly-south';
  const given: Record<string, readonly string[]> = {
    'an invitation': ['outpost', 'join', secret, '--once'],
    'the key of a webhook': ['notify', 'add', 'x', '--webhook', `https://hooks.example/${secret}`, '--secret', secret],
    'a password of mail': ['notify', 'add', 'x', '--mail', 'a@b.example', `--smtp=smtp://anna:${secret}@mail.example`],
    'a token of a site': ['subscriptions', '--token', `https://site.example=${secret}`],
    'a password of the engine': ['crawl', ...web.seeds, '--engine', `nats://anna:${secret}@127.0.0.1:1`],
  };
  for (const [what, args] of Object.entries(given)) {
    // Stopped as soon as it runs: what is shown then is shown for as long as it works.
    const stopped = `data:text/javascript,setImmediate(()=>setInterval(()=>{},1000));process.exit=()=>{}`;
    const { child, ended } = start([...args, '--data', place.path], { node: ['--import', OLD, '--import', stopped] });
    const { pid } = child;
    const shown = () => {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
      return [String(pid), ...children].map(commandOf).join('\n');
    };
    for (let looks = 0; looks < 200 && shown().includes(secret); looks++)
      await new Promise(resolve => setTimeout(resolve, 50));
    const last = shown();
    child.kill('SIGKILL');
    await ended;
    assert.equal(last.includes(secret), false, `${what}: ${last}`);
  }
});

/** As every user of the machine sees it; empty = it has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('what is handed over ends as it does by itself', async () => {
  const { code, stdout } = await start(['--version'], { node: ['--import', OLD] }).ended;
  assert.equal(code, 0);
  assert.match(stdout.toString(), /^\d/);
});
