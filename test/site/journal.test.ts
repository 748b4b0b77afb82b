/** The journal: nothing that was told is lost, whatever happens to the process or to the file. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Bodies } from '../../src/site/journal/bodies.ts';
import { Journal } from '../../src/site/journal/journal.ts';
import type { JournalPage } from '../../src/site/journal/lines.ts';
import { folder } from './site-here.ts';

const made = (path: string, text = path): JournalPage => ({
  ...{ path, source: 'files', kind: 'page', type: 'text/html', title: `Title of ${text}`, bytes: text.length },
  ...{ content: hash('sha256', text, 'hex').slice(0, 32), body: hash('sha256', text, 'hex'), time: 1_700_000_000_000 },
});
const now = () => 1_800_000_000_000;
const create = (path: string) => ({ operation: 'create' as const, page: made(path) });

test('a torn last line is cut, wherever the crash was, and the journal goes on', context => {
  const directory = folder(context);
  const file = join(directory, 'journal');
  const journal = new Journal({ directory, now });
  journal.begin([made('/a')]);
  const start = journal.cursor;
  journal.append([create('/b')]);
  const whole = readFileSync(file).length;
  const before = journal.cursor;
  journal.append([create('/c')]);
  journal.close();
  const bytes = readFileSync(file);
  for (let length = whole; length < bytes.length; length++) {
    writeFileSync(file, bytes);
    truncateSync(file, length);
    const again = new Journal({ directory, now });
    assert.deepEqual(again.cursor, before, `cut at ${length}`);
    again.append([create('/d')]);
    again.close();
    const third = new Journal({ directory, now });
    assert.deepEqual([...third.pages.keys()], ['/a', '/b', '/d']);
    assert.equal(third.since(start).kind, 'changes');
    third.close();
  }
});

test('a title cannot end a field or a line', context => {
  const directory = folder(context);
  const journal = new Journal({ directory, now });
  journal.begin([{ ...made('/a'), title: 'one\ttwo\nthree' }]);
  journal.close();
  assert.equal(new Journal({ directory, now }).pages.get('/a')!.title, 'one two three');
});

test('a line that is not what was written is damage, and is said', context => {
  const directory = folder(context);
  const file = join(directory, 'journal');
  const journal = new Journal({ directory, now });
  journal.begin([made('/a')]);
  journal.append([create('/b'), create('/c')]);
  journal.close();
  const text = readFileSync(file, 'utf8');
  for (const damaged of [
    text.replace('\t/b\t', '\t/x\t'),
    text.replace('skein-journal', 'skein'),
    `nothing\n${text}`,
  ]) {
    writeFileSync(file, damaged);
    assert.throws(() => new Journal({ directory, now }), { code: 'damaged' });
  }
});

test('what is too old is told apart from what never was', context => {
  const directory = folder(context);
  const journal = new Journal({ directory, now, keep: 10 });
  journal.begin([]);
  const first = journal.cursor;
  for (let i = 0; i < 15; i++) journal.append([create(`/${i}`)]);
  const middle = journal.cursor;
  for (let i = 15; i < 21; i++) journal.append([create(`/${i}`)]);
  assert.equal(journal.first, 11);
  assert.deepEqual(journal.since(first), { kind: 'too-old' });
  const since = journal.since(middle);
  assert.deepEqual(
    since.kind === 'changes' && since.entries.map(({ page }) => page.path),
    [15, 16, 17, 18, 19, 20].map(i => `/${i}`),
  );
  assert.deepEqual(journal.since({ ...middle, sequence: 22 }), { kind: 'other-history' });
  assert.deepEqual(journal.since({ ...middle, chain: '0000000000000000' }), { kind: 'other-history' });
  journal.close();
  const again = new Journal({ directory, now, keep: 10 });
  assert.deepEqual(again.cursor, journal.cursor);
  assert.equal(again.pages.size, 21);
  assert.deepEqual(again.since(middle), since);
});

test('a journal that was put back in time has another history, however far it goes on', context => {
  const directory = folder(context);
  const file = join(directory, 'journal');
  let journal = new Journal({ directory, now });
  journal.begin([made('/a')]);
  journal.append([create('/b')]);
  copyFileSync(file, join(directory, 'backup'));
  const shared = journal.cursor;
  journal.append([create('/c'), create('/d')]);
  const lost = journal.cursor;
  journal.close();
  copyFileSync(join(directory, 'backup'), file);
  journal = new Journal({ directory, now });
  assert.deepEqual(journal.since(lost), { kind: 'other-history' });
  journal.append([create('/e'), create('/f'), create('/g')]);
  assert.deepEqual(journal.since(lost), { kind: 'other-history' });
  assert.equal(journal.since(shared).kind, 'changes');
});

test('older versions are found again after a crash, and go when there is no room', context => {
  const directory = folder(context);
  const text = (i: number) => Buffer.from(`${i} `.repeat(500) + Math.sin(i));
  const sha = (i: number) => hash('sha256', text(i), 'hex');
  let bodies = new Bodies(directory, 4000);
  for (let i = 0; i < 20; i++) bodies.put(sha(i), text(i));
  bodies.put(sha(3), text(3));
  assert.equal(bodies.count, 20);
  bodies.close();
  appendFileSync(join(directory, 'bodies'), 'torn by a crash');
  bodies = new Bodies(directory, 1000);
  assert.deepEqual(bodies.get(sha(3).slice(0, 16)), text(3));
  assert.equal(bodies.get(hash('sha256', 'x', 'hex')), undefined);
  bodies.tidy(() => new Set([sha(0)]));
  assert.deepEqual(bodies.get(sha(0)), text(0), 'a version that is current stays');
  assert.deepEqual(bodies.get(sha(19)), text(19));
  assert.equal(bodies.get(sha(2)), undefined);
  bodies.put(sha(30), text(30));
  bodies.close();
  bodies = new Bodies(directory, 1000);
  assert.deepEqual(bodies.get(sha(30)), text(30));
  bodies.close();
});
