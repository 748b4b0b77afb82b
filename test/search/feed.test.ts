import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { type FeedReport, feed, nextSize, startFeeder } from '../../src/search/feed/feed.ts';
import { openSearch } from '../../src/search/index.ts';
import { directory, document, found, indexOf } from './documents.ts';
import { stepsFile } from './feed-source.ts';

const source = new URL('./feed-source.ts', import.meta.url);

test('the thread makes new pages findable, gone ones vanish, and goes on after a restart', async context => {
  const data = directory(context);
  writeFileSync(stepsFile(data), '+1 goose\n+2 goose pond\n+3 heron\n');
  const first = startFeeder({ directories: [data], source, limit: 2, idle: 20 });
  await first.caughtUp();
  const search = openSearch(join(data, 'search.db'));
  assert.deepEqual([found(search, 'goose'), found(search, 'heron')], [[1, 2], [3]]);

  appendFileSync(stepsFile(data), '-1\n+3 goose\n');
  await first.caughtUp();
  assert.deepEqual([found(search, 'goose'), found(search, 'heron')], [[2, 3], []]);
  assert.deepEqual([first.report()!.changed, first.report()!.gone, first.report()!.cursor], [4, 1, '5']);
  await first.stop();
  await assert.rejects(first.caughtUp());

  appendFileSync(stepsFile(data), '+4 goose\n');
  const second = startFeeder({ directories: [data], source, idle: 20 });
  await second.caughtUp();
  assert.deepEqual(found(search, 'goose'), [2, 3, 4]);
  assert.equal(second.report()!.changed, 1, 'only what came after the restart is read');

  writeFileSync(stepsFile(data), '+2 goose\n'); // the source forgot the rest
  search.updates.rebuild();
  await second.caughtUp();
  await second.caughtUp();
  assert.deepEqual(found(search, 'goose'), [2]);
  await second.stop();
  search.close();
});

test('a feeder that is deep in a batch is ended without it, and the next one does it', async context => {
  const data = directory(context);
  writeFileSync(stepsFile(data), '+1 goose\n');
  const endless = new URL('./endless-source.ts', import.meta.url);
  const feeder = startFeeder({ directories: [data], source: endless });
  await feeder.stop();
  const next = startFeeder({ directories: [data], source, idle: 20 });
  await next.caughtUp();
  await next.stop();
  const search = openSearch(join(data, 'search.db'));
  assert.deepEqual(found(search, 'goose'), [1]);
  search.close();
});

test('a module that cannot be loaded is an error, not a silence', async context => {
  const feeder = startFeeder({
    directories: [directory(context)],
    source: new URL('./no-such-module.ts', import.meta.url),
  });
  await assert.rejects(feeder.caughtUp());
  await feeder.stop();
});

test('a source that fails is asked again from the same place, and the failure is reported', async context => {
  const search = indexOf(context, []);
  const stopping = new AbortController();
  const asked: string[] = [];
  const reports: FeedReport[] = [];
  const flaky = {
    since(cursor: string) {
      asked.push(cursor);
      if (asked.length === 2) throw new Error('the archive is away');
      if (cursor === '') return { cursor: 'a', changed: [document(1, { text: 'goose' })], gone: [] };
      if (cursor === 'a') return { cursor: 'b', changed: [document(2, { text: 'goose' })], gone: [] };
      stopping.abort();
      return { cursor, changed: [], gone: [] };
    },
  };
  const clock = { now: systemClock.now, ticks: systemClock.ticks, sleep: async () => {} };
  const fed = [{ search, source: flaky }];
  await feed(
    () => fed,
    report => reports.push(report),
    { signal: stopping.signal, clock },
  );
  assert.deepEqual(asked, ['', 'a', 'a', 'b']);
  assert.deepEqual(
    reports.map(report => report.failure),
    [undefined, 'the archive is away', undefined, undefined],
  );
  assert.deepEqual(found(search, 'goose'), [1, 2]);
});

test('several indexes take turns in one thread, and may come and go', async context => {
  const [one, two, three] = [directory(context), directory(context), directory(context)];
  for (const [data, word] of [
    [one, 'goose'],
    [two, 'heron'],
    [three, 'swan'],
  ] as const)
    writeFileSync(stepsFile(data), `+1 ${word}\n`);
  const feeder = startFeeder({ directories: [one, two], source, idle: 20 });
  await feeder.caughtUp();
  const findIn = (data: string, word: string) => {
    const search = openSearch(join(data, 'search.db'));
    const pages = found(search, word);
    search.close();
    return pages;
  };
  assert.deepEqual([findIn(one, 'goose'), findIn(two, 'heron')], [[1], [1]]);

  feeder.follow([two, three]);
  appendFileSync(stepsFile(one), '+2 goose\n');
  appendFileSync(stepsFile(two), '+2 heron\n');
  await feeder.caughtUp();
  assert.deepEqual([findIn(two, 'heron'), findIn(three, 'swan')], [[1, 2], [1]]);
  assert.deepEqual(findIn(one, 'goose'), [1], 'it was let go');
  await feeder.stop();
});

test('one that fails does not hold the others up', async context => {
  const [good, bad] = [indexOf(context, []), indexOf(context, [])];
  const stopping = new AbortController();
  const reports: FeedReport[] = [];
  const fed = [
    {
      search: bad,
      source: {
        since(): never {
          throw new Error('the archive is away');
        },
      },
    },
    {
      search: good,
      source: {
        since(cursor: string) {
          if (cursor === 'b') stopping.abort();
          const page = cursor === '' ? 1 : 2;
          return cursor === 'b'
            ? { cursor, changed: [], gone: [] }
            : { cursor: page === 1 ? 'a' : 'b', changed: [document(page, { text: 'goose' })], gone: [] };
        },
      },
    },
  ];
  await feed(
    () => fed,
    report => reports.push(report),
    { signal: stopping.signal, idle: 1 },
  );
  assert.deepEqual(found(good, 'goose'), [1, 2]);
  assert.ok(reports.every(({ failure, caughtUp }) => failure === 'the archive is away' && !caughtUp));
});

test('a rebuild that begins while a batch is read wins: the batch is not applied', async context => {
  const search = indexOf(context, []);
  const stopping = new AbortController();
  search.updates.apply({ changed: [], gone: [], cursor: 'later' });
  let rounds = 0;
  const source = {
    since(cursor: string) {
      if (rounds++ === 0) search.updates.rebuild();
      if (cursor === 'later') return { cursor: 'latest', changed: [document(1, { text: 'stale' })], gone: [] };
      if (cursor === '') return { cursor: 'x', changed: [document(2, { text: 'fresh' })], gone: [] };
      stopping.abort();
      return { cursor, changed: [], gone: [] };
    },
  };
  const fed = [{ search, source }];
  await feed(
    () => fed,
    () => {},
    { signal: stopping.signal, idle: 1 },
  );
  assert.deepEqual([found(search, 'stale'), found(search, 'fresh'), search.updates.cursor()], [[], [2], 'x']);
});

test('batches grow while each is soon done, and shrink where pages wait long for each other', async context => {
  assert.deepEqual(
    [nextSize(50, 20), nextSize(200, 2000), nextSize(400, 6000), nextSize(50, 6000)],
    [100, 200, 200, 50],
  );
  const search = indexOf(context, []);
  const stopping = new AbortController();
  const asked: number[] = [];
  const source = {
    since(cursor: string, limit: number) {
      asked.push(limit);
      if (asked.length === 8) stopping.abort();
      return { cursor: `${cursor}x`, changed: [], gone: [] };
    },
  };
  const fed = [{ search, source }];
  await feed(
    () => fed,
    () => {},
    { signal: stopping.signal, limit: 120 },
  );
  assert.deepEqual([asked[0], Math.max(...asked)], [50, 120]);
});

test('a rebuild keeps answering, and drops what the source no longer has', context => {
  const search = indexOf(context, [document(1, { text: 'kept' }), document(2, { text: 'lost' })]);
  search.updates.apply({ changed: [], gone: [], cursor: '7' });
  search.updates.rebuild();
  assert.deepEqual([search.updates.cursor(), search.counts().rebuilding, found(search, 'lost')], ['', true, [2]]);
  search.updates.apply({ changed: [document(1, { text: 'kept' })], gone: [], cursor: '9', from: '' });
  search.updates.settle();
  assert.deepEqual([found(search, 'kept'), found(search, 'lost'), search.counts().rebuilding], [[1], [], false]);
});

test('a batch read from elsewhere is not applied', context => {
  const search = indexOf(context, []);
  assert.equal(
    search.updates.apply({ changed: [document(1, { text: 'plum' })], gone: [], cursor: '5', from: '' }),
    true,
  );
  assert.equal(
    search.updates.apply({ changed: [document(2, { text: 'plum' })], gone: [], cursor: '5', from: '' }),
    false,
  );
  assert.deepEqual([found(search, 'plum'), search.updates.cursor()], [[1], '5']);
});
