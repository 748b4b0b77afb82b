import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSearch } from '../../src/search/index.ts';
import { randomly } from '../random.ts';
import { directory, found } from './documents.ts';

const program = fileURLToPath(new URL('./writer-process.ts', import.meta.url));

test('kill -9 while it writes: the index holds exactly what its cursor says, and goes on', async context => {
  const file = join(directory(context), 'search.db');
  const random = randomly(5);
  let before = 0;
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    for (let dots = 1 + random.below(4); dots > 0; dots--) await once(child.stdout, 'data');
    await new Promise(resolve => setTimeout(resolve, random.below(10)));
    child.kill('SIGKILL');
    await once(child, 'exit');

    const search = openSearch(file);
    const reached = Number(search.updates.cursor());
    assert.ok(reached > before, 'it went on where it was');
    before = reached;
    assert.deepEqual(found(search, `state${reached}`), [1]);
    assert.deepEqual(found(search, `state${reached - 1}`), []);
    assert.deepEqual(found(search, `page${reached}`), [reached]);
    const kept = reached - Math.floor(reached / 5);
    assert.equal(search.counts().documents, kept);
    assert.equal(search.query('batch').total, kept - 1); // page 1 only says its state
    search.close();
    const database = new DatabaseSync(file);
    assert.equal(database.prepare('PRAGMA integrity_check').get()!['integrity_check'], 'ok');
    database.exec("INSERT INTO terms0(terms0) VALUES ('integrity-check')");
    database.close();
  }
});
