/** A partition goes from one peer to another: through a snapshot, through changes alone, after a crash, after amnesia. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Changelog } from '../../src/cluster/changelog/changelog.ts';
import { ChangelogWriter } from '../../src/cluster/changelog/changelog-writer.ts';
import { archiveIsHere, inherit } from '../../src/cluster/peer/inherit.ts';
import { Keeper } from '../../src/cluster/peer/keeper.ts';
import type { Snapshots } from '../../src/cluster/snapshots/snapshots.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { randomCrawl } from '../ledger/random-crawl.ts';
import { randomly } from '../random.ts';
import { memoryChangelog } from './memory-changelog.ts';
import { memorySnapshots } from './memory-snapshots.ts';

interface Engine {
  log: Changelog;
  snapshots: Snapshots;
}

const freshEngine = () => ({ log: memoryChangelog(), snapshots: memorySnapshots() });

/** Machines of a test, and what each does with partition 0. */
function machines(context: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'skein-takeover-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const random = randomly(11);
  let now = 1e12;
  let epoch = 0;
  return async (engine: Engine, peer: string) => {
    const directory = join(root, peer);
    const writer = { peer, epoch: ++epoch };
    const { changelog, state, from, archiveOf } = await inherit({ partition: 0, directory, writer, ...engine });
    const ledger = new Ledger(directory, 'write');
    const fences: string[] = [];
    const fenced = (error: { by: string }) => void fences.push(error.by);
    const parts = { partition: 0, ledger, changelog, epoch: writer.epoch, snapshots: engine.snapshots };
    const renewed = async () => {
      const sequence = (await engine.log.last(0))?.sequence ?? 0;
      const again = new ChangelogWriter(engine.log, 0, { writer, sequence, number: ledger.outbox.changes.number });
      await again.claim();
      return again;
    };
    const keeper = new Keeper({ ...parts, ahead: state === 'ahead', fenced, renewed });
    const crawl = randomCrawl(ledger, random, { now: () => (now += 7), ticks: () => (now += 7) });
    const close = () => {
      keeper.close();
      ledger.outbox.changes.stop();
      ledger.close();
    };
    return { directory, ledger, keeper, crawl, state, from, archiveOf, fences, close };
  };
}

test('an heir that is killed before the archive came asks for it again, and nobody else', async context => {
  const start = machines(context);
  const engine = freshEngine();
  const ann = await start(engine, 'ann');
  assert.equal(ann.archiveOf, undefined);
  ann.crawl.visit(100);
  await ann.keeper.flush();
  ann.close();
  const bob = await start(engine, 'bob');
  assert.equal(bob.archiveOf, 'ann');
  await bob.keeper.flush(); // what opening wrote
  bob.close();
  const again = await start(engine, 'bob');
  assert.deepEqual([again.state, again.archiveOf], ['here', 'ann']);
  await again.keeper.flush();
  again.close();
  // Killed even before the ledger was whole.
  rmSync(join(bob.directory, 'ledger.db'));
  const restored = await start(engine, 'bob');
  assert.deepEqual([restored.state, restored.archiveOf], ['restored', 'ann']);
  archiveIsHere(bob.directory);
  await restored.keeper.flush();
  restored.close();
  const later = await start(engine, 'bob');
  assert.deepEqual([later.state, later.archiveOf], ['here', undefined]);
  await later.keeper.flush();
  later.close();
  const cem = await start(engine, 'cem');
  assert.equal(cem.archiveOf, 'bob');
  cem.close();
});

const urls = (ledger: Ledger) => Array.from({ length: ledger.pages.size }, (_, i) => ledger.pages.get(i + 1)!.url);
const visits = (ledger: Ledger) => ledger.visits.last;

test('what the engine has is what the heir gets, and the one before writes no more', async context => {
  const start = machines(context);
  const engine = freshEngine();
  const ann = await start(engine, 'ann');
  assert.equal(ann.state, 'new');
  for (let i = 0; i < 5; i++) {
    ann.crawl.visit(50);
    await ann.keeper.flush();
  }
  const logged = [visits(ann.ledger), urls(ann.ledger)];
  ann.crawl.visit(50); // and these nobody hears of
  const bob = await start(engine, 'bob');
  assert.deepEqual([bob.state, bob.from], ['restored', 'ann']);
  // What opening a frontier writes is added.
  assert.deepEqual([visits(bob.ledger), urls(bob.ledger)], logged);
  assert.equal(bob.keeper.acknowledged, ann.keeper.acknowledged);
  await ann.keeper.flush();
  assert.deepEqual(ann.fences, ['bob']);
  bob.crawl.visit(100);
  await bob.keeper.flush();
  assert.deepEqual(bob.fences, []);
  const all = [visits(bob.ledger), urls(bob.ledger)];
  ann.close();
  bob.close();
  const again = await start(engine, 'ann');
  assert.equal(again.state, 'restored', 'her own files are from another time');
  assert.deepEqual([visits(again.ledger), urls(again.ledger)], all);
  again.close();
});

test('a large changelog is followed by a snapshot, and the changes after it are read on top', async context => {
  const start = machines(context);
  const engine = freshEngine();
  const ann = await start(engine, 'ann');
  let note = await engine.snapshots.newest(0);
  for (let i = 0; i < 400 && !note; i++) {
    ann.crawl.visit(400);
    await ann.keeper.flush();
    note = await engine.snapshots.newest(0);
  }
  assert.ok(note, 'a snapshot was made');
  ann.crawl.visit(100);
  await ann.keeper.flush();
  assert.ok(ann.keeper.acknowledged > note.number);
  const bob = await start(engine, 'bob');
  assert.deepEqual([visits(bob.ledger), urls(bob.ledger)], [visits(ann.ledger), urls(ann.ledger)]);
  ann.close();
  bob.close();
});

test('a peer that was killed comes back to its own files, without what it had not sent', async context => {
  const start = machines(context);
  const engine = freshEngine();
  const ann = await start(engine, 'ann');
  ann.crawl.visit(100);
  await ann.keeper.flush();
  mkdirSync(join(ann.directory, 'archive'));
  writeFileSync(join(ann.directory, 'archive', 'kept'), '');
  const logged = visits(ann.ledger);
  ann.close();
  const same = await start(engine, 'ann');
  assert.deepEqual([same.state, visits(same.ledger)], ['here', logged]);
  same.crawl.visit(20);
  assert.ok(visits(same.ledger) > logged);
  same.close(); // before the engine heard of it
  const back = await start(engine, 'ann');
  assert.deepEqual([back.state, visits(back.ledger)], ['rewound', logged]);
  back.crawl.visit(20);
  await back.keeper.flush();
  assert.deepEqual(back.fences, []);
  back.close();
});

test('an engine that was wiped gets a snapshot before it gets changes', async context => {
  const start = machines(context);
  const before = freshEngine();
  const ann = await start(before, 'ann');
  ann.crawl.visit(200);
  await ann.keeper.flush();
  ann.close();
  const engine = freshEngine();
  const same = await start(engine, 'ann');
  assert.equal(same.state, 'ahead');
  const known = visits(same.ledger);
  same.close(); // killed before the snapshot was there
  const third = await start(engine, 'ann');
  assert.deepEqual([third.state, visits(third.ledger)], ['ahead', known]);
  third.crawl.visit(50);
  await third.keeper.flush();
  third.crawl.visit(50);
  await third.keeper.flush();
  const bob = await start(engine, 'bob');
  assert.deepEqual([visits(bob.ledger), urls(bob.ledger)], [visits(third.ledger), urls(third.ledger)]);
  third.close();
  bob.close();
});

test('an engine that forgets while a partition is being handed over gets all of it', async context => {
  const start = machines(context);
  const engine = freshEngine();
  const ann = await start(engine, 'ann');
  ann.crawl.visit(200);
  await ann.keeper.flush();
  ann.crawl.visit(50);
  engine.log.wipe();
  await ann.keeper.flush(); // what a handover waits for
  const bob = await start(engine, 'bob');
  assert.deepEqual([bob.state, bob.from], ['restored', 'ann']);
  assert.deepEqual([visits(bob.ledger), urls(bob.ledger)], [visits(ann.ledger), urls(ann.ledger)]);
  await ann.keeper.flush();
  ann.crawl.visit(10);
  await ann.keeper.flush();
  assert.deepEqual(ann.fences, ['bob'], 'and nothing of hers goes over his');
  ann.close();
  bob.close();
});

test('an engine that has forgotten a partition of which nothing is new gets it when its owner is told', async context => {
  const start = machines(context);
  const engine = freshEngine();
  const ann = await start(engine, 'ann');
  ann.crawl.visit(200);
  await ann.keeper.flush();
  engine.log.wipe();
  ann.keeper.sendAnew();
  assert.equal(ann.keeper.settled, false);
  await ann.keeper.flush();
  assert.equal(ann.keeper.settled, true);
  const bob = await start(engine, 'bob');
  assert.deepEqual([visits(bob.ledger), urls(bob.ledger)], [visits(ann.ledger), urls(ann.ledger)]);
  ann.close();
  bob.close();
});
