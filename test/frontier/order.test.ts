import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrawlLists } from '../../src/frontier/orders/crawl-lists.ts';
import { Strays } from '../../src/frontier/orders/focused.ts';
import { type Hint, makeOrder, type Order, type OrderName, orderNames } from '../../src/frontier/orders/order.ts';
import { PageQueue } from '../../src/frontier/orders/page-queue.ts';
import { Pvalue, pvalueDefaults } from '../../src/frontier/orders/pvalue.ts';
import { parsePvalue } from '../../src/frontier/orders/pvalue-terms.ts';
import { randomly } from '../random.ts';

const plain: Hint = { depth: 0, relevance: 0, forward: -1, backward: 0 };

/** What holds for every order, whatever it goes by. */
function check(name: OrderName): void {
  test(`${name}: every page taken in comes out once, in any mix of adding and taking`, () => {
    const order = makeOrder(name);
    const random = randomly(11);
    const waiting = new Set<number>();
    let next = 1;
    for (let step = 0; step < 3000; step++) {
      for (let adds = random.below(7); adds > 0; adds--) {
        const hint = {
          depth: random.below(9),
          relevance: 64 + random.below(192),
          forward: -1,
          backward: random.below(9),
        };
        assert.equal(order.add(next, hint), undefined);
        waiting.add(next++);
      }
      if (next > 1) order.backward(1 + random.below(next));
      order.forward(random.below(200));
      const size = order.size;
      const count = random.below(8);
      const taken = order.take(count);
      assert.equal(taken.length, Math.min(count, size));
      for (const page of taken) assert.ok(waiting.delete(page), `page ${page} was not waiting`);
      assert.equal(order.size, waiting.size);
    }
    for (const page of order.take(1e9)) assert.ok(waiting.delete(page));
    assert.equal(waiting.size, 0);
    assert.deepEqual(order.take(5), []);
    order.add(next, plain);
    assert.deepEqual(order.take(5), [next]);
  });
}
for (const name of orderNames) check(name);

test('breadth: lesser depth first, first found first, and a late shallow page goes ahead', () => {
  const order = makeOrder('breadth');
  for (const [page, depth] of [
    [1, 2],
    [2, 1],
    [3, 0],
    [4, 1],
    [5, 400],
  ] as const)
    order.add(page, { ...plain, depth });
  assert.deepEqual(order.take(2), [3, 2]);
  order.add(6, { ...plain, depth: 0 });
  order.add(7, { ...plain, depth: 300 });
  assert.deepEqual(order.take(9), [6, 4, 1, 5, 7]);
});

test('a queue of pages costs at most 6 bytes each, and gives memory back', () => {
  const queue = new PageQueue();
  for (let page = 1; page <= 500_000; page++) {
    queue.push(page);
    if (page >= 1000 && page % 997 === 0) assert.ok(queue.bytes <= 6 * page, `${queue.bytes} bytes for ${page}`);
  }
  const out: number[] = [];
  assert.equal(queue.shift(499_000, out), 499_000);
  assert.ok(queue.bytes <= 8192 * 8);
  queue.shift(5000, out);
  assert.deepEqual([out.length, out[0], out[499_999], queue.size], [500_000, 1, 500_000, 0]);
});

const table = [
  ['A', 13, 8],
  ['B', 22, 10],
  ['C', 17, 9],
  ['D', 10, 11],
  ['E', 5, 3],
] as const;
const letters = (pages: readonly number[]) => pages.map(page => table[page - 1]![0]).join('');

function addTable(order: Order): void {
  for (const [i, [, forward, backward]] of table.entries()) order.add(i + 1, { ...plain, forward, backward });
}

test("pvalue: the paper's five pages", () => {
  const order = new Pvalue();
  addTable(order);
  assert.deepEqual(order.lists().map(letters), ['BC', 'A', 'ED']);
  assert.equal(letters(order.take(5)), 'BCAED');
});

test('pvalue: four of the first list, two of the second, one of the third', () => {
  const order = makeOrder('pvalue');
  for (let page = 1; page <= 30; page++) order.add(page, { ...plain, forward: 100, backward: page });
  assert.deepEqual(order.take(14), [1, 2, 3, 4, 11, 12, 21, 5, 6, 7, 8, 13, 14, 22]);
  assert.deepEqual(order.take(7), [9, 10, 15, 16, 23, 17, 18]); // the first list is empty and gives its turns away
});

test('pvalue: the weights of forward and backward links are apart', () => {
  const order = makeOrder('pvalue', { forwardWeight: 0, backwardWeight: 2 });
  addTable(order);
  assert.equal(letters(order.take(5)), 'EACBD');
});

test('pvalue: a page not fetched has the mean of its server as FwdLK', () => {
  const order = new Pvalue();
  order.forward(10);
  order.forward(20);
  order.add(1, { ...plain, forward: 14, backward: 0 }); // the mean is now 44 / 3
  order.add(2, { ...plain, backward: 0 });
  order.add(3, { ...plain, forward: 15, backward: 0 });
  assert.deepEqual(order.take(3), [3, 2, 1]);
});

test('pvalue: a link gained counts at the next sort, and only for pages that wait', () => {
  const order = new Pvalue();
  for (let page = 1; page <= 3; page++) order.add(page, { ...plain, forward: 5, backward: 0 });
  for (let times = 0; times < 3; times++) order.backward(1);
  order.backward(2);
  order.backward(99);
  assert.deepEqual(order.lists(), [[3], [2], [1]]);
});

test('pvalue: where someone counts links exactly, that count decides at every sort', () => {
  const counts = new Map([
    [1, 3],
    [2, 2],
    [3, 1],
  ]);
  const order = new Pvalue({ ...pvalueDefaults, backwardOf: page => counts.get(page) ?? 0 });
  for (let page = 1; page <= 3; page++) order.add(page, plain);
  assert.deepEqual(order.lists(), [[3], [2], [1]]);
  counts.set(3, 9);
  order.backward(2);
  assert.deepEqual(order.lists(), [[2], [1], [3]]);
});

test('pvalue: with aging, weight moves from forward to backward links as the collection grows', () => {
  let indexed = 0;
  const order = new Pvalue({ ...pvalueDefaults, aging: 100, indexed: () => indexed });
  addTable(order);
  const sorted = () => letters(order.lists().flat());
  assert.equal(sorted(), 'BCADE', 'at first by forward links alone');
  indexed = 100;
  assert.equal(sorted(), 'BCAED', 'the paper’s own order');
  indexed = 1e9;
  assert.equal(sorted(), 'EACBD', 'in the end by backward links alone');
});

test('pvalue: lists of the whole crawl hold the pages of all servers', () => {
  const crawl = new CrawlLists([4, 2, 1]);
  const make = () => new Pvalue({ ...pvalueDefaults, crawl });
  const [one, two, three] = [make(), make(), make()];
  // The paper's table, on three servers.
  one.add(1, { ...plain, forward: 13, backward: 8 });
  two.add(2, { ...plain, forward: 22, backward: 10 });
  one.add(3, { ...plain, forward: 17, backward: 9 });
  three.add(4, { ...plain, forward: 10, backward: 11 });
  three.add(5, { ...plain, forward: 5, backward: 3 });
  assert.deepEqual([one.called, two.called, three.called], [true, true, false], 'B and C are the first list');
  assert.deepEqual(
    [one, two, three].map(order => order.lists().map(letters)),
    [
      ['C', 'A', ''],
      ['B', '', ''],
      ['', '', 'ED'],
    ],
  );
  assert.equal(letters(two.take(9)), 'B');
  assert.equal(letters(three.take(9)), 'ED', 'a server that is asked all the same gives the best that it has');
  assert.equal(letters(one.take(9)), 'A', 'the second list is behind now');
  assert.equal(letters(one.take(9)), 'C');
  assert.deepEqual([one.size, two.size, three.size], [0, 0, 0]);
  assert.deepEqual([one.take(1), two.take(1)], [[], []]);
});

test('pvalue: over many errands the lists of a crawl are served 4 : 2 : 1, and none twice', () => {
  const crawl = new CrawlLists([4, 2, 1]);
  const orders = Array.from({ length: 20 }, () => new Pvalue({ ...pvalueDefaults, crawl }));
  for (let page = 1; page <= 2100; page++) {
    orders[page % 20]!.add(page, { ...plain, forward: 0, backward: page });
  }
  const taken: number[] = [];
  while (taken.length < 700) {
    const order = orders.find(each => each.called)!;
    taken.push(...order.take(64));
  }
  const lists = [0, 0, 0];
  for (const page of taken) lists[page <= 700 ? 0 : page <= 1400 ? 1 : 2]!++;
  assert.ok(Math.abs(lists[0]! / taken.length - 4 / 7) < 0.03, String(lists));
  assert.ok(Math.abs(lists[1]! / taken.length - 2 / 7) < 0.03, String(lists));
  for (const order of orders) while (order.size > 0) taken.push(...order.take(64));
  assert.equal(new Set(taken).size, 2100);
  assert.equal(taken.length, 2100);
});

test('pvalue: its terms as users write them', () => {
  assert.deepEqual(parsePvalue(''), { ...pvalueDefaults, lists: 'crawl' });
  assert.deepEqual(parsePvalue('forward=2, backward=0.5,aging=1000,service=5:3:1,lists=server'), {
    ...{ forwardWeight: 2, backwardWeight: 0.5, aging: 1000, service: [5, 3, 1], lists: 'server' },
  });
  for (const wrong of ['forward', 'forward=-1', 'aging=x', 'service=4:2', 'service=4:2:0', 'lists=all', 'weight=1']) {
    assert.throws(() => parsePvalue(wrong), { code: 'bad-option' }, wrong);
  }
});

test('pvalue: a page that comes late joins the list of its value', () => {
  const order = new Pvalue();
  for (let page = 1; page <= 30; page++) order.add(page, { ...plain, forward: 100, backward: page });
  order.take(7); // sorts; the next turn is the first list's
  order.add(31, { ...plain, forward: 100, backward: 0 });
  order.add(32, { ...plain, forward: 100, backward: 25 });
  order.take(6); // 5 6 7 8, 13 14
  assert.deepEqual(order.take(1), [22]);
  assert.deepEqual(order.take(3), [9, 10, 31]);
});

test('focused: the most relevant first, first found first among equals', () => {
  const order = makeOrder('focused');
  for (const [page, relevance] of [
    [1, 80],
    [2, 255],
    [3, 0],
    [4, 255],
  ] as const)
    order.add(page, { ...plain, relevance });
  assert.deepEqual(order.take(3), [2, 4, 1]);
  order.add(5, { ...plain, relevance: 10 });
  assert.deepEqual(order.take(3), [5, 3]);
});

test('focused: an irrelevant branch is dropped by name, a relevant page on it is not', () => {
  const order = makeOrder('focused', { threshold: 100, strayLevels: 2 });
  assert.equal(order.add(1, { ...plain, relevance: 20, strayed: 1 }), undefined);
  assert.equal(order.add(2, { ...plain, relevance: 20, strayed: 2 }), 'irrelevant');
  assert.equal(order.add(3, { ...plain, relevance: 100, strayed: 9 }), undefined);
  assert.deepEqual(order.take(9), [3, 1]);
});

test('strays: counts irrelevant pages in a row along the way, over servers, and starts anew at a relevant one', () => {
  const strays = new Strays({ threshold: 100, strayLevels: 2 });
  assert.equal(strays.note(1, 0, 0), 0); // a seed is never astray
  assert.equal(strays.note(2, 1, 10), 0);
  assert.equal(strays.note(3, 2, 10), 1);
  assert.equal(strays.note(5000, 3, 10), 2);
  assert.equal(strays.note(5, 5000, 200), 3);
  assert.equal(strays.note(6, 5, 10), 0);
  assert.deepEqual(
    [1, 2, 3, 5000, 5, 6, 7].map(page => strays.of(page)),
    [0, 1, 2, 3, 0, 1, 0],
  );
});

test('strays: the links of a page too far astray are refused unless they are relevant themselves', () => {
  const strays = new Strays({ threshold: 100, strayLevels: 2 });
  strays.note(1, 0, 0);
  strays.note(2, 1, 10);
  strays.note(3, 2, 10);
  assert.deepEqual(
    [1, 2, 3, 4].map(page => strays.refuses(page, 99)),
    [false, false, true, false],
  );
  assert.equal(strays.refuses(3, 100), false);
});
