/** One process works in a site's directory, however long its path is; and nobody else can stand in its place. */
import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { ask, hold } from '../../src/site/journal/lock.ts';
import { folder } from './site-here.ts';

for (const [what, more] of Object.entries({ short: 'state', long: 'a-long-name-'.repeat(15) }))
  test(`a ${what} path: the socket lies in the directory`, async context => {
    const directory = join(folder(context), more);
    assert.deepEqual(await ask(directory), { held: false });
    mkdirSync(directory);
    const before = readdirSync(tmpdir());
    const held = await hold(directory, () => ({ pages: 7 }));
    assert.deepEqual(await ask(directory), { held: true, status: { pages: 7 } });
    assert.ok(lstatSync(join(directory, 'lock')).isSocket());
    const shared = readdirSync(tmpdir()).filter(name => !before.includes(name) && /^skein-site-\d+-/.test(name));
    assert.deepEqual(shared, [], 'nothing lies where others could have been first');
    await assert.rejects(
      hold(directory, () => ({})),
      (error: unknown) => error instanceof SkeinError && error.code === 'data-in-use',
    );
    await new Promise(resolve => held.close(resolve));
    assert.deepEqual(await ask(directory), { held: false });
    const again = await hold(directory, () => ({}));
    await new Promise(resolve => again.close(resolve));
  });
