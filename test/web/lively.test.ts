/** The lively site is what it says: the same for the same seed and moment, and true about what changes in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../src/base/clock.ts';
import { movableClock } from './clock.ts';
import { adversaries } from './lively/adversaries.ts';
import { type Lively, openLively } from './lively/lively.ts';
import { kindNames, kinds, news } from './lively/news.ts';
import { noise, noiseNames } from './lively/noise.ts';
import { type Look, rhythms, tickOf } from './lively/part.ts';
import { planOf } from './lively/plan.ts';
import { hashOf } from './random.ts';

const lookAt = (time: number, turn = 0): Look => ({ time, turn, count: turn, round: 0, again: 0 });

test('each kind of news has another value at another tick, and the same at the same', () => {
  for (const kind of kindNames) {
    const show = kinds[kind]!;
    for (let tick = 0; tick < 20; tick++) {
      const [one, same, next] = [tick, tick, tick + 1].map(at => show(hashOf(5, 7, at), 5, at));
      assert.equal(one, same, kind);
      assert.notEqual(one, next, `${kind}, tick ${tick}`);
    }
  }
});

test('each rhythm keeps its time', () => {
  const values = (rhythm: (typeof rhythms)[number]) =>
    new Set(Array.from({ length: 14 * 24 }, (_, hour) => tickOf(rhythm, 9, lookAt(hour * HOUR, hour)))).size;
  assert.deepEqual(
    rhythms.map(rhythm => [rhythm, values(rhythm)]),
    [
      ['request', 336],
      ['second', 336],
      ['hour', 336],
      ['day', 15],
      ['week', 3],
      ['once', 2],
      ['swing', 2],
      ['pair', 2],
      ['never', 1],
    ],
  );
});

test('noise differs between looks at the same moment, and news does not', () => {
  for (const kind of noiseNames.hard) {
    const looks = Array.from({ length: 8 }, (_, turn) => noise(kind, 3).html(lookAt(DAY, turn)));
    assert.ok(new Set(looks).size > 1, kind);
  }
  for (const kind of kindNames) {
    const looks = Array.from({ length: 8 }, (_, turn) => news(kind, 'hour', 3).html(lookAt(DAY, turn)));
    assert.equal(new Set(looks).size, 1, kind);
  }
});

test('the news of an adversary stands in its HTML, and changes over days only', () => {
  for (const { name, pages } of adversaries(1)) {
    for (const part of pages.flat().filter(({ truth }) => truth === 'news')) {
      const of = (look: Look) => part.news?.(look) ?? part.html(look);
      if (!part.shared) assert.ok(part.html(lookAt(5 * DAY, 1)).includes(of(lookAt(5 * DAY, 2))), name);
      const seen = Array.from({ length: 20 }, (_, day) => of(lookAt(day * DAY + HOUR, day)));
      const alone = part.shared && part !== pages[0]![0];
      assert.equal(new Set(seen).size > 1, !alone, name);
    }
  }
});

async function fetchAll(site: Lively): Promise<string[]> {
  const bodies = [];
  for (const { url } of site.pages.slice(0, 40)) bodies.push(await (await fetch(url)).text());
  return bodies;
}

test('two sites of one seed serve the same at the same moment, and know what they served', async () => {
  const clock = movableClock();
  await using one = await openLively({ seed: 4, clock });
  await using two = await openLively({ seed: 4, clock });
  await clock.advance(3 * DAY);
  const bodies = await fetchAll(one);
  assert.deepEqual(bodies, await fetchAll(two));
  for (const [at, { url }] of one.pages.slice(0, 40).entries()) {
    const [serving, ...rest] = one.served(url);
    assert.deepEqual(rest, []);
    for (const html of serving!.seen) assert.ok(bodies[at]!.includes(html), html);
    assert.equal(serving!.news, two.served(two.origin + new URL(url).pathname)[0]!.news);
  }
  one.beginRound();
  assert.deepEqual(one.served(one.pages[0]!.url), []);
});

test('a plan has every kind of news and noise, and another seed another plan', () => {
  const names = planOf(2, 'hard').flatMap(({ parts }) => parts.map(({ name }) => name.split(',')[0]!));
  for (const kind of [...kindNames, ...noiseNames.hard, 'title']) assert.ok(names.includes(kind), kind);
  const shape = (seed: number) => planOf(seed).map(({ parts }) => parts.map(({ name }) => name));
  assert.notDeepEqual(shape(2), shape(3));
  assert.deepEqual(shape(2), shape(2));
});
