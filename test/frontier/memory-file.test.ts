import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { ShapeCounter } from '../../src/errand/scope/traps.ts';
import { Admission } from '../../src/frontier/admission/admission.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Lanes } from '../../src/frontier/lanes/lanes.ts';
import { Learning } from '../../src/frontier/learning.ts';
import { type Memory, MemoryFile } from '../../src/frontier/memory-file.ts';
import type { Reading } from '../../src/frontier/options.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Fingerprints } from '../../src/ledger/memory/fingerprints.ts';
import { NearPages } from '../../src/ledger/memory/near.ts';
import { randomly } from '../random.ts';
import { SEEDS, visitSome } from './growing-frontier.ts';
import { plainOptions } from './plain-options.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-memory-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const PAGES = SEEDS.length;
const GROWING = join(import.meta.dirname, 'growing-frontier.ts');
const KILLS = 5;

/** Counts the rows that pass. */
function counter() {
  const counted = { rows: 0 };
  const reading: Reading = function* (source) {
    for (const row of source) {
      counted.rows++;
      yield row;
    }
  };
  return { counted, reading };
}

/** Opens the collection; says how many rows were read for it. */
function open(data: string, depth = 1000) {
  const ledger = new Ledger(data, 'write');
  ledger.begin();
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore', depth }, systemClock);
  const { counted, reading } = counter();
  frontier.restore([], reading);
  return { ledger, frontier, rows: counted.rows };
}

function collected(name: string): string {
  const data = join(directory, name);
  const { ledger, frontier } = open(data);
  frontier.seed(SEEDS);
  frontier.close();
  ledger.close();
  return data;
}

const filesIn = (data: string): string[] => readdirSync(data).filter(name => name.startsWith('frontier'));

/** What a frontier holds that begins with this memory and the ledger behind it. */
function heldFrom(ledger: Ledger, memory: Memory) {
  const lanes = new Lanes(ledger, plainOptions);
  const none = { newcomers: undefined, images: undefined, strays: undefined };
  const rules = { ...none, scope: () => undefined, depth: 50, pagesPerServer: 1e9 };
  const admission = new Admission(ledger, rules, origin => lanes.of(origin));
  const learning = new Learning(ledger, admission, new Schedule(ledger), () => {});
  const { counted, reading } = counter();
  admission.restore(memory, reading);
  learning.restore(memory, server => lanes.ofServer(server), reading);
  const { digests, near } = learning.packed(lanes);
  const keys = (entries: ArrayLike<number>, parts: number) =>
    Array.from({ length: entries.length / 3 }, (_, i) =>
      Array.from({ length: parts }, (_, part) => entries[i * 3 + part]! >>> 0).join(),
    ).sort();
  return {
    rows: counted.rows,
    tables: {
      fingerprints: keys(admission.fingerprints.packed(), 3),
      // Of copies the first to be visited counts, or the one with the lowest number: only what was seen is the same.
      digests: keys(digests, 2),
      near: keys(near, 2),
      lanes: [...lanes].map(({ server, pages, shapes }) => [server.id, pages, pairs(shapes.packed())]).sort(),
      nearest: Array.from({ length: ledger.pages.size }, (_, i) => admission.nearest(i + 1, 255)),
    },
  };
}

const pairs = (list: readonly number[]) =>
  Array.from({ length: list.length / 2 }, (_, i) => list.slice(i * 2, i * 2 + 2).join()).sort();

/** The file and the ledger behind it give the same as the ledger alone; returns how many rows each way read. */
function checkMemory(ledger: Ledger) {
  const memory = new MemoryFile(ledger).read();
  const quick = heldFrom(ledger, memory);
  const nothing = { fingerprints: new Int32Array(0), digests: new Int32Array(0), near: new Uint32Array(0) };
  const whole = heldFrom(ledger, { ...nothing, shapes: new Float64Array(0), page: 0, visit: 0 });
  assert.deepEqual(quick.tables, whole.tables);
  return { memory, quick: quick.rows, whole: whole.rows };
}

test('a collection that was closed is opened without reading it through, and is the same', () => {
  const data = collected('closed');
  const { ledger, frontier, rows } = open(data);
  assert.equal(rows, 0);
  assert.equal(frontier.backlog.pages, PAGES);
  for (const [i, url] of SEEDS.entries()) assert.equal(frontier.admission.find(url), i + 1);
  assert.equal(frontier.admission.find('http://1.example/other'), 0);
  assert.equal(frontier.seed(SEEDS), 0);
  frontier.close();
  ledger.close();
  assert.equal(filesIn(data).length, 1, 'nothing came, so nothing was written');
});

test('after a run that was killed only what came after the file is read from the ledger', () => {
  const data = collected('killed');
  const { ledger, frontier } = open(data);
  frontier.seed(['http://1.example/found-late']);
  visitSome(frontier, 300, randomly(1));
  ledger.commit();
  ledger.abandon(); // it ends here without a word
  ledger.close();
  const again = open(data);
  assert.ok(again.rows > 300 && again.rows < 2000, `${again.rows} rows`);
  assert.equal(again.frontier.admission.find('http://1.example/found-late'), PAGES + 1);
  checkMemory(again.ledger);
  again.ledger.close();
});

test('what is written while a run goes on holds after kill -9 at any moment', async t => {
  const data = join(directory, 'growing');
  const random = randomly(14);
  let spared = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [GROWING, data, String(kill)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise(resolve => child.once('close', resolve));
    let commits = 1 + random.below(8);
    for await (const _ of createInterface(child.stdout)) if (--commits === 0) break;
    await new Promise(resolve => setTimeout(resolve, random.below(120)));
    child.kill('SIGKILL');
    await ended;
    const ledger = new Ledger(data, 'write');
    const { quick, whole, memory } = checkMemory(ledger);
    t.diagnostic(
      `${ledger.pages.size} pages, ${ledger.visits.last} visits; file up to ${memory.page} and ${memory.visit}`,
    );
    if (memory.page > 0) spared++;
    // It read all depths both times.
    assert.ok(memory.page === 0 || whole - quick >= memory.page, `${quick} rows instead of ${whole}`);
    ledger.abandon();
    ledger.close();
  }
  assert.ok(spared >= KILLS - 1, `${spared} found a file`);
});

test('a file that is damaged, cut or gone is not believed', () => {
  const damages: ((file: string) => void)[] = [
    file => rmSync(file),
    file => writeFileSync(file, readFileSync(file).subarray(0, 1000)),
    file => {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(file, bytes);
    },
  ];
  for (const [i, damage] of damages.entries()) {
    const data = collected(`damaged-${i}`);
    damage(join(data, filesIn(data)[0]!));
    const { ledger, frontier, rows } = open(data);
    assert.ok(rows >= PAGES, `damage ${i}`);
    assert.equal(frontier.admission.find(SEEDS[77]!), 78);
    frontier.close();
    ledger.close();
    assert.equal(filesIn(data).length, 1);
    assert.equal(open(data).rows, 0, 'it was written anew');
  }
});

test('a ledger that names another file, or lengths that cannot be, is read through', () => {
  const data = collected('lying');
  const lies = [
    { file: '../../etc/passwd' },
    { file: '/dev/zero' },
    { file: 'ledger.db' },
    { file: 7 },
    { lengths: [1e300, -8, 3, 0] },
    { lengths: 'many' },
    { page: -1 },
    { visit: 1e9 },
    { digest: null },
    { layout: 1 },
  ];
  for (const lie of lies) {
    const ledger = new Ledger(data, 'write');
    const named = ledger.settings.get<object>('memory')!;
    ledger.begin();
    ledger.settings.set('memory', { ...named, ...lie });
    const { page } = new MemoryFile(ledger).read();
    assert.equal(page, 0, JSON.stringify(lie));
    ledger.abandon();
    ledger.close();
  }
});

test('a run that minds depths reads them from the ledger', () => {
  const { ledger, frontier, rows } = open(collected('depths'), 3);
  assert.equal(rows, PAGES);
  assert.equal(frontier.admission.nearest(5, 9), 0);
  ledger.close();
});

test('each table is the same after it was packed and loaded', () => {
  const random = randomly(7);
  const word = () => random.below(2 ** 32);
  const entries = Array.from({ length: 5000 }, (_, i) => [word(), word(), i + 1] as const);
  const prints = new Fingerprints();
  const near = new NearPages();
  const shapes = new ShapeCounter();
  for (const [high, low, id] of entries) {
    prints.set(high, low, id);
    near.add(high, low, id);
    shapes.count(`http://a.example/item-${id % 3 === 0 ? id : 'x'}?page=${id}`, true);
  }
  const loaded = {
    prints: new Fingerprints(),
    near: new NearPages(),
    shapes: new ShapeCounter(),
  };
  loaded.prints.load(prints.packed());
  loaded.near.load(near.packed());
  loaded.shapes.load(shapes.packed());
  assert.equal(loaded.prints.size, 5000);
  assert.equal(loaded.near.size, near.size);
  for (const [high, low, id] of entries) {
    assert.equal(loaded.prints.get(high, low), id);
    assert.equal(loaded.near.near(high, low ^ 1), near.near(high, low ^ 1));
  }
  assert.equal(loaded.shapes.refusing, shapes.refusing);
  assert.equal(
    loaded.shapes.refuses('http://a.example/item-9?page=4'),
    shapes.refuses('http://a.example/item-9?page=4'),
  );
});
