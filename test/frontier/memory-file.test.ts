import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { ShapeCounter } from '../../src/errand/scope/traps.ts';
import { Depths } from '../../src/frontier/admission/depths.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Fingerprints } from '../../src/ledger/memory/fingerprints.ts';
import { NearPages } from '../../src/ledger/memory/near.ts';
import { randomly } from '../random.ts';
import { plainOptions } from './plain-options.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-memory-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** More than the number from which a file is worth it. */
const PAGES = 20_500;
const urls = Array.from({ length: PAGES }, (_, i) => `http://${i % 7}.example/page-${i}`);

/** Opens the collection; says how many rows were read for it. */
function open(data: string, depth = 1000) {
  const ledger = new Ledger(data, 'write');
  ledger.begin();
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore', depth }, systemClock);
  let rows = 0;
  frontier.restore([], function* counted(source) {
    for (const row of source) {
      rows++;
      yield row;
    }
  });
  return { ledger, frontier, rows };
}

function collected(name: string): string {
  const data = join(directory, name);
  const { ledger, frontier } = open(data);
  frontier.seed(urls);
  frontier.close();
  ledger.close();
  return data;
}

test('a collection that was closed is opened without reading it through, and is the same', () => {
  const data = collected('closed');
  const { ledger, frontier, rows } = open(data);
  assert.equal(rows, 0);
  assert.equal(frontier.pagesWaiting, PAGES);
  for (const [i, url] of urls.entries()) assert.equal(frontier.admission.find(url), i + 1);
  assert.equal(frontier.admission.find('http://1.example/other'), 0);
  assert.equal(frontier.seed(urls), 0);
  ledger.close();
});

test('after a run that was killed everything is found again in the ledger', () => {
  const data = collected('killed');
  const { ledger, frontier } = open(data);
  frontier.seed(['http://1.example/found-late']);
  ledger.commit();
  ledger.abandon(); // it ends here without a word
  ledger.close();
  const again = open(data);
  assert.ok(again.rows >= PAGES);
  assert.equal(again.frontier.admission.find('http://1.example/found-late'), PAGES + 1);
  again.ledger.close();
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
    damage(join(data, 'frontier.bin'));
    const { ledger, frontier, rows } = open(data);
    assert.ok(rows >= PAGES, `damage ${i}`);
    assert.equal(frontier.admission.find(urls[77]!), 78);
    ledger.close();
  }
});

test('a run that minds depths does not take a memory without them', () => {
  const data = collected('depths');
  const { ledger, rows } = open(data, 3);
  assert.ok(rows >= PAGES);
  ledger.close();
});

test('each table is the same after it was packed and loaded', () => {
  const random = randomly(7);
  const word = () => random.below(2 ** 32);
  const entries = Array.from({ length: 5000 }, (_, i) => [word(), word(), i + 1] as const);
  const prints = new Fingerprints();
  const near = new NearPages();
  const depths = new Depths();
  const shapes = new ShapeCounter();
  for (const [high, low, id] of entries) {
    prints.set(high, low, id);
    near.add(high, low, id);
    depths.set(id, id % 9);
    shapes.count(`http://a.example/item-${id % 3 === 0 ? id : 'x'}?page=${id}`, true);
  }
  const loaded = {
    prints: new Fingerprints(),
    near: new NearPages(),
    depths: new Depths(),
    shapes: new ShapeCounter(),
  };
  loaded.prints.load(prints.packed());
  loaded.near.load(near.packed());
  loaded.depths.load(depths.packed(5000));
  loaded.shapes.load(shapes.packed());
  assert.equal(loaded.prints.size, 5000);
  assert.equal(loaded.near.size, near.size);
  for (const [high, low, id] of entries) {
    assert.equal(loaded.prints.get(high, low), id);
    assert.equal(loaded.near.near(high, low ^ 1), near.near(high, low ^ 1));
    assert.equal(loaded.depths.lower(id, id % 9), false);
  }
  assert.equal(loaded.shapes.refusing, shapes.refusing);
  assert.equal(
    loaded.shapes.refuses('http://a.example/item-9?page=4'),
    shapes.refuses('http://a.example/item-9?page=4'),
  );
});
