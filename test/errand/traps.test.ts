import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShapeCounter, shapeOf, trapReason } from '../../src/errand/scope/traps.ts';
import { randomly } from '../random.ts';

const site = 'https://example.org';

test('honest URLs pass', () => {
  const honest = [
    site,
    `${site}/`,
    `${site}/docs/api/java.base/java/lang/String.html`,
    `${site}/2011/11/11/11`,
    `${site}/wiki/a/a/a`,
    `${site}/a/b/a/b/c`,
    `${site}/images/images/logo.png`,
    `${site}/en/docs/en/guide/en`,
    `${site}/x////y`,
    `${site}/s?${'p=1&'.repeat(23)}p=1`,
    `${site}/s?back=/a/a/a/a/a/a`,
    `${site}/${'x'.repeat(2048 - site.length - 1)}`,
  ];
  for (const url of honest) assert.equal(trapReason(url), undefined, url);
});

test('traps are named', () => {
  const traps: [string, string][] = [
    [`${site}/${'x'.repeat(2048 - site.length)}`, 'too-long'],
    [`${site}/s?${'p=1&'.repeat(24)}p=1`, 'too-many-parameters'],
    [`${site}/about/about/about`, 'repeated-path'],
    [`${site}/x/about/about/about/y.html?z`, 'repeated-path'],
    [`${site}/a/b/a/b/a/b/`, 'repeated-path'],
    [`${site}/start/img/css/js/img/css/js/img/css/js`, 'repeated-path'],
    [`${site}/news/1/news/2/news/3/news/4`, 'repeated-path'],
    [`${site}/1/1/1/1/1/1`, 'repeated-path'],
  ];
  for (const [url, reason] of traps) assert.equal(trapReason(url), reason, url);
});

test('a long random path without repetition passes, with any sequence three times in a row it does not', () => {
  const random = randomly(4);
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: 3 + random.below(9) }, (_, i) => `s${i}-${random.below(9)}`);
    assert.equal(trapReason(`${site}/${names.join('/')}`), undefined);
    const from = random.below(names.length - 1);
    const run = names.slice(from, from + 1 + random.below(3));
    const trap = [...names.slice(0, from), ...run, ...run, ...run, ...names.slice(from + 1)];
    assert.equal(trapReason(`${site}/${trap.join('/')}`), 'repeated-path', trap.join('/'));
  }
});

test('a shape masks what a generator varies and keeps what it does not', () => {
  const same = [
    `${site}/2026/11/15/a-1f3a9c77?page=7&d=3`,
    `${site}/2025/1/02/a-09bb12ef01?d=1&page=2`,
    `${site}/2025/1/02/a-x9k2m4q8r1t7v3w5?d&page=`,
  ];
  assert.deepEqual(same.map(shapeOf), new Array(3).fill('/0/0/0/a-#?d&page'));
  assert.equal(shapeOf(`${site}/deadbeef/facade.html`), '/deadbeef/facade.html');
  assert.equal(shapeOf(`${site}/calendar?m1=3`), '/calendar?m0');
  assert.equal(shapeOf(`${site}/shop?size=1&brand=2&size=3&size=4`), '/shop?brand&size');
  assert.equal(shapeOf(`${site}/shop?size=1&brand=2&colour=3&price=4`), '/shop?*');
  assert.notEqual(shapeOf(`${site}/a?x=1`), shapeOf(`${site}/a?y=1`));
});

test('a shape is refused after fifty pages of which nine in ten are copies, not before and not with fewer', () => {
  const trap = new ShapeCounter();
  for (let day = 1; day <= 49; day++) trap.count(`${site}/calendar/${day}`, true);
  assert.equal(trap.refuses(`${site}/calendar/900`), false);
  trap.count(`${site}/calendar/50`, true);
  assert.equal(trap.refuses(`${site}/calendar/900`), true);
  assert.equal(trap.refuses(`${site}/calendar`), false);
  assert.equal(trap.refuses(`${site}/articles/900`), false);
  for (let day = 51; day <= 55; day++) trap.count(`${site}/calendar/${day}`, false);
  assert.equal(trap.refuses(`${site}/calendar/900`), true); // 50 of 55
  trap.count(`${site}/calendar/56`, false);
  assert.equal(trap.refuses(`${site}/calendar/900`), false); // 50 of 56
});

test('a page that has no family is not judged by its namesakes', () => {
  const counter = new ShapeCounter();
  for (let times = 0; times < 100; times++) counter.count(`${site}/about`, true);
  assert.equal(counter.size, 0);
  assert.equal(counter.refuses(`${site}/about`), false);
});

test('at most a thousand shapes are remembered, those counted last', () => {
  const counter = new ShapeCounter();
  for (let page = 0; page < 60; page++) counter.count(`${site}/old/${page}`, true);
  for (let kind = 0; kind < 1000; kind++) {
    counter.count(`${site}/${'a'.repeat(1 + (kind % 40))}x${'b'.repeat(1 + Math.floor(kind / 40))}/7`, false);
    if (kind === 500) assert.equal(counter.refuses(`${site}/old/77`), true);
  }
  assert.equal(counter.size, 1000);
  assert.equal(counter.refuses(`${site}/old/77`), false);
});
