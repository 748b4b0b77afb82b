/** Cgroups of cages, by the kernel's own: in a group that is made for this test where the machine lets it, else none at all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { endGroup, findGroups, makeGroup } from '../../src/outpost/cages/cage-group.ts';

const source = new URL('../../src/outpost/cages/cage-group.ts', import.meta.url).href;

/** A group of this test's own with something to share out, as a unit with Delegate= has it. */
function delegated(): { readonly group: string; readonly controller: string; remove(): Promise<void> } | undefined {
  const mount = /^\S+ \S+ \S+ \/ (\/\S*) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  if (mount === undefined) return undefined;
  const group = join(mount, `skein-test-${process.pid}`);
  try {
    const given = readFileSync(join(mount, 'cgroup.controllers'), 'utf8').split(/\s+/);
    const controller = ['memory', 'pids', 'hugetlb', 'cpu'].find(each => given.includes(each));
    if (controller === undefined) return undefined;
    const shared = join(mount, 'cgroup.subtree_control');
    const isNew = !readFileSync(shared, 'utf8').split(/\s+/).includes(controller);
    if (isNew) writeFileSync(shared, `+${controller}`);
    mkdirSync(group);
    const remove = async () => {
      await gone(group);
      if (isNew) writeFileSync(shared, `-${controller}`);
    };
    return { group, controller, remove };
  } catch {
    return undefined; // not ours to make
  }
}

/** Runs a script in the group, together with as many other processes of it; what it prints. */
async function inGroup(group: string, script: string, beside = ''): Promise<string> {
  const enter = `echo 0 >"$1/cgroup.procs"; ${beside} exec "$2" --input-type=module --eval "$3"`;
  const child = spawn('/bin/sh', ['-c', enter, 'sh', group, process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const piece of child.stdout) said += piece;
  return said;
}

async function gone(group: string): Promise<void> {
  const below = () => readdirSync(group, { withFileTypes: true }).filter(each => each.isDirectory());
  for (let i = 0; i < 100 && readFileSync(join(group, 'cgroup.events'), 'utf8').includes('populated 1'); i++)
    await setTimeout(50);
  for (const { name } of below()) rmdirSync(join(group, name));
  rmdirSync(group);
}

const place = delegated();

test('a cage has a group of its own, which ends with all that is in it; what a dead process left is swept', async () => {
  if (!place) {
    // Nothing is given here: then nothing may be taken, and the limits of the process are all there is.
    assert.equal(findGroups({ needed: ['no such controller'], welcome: [] }), undefined);
    return;
  }
  const { group, controller } = place;
  try {
    const script = `
      import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
      import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      const { endGroup, findGroups, makeGroup } = await import('${source}');
      const here = ${JSON.stringify(group)};
      mkdirSync(here + '/skein-cage-999999999-1');
      const needs = { needed: ['${controller}'], welcome: ['no such controller'] };
      const parent = findGroups(needs);
      const again = findGroups(needs);
      const swept = !existsSync(here + '/skein-cage-999999999-1');
      const cage = makeGroup(parent, 64 << 20);
      const child = spawn('/bin/sh', ['-c', 'echo 0 >"$1/cgroup.procs"; sleep 300 & sleep 300', 'sh', cage], { stdio: 'ignore' });
      await once(child, 'spawn');
      while (readFileSync(cage + '/cgroup.procs', 'utf8').split('\\n').length < 4) await new Promise(r => setTimeout(r, 20));
      endGroup(cage);
      const [, signal] = await once(child, 'exit');
      while (existsSync(cage)) await new Promise(r => setTimeout(r, 20));
      console.log(JSON.stringify({ parent, again, swept, signal }));`;
    const said = JSON.parse(await inGroup(group, script)) as object;
    assert.deepEqual(said, { parent: group, again: group, swept: true, signal: 'SIGKILL' });
    const look = `const { findGroups } = await import('${source}');
      console.log(String(findGroups({ needed: ['${controller}'], welcome: [] })));`;
    writeFileSync(join(group, 'cgroup.subtree_control'), `-${controller}`);
    const busy = await inGroup(group, look, 'sleep 2 &');
    assert.equal(busy.trim(), 'undefined', 'with others in it, it is left alone');
  } finally {
    await place.remove();
  }
});

test('the system ends a cage that takes more memory than its group has', async context => {
  const groups = findGroups();
  const group = groups && makeGroup(groups, 64 << 20);
  if (!group) return context.diagnostic('no group can be made here: cage.test.ts shows the limits of the process');
  const grow = 'const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1));';
  const words = ['-c', 'echo 0 >"$1/cgroup.procs"; exec "$2" --eval "$3"', 'sh', group, process.execPath, grow];
  const child = spawn('/bin/sh', words, { stdio: 'ignore' });
  const signal = await new Promise(resolve => child.once('exit', (_, by) => resolve(by)));
  assert.equal(signal, 'SIGKILL');
  endGroup(group);
});
