import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCollection, makePartition, readCollection } from '../../src/ledger/collection/collection.ts';

function withDirectory(work: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'skein-collection-'));
  try {
    work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a collection of one partition is its directory, and nothing else is written', () => {
  withDirectory(directory => {
    assert.deepEqual(makeCollection(directory).here, [{ id: 0, directory }]);
    assert.deepEqual(makeCollection(directory, 1), { directory, id: '', partitions: 1, here: [{ id: 0, directory }] });
    assert.equal(existsSync(join(directory, 'collection.json')), false);
  });
});

test('several partitions have a directory each, and those that are here are listed', () => {
  withDirectory(directory => {
    const made = makeCollection(directory, 16);
    assert.equal(made.partitions, 16);
    assert.deepEqual(made.here, []);
    for (const id of [11, 3]) makePartition(made, id);
    mkdirSync(join(directory, 'partitions', '0099'));
    mkdirSync(join(directory, 'partitions', 'other'));
    const read = readCollection(directory);
    assert.deepEqual(
      read.here.map(place => place.id),
      [3, 11],
    );
    assert.equal(read.here[0]!.directory, join(directory, 'partitions', '0003'));
    assert.equal(read.id, made.id);
    assert.deepEqual(JSON.parse(readFileSync(join(directory, 'collection.json'), 'utf8')), {
      version: 1,
      id: made.id,
      partitions: 16,
    });
  });
});

test('the number of partitions is fixed when a collection is made', () => {
  withDirectory(directory => {
    makeCollection(directory, 4);
    assert.equal(makeCollection(directory).partitions, 4);
    assert.equal(makeCollection(directory, 4).partitions, 4);
    assert.throws(() => makeCollection(directory, 8), /was made with 4 partitions, which cannot become 8\./);
    assert.throws(() => makeCollection(directory, 1), /was made with 4 partitions/);
  });
  withDirectory(directory => {
    writeFileSync(join(directory, 'ledger.db'), '');
    assert.throws(() => makeCollection(directory, 16), /was made with one partition, which cannot become 16\./);
  });
  withDirectory(directory => {
    assert.throws(() => makeCollection(directory, 0), /1 to 4096 partitions, not 0/);
    assert.throws(() => makeCollection(directory, 5000), /1 to 4096 partitions, not 5000/);
    assert.throws(() => makeCollection(directory, 2.5), /1 to 4096 partitions, not 2\.5/);
  });
});

test('a file that says nothing of use is called damaged, a newer one too new', () => {
  withDirectory(directory => {
    const file = join(directory, 'collection.json');
    for (const text of ['', 'null', '[]', '{"version":1}', '{"version":1,"id":"x","partitions":0}']) {
      writeFileSync(file, text);
      assert.throws(() => readCollection(directory), { code: 'damaged' }, text);
    }
    writeFileSync(file, '{"version":2,"id":"x","partitions":4}');
    assert.throws(() => readCollection(directory), { code: 'data-too-new' });
  });
});
