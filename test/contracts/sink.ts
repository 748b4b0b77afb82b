/** What every sink must do: it has all that was brought, once by id or name, in order, also after kill -9. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { skein } from '../journeys/skein.ts';

export interface Place {
  /** As `--to` names it. */
  readonly target: string;
  /** What it has, one text for each part that it counts, in order. */
  has(): readonly string[] | Promise<readonly string[]>;
  /** From now on it takes nothing more and answers nothing; undefined = it cannot be made to. */
  hang?: (parts: number) => void;
  go?: () => void;
}

export interface Source {
  readonly data: string;
  /** Makes news, in the collection. */
  change(): Promise<void>;
}

export function checkSink(name: string, open: () => Place, source: () => Source): void {
  const bring = (data: string, target: string) =>
    skein(['changes', '--format', 'chunks', '--to', target, '--data', data]);
  const lines = async (data: string) =>
    (await skein(['changes', '--format', 'chunks', '--after', '0', '--data', data])).stdout.toString();

  test(`${name}: all that came is brought, then only what came since`, async () => {
    const { data, change } = source();
    const place = open();
    assert.equal((await bring(data, place.target)).code, 0);
    const first = await place.has();
    assert.equal(first.join(''), await lines(data));
    assert.equal((await bring(data, place.target)).code, 0);
    assert.deepEqual(await place.has(), first, 'nothing came, nothing is brought');
    await change();
    assert.equal((await bring(data, place.target)).code, 0);
    const later = (await place.has()).slice(first.length).join('');
    assert.match(later, /"kind":"(?:changed|added)"/);
    assert.ok(later.length < first.join('').length / 2);
  });

  test(`${name}: killed on the way, it has everything once`, async () => {
    const { data } = source();
    const place = open();
    place.hang?.(1);
    const words = ['bin/skein.js', 'changes', '--format', 'chunks', '--to', place.target, '--data', data];
    const child: ChildProcess = spawn(process.execPath, words, { cwd: join(import.meta.dirname, '..', '..') });
    const begun = async () => (await place.has()).length > 0;
    while (!(await begun()) && child.exitCode === null) await new Promise(resolve => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    place.go?.();
    assert.equal((await bring(data, place.target)).code, 0);
    assert.equal((await place.has()).join(''), await lines(data));
  });
}
