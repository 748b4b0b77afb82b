import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, DAY, HOUR } from '../../src/base/clock.ts';
import { AddressSlots, makeSlots } from '../../src/crawler/pace/address-slots.ts';
import { type Effect, parseRetryAfter, retryAfter } from '../../src/crawler/pace/answer-effect.ts';
import { Pace, type PaceTerms, type Turn } from '../../src/crawler/pace/pace.ts';
import { randomly } from '../random.ts';

/** Time that moves only when the test says so. */
class HandClock implements Clock {
  time = 1_000_000;
  readonly sleepers: { at: number; wake: () => void }[] = [];

  now(): number {
    return this.time;
  }

  ticks(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const sleeper = { at: this.time + ms, wake: resolve };
      this.sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        const at = this.sleepers.indexOf(sleeper);
        if (at >= 0) this.sleepers.splice(at, 1);
        resolve();
      });
    });
  }

  /** Moves on, waking sleepers in order, each with the time at which it asked to be woken. */
  async move(ms: number): Promise<void> {
    const end = this.time + ms;
    await settled();
    for (;;) {
      const next = this.sleepers.reduce<(typeof this.sleepers)[0] | undefined>(
        (a, b) => (a && a.at <= b.at ? a : b),
        undefined,
      );
      if (next === undefined || next.at > end) break;
      this.sleepers.splice(this.sleepers.indexOf(next), 1);
      this.time = Math.max(this.time, next.at);
      next.wake();
      await settled();
    }
    this.time = end;
  }
}

const settled = () => new Promise(resolve => setImmediate(resolve));
const terms = (change: Partial<PaceTerms> = {}): PaceTerms => ({
  pace: 1000,
  connections: 1,
  notBefore: 0,
  crawlDelay: 0,
  ...change,
});
const ADDRESS = '192.0.2.1';
const fine: Effect = { status: 200, firstByteMs: 5, retryAfterMs: 0, failed: false, address: '' };

/** Asks for `count` turns, ends each after `ms` with `effect`, and notes when they started, counted from the first ask. */
function run(
  pace: Pace,
  clock: HandClock,
  origin: string,
  options: { count: number; terms: PaceTerms; ms?: number; effect?: Effect },
): number[] {
  const from = clock.time;
  const starts: number[] = [];
  for (let i = 0; i < options.count; i++) {
    void pace.turn(origin, options.terms).then(async turn => {
      starts.push(clock.time - from);
      if (options.ms) await clock.sleep(options.ms);
      turn!.done(options.effect ?? fine);
    });
  }
  return starts;
}

test('requests to a server start one pace apart, servers do not wait for each other', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const one = run(pace, clock, 'http://a', { count: 4, terms: terms() });
  const two = run(pace, clock, 'http://b', { count: 2, terms: terms({ pace: 500 }) });
  await clock.move(10_000);
  assert.deepEqual(one, [0, 1000, 2000, 3000]);
  assert.deepEqual(two, [0, 500]);
  assert.equal(clock.sleepers.length, 0);
});

test('one connection waits for the answer; more connections do not, but keep the pace', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const one = run(pace, clock, 'http://a', { count: 3, terms: terms(), ms: 2500 });
  const three = run(pace, clock, 'http://b', { count: 4, terms: terms({ connections: 3 }), ms: 2500 });
  await clock.move(20_000);
  assert.deepEqual(one, [0, 2505, 5010], 'the end of the answer, and a rest as long as its first byte took');
  assert.deepEqual(three, [0, 1000, 2000, 3000]);
});

test('pace 0 lifts pace, Crawl-delay and rest, not the connections', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const effect = { ...fine, firstByteMs: 900, address: '10.0.0.1' };
  const starts = run(pace, clock, 'http://a', {
    count: 6,
    terms: terms({ pace: 0, connections: 2, crawlDelay: 9000 }),
    ms: 100,
    effect,
  });
  await clock.move(5000);
  assert.deepEqual(starts, [0, 0, 100, 100, 200, 200]);
});

test('Crawl-delay is a floor, and cut at a minute', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const five = run(pace, clock, 'http://a', { count: 3, terms: terms({ crawlDelay: 5000 }) });
  const hour = run(pace, clock, 'http://b', { count: 2, terms: terms({ crawlDelay: HOUR }) });
  await clock.move(100_000);
  assert.deepEqual(five, [0, 5000, 10_000]);
  assert.deepEqual(hour, [0, 60_000]);
});

test('a server that slows down gets a longer rest', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const usual = run(pace, clock, 'http://a', { count: 10, terms: terms(), effect: { ...fine, firstByteMs: 300 } });
  await clock.move(60_000);
  assert.equal(usual.at(-1), 9000);
  const slow = run(pace, clock, 'http://a', { count: 8, terms: terms(), effect: { ...fine, firstByteMs: 3000 } });
  await clock.move(600_000);
  const rest = slow.at(-1)! - slow.at(-2)!;
  assert.ok(rest > 6000 && rest <= 15_000, `${rest}`);
});

test('Retry-After holds the whole server, even at pace 0, and survives a restart', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const busy = { ...fine, status: 503, retryAfterMs: 120_000 };
  const starts = run(pace, clock, 'http://a', { count: 1, terms: terms({ pace: 0 }), effect: busy });
  await clock.move(10);
  assert.deepEqual(starts, [0]);
  const again = new Pace(clock, { records: pace.records() });
  const later = run(again, clock, 'http://a', { count: 2, terms: terms({ pace: 0 }) });
  await clock.move(119_000);
  assert.deepEqual(later, []);
  await clock.move(5000);
  assert.deepEqual(later, [119_990, 119_990]);
  assert.deepEqual(again.records(), []);
});

test('no request before the time that home names', async () => {
  const clock = new HandClock();
  const starts = run(new Pace(clock), clock, 'http://a', {
    count: 1,
    terms: terms({ pace: 0, notBefore: clock.time + 7000 }),
  });
  await clock.move(20_000);
  assert.deepEqual(starts, [7000]);
});

test('failures in a row double the wait, failures together count once, a success ends it', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const broken = { ...fine, status: 500 };
  const starts = run(pace, clock, 'http://a', { count: 5, terms: terms(), effect: broken });
  await clock.move(100_000);
  assert.deepEqual(starts, [0, 1000, 3000, 7000, 15_000]);
  run(pace, clock, 'http://a', { count: 1, terms: terms() });
  await clock.move(400_000);
  assert.equal(pace.recordOf('http://a')!.failures, 0);
  const together = {
    count: 4,
    terms: terms({ pace: 10, connections: 4 }),
    ms: 5000,
    effect: { ...fine, status: 0, failed: true },
  };
  run(pace, clock, 'http://b', together);
  await clock.move(6000);
  assert.equal(pace.recordOf('http://b')!.failures, 1);
});

test('servers on one address share it: a quarter of the pace apart, fairly', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const effect = { ...fine, address: '192.0.2.1' };
  const origins = Array.from({ length: 10 }, (_, i) => `http://s${i}`);
  for (const origin of origins) run(pace, clock, origin, { count: 1, terms: terms(), effect });
  await clock.move(60_000);
  const all = origins.map(origin => run(pace, clock, origin, { count: 3, terms: terms(), effect }));
  await clock.move(60_000);
  assert.deepEqual(
    all.map(starts => starts[0]),
    [0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000, 2250],
  );
  const sorted = all.flat().sort((a, b) => a - b);
  assert.equal(sorted.length, 30);
  for (let i = 1; i < sorted.length; i++) assert.equal(sorted[i]! - sorted[i - 1]!, 250);
  assert.equal(clock.sleepers.length, 0);
});

test('an address holds at most four times the connections', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const effect = { ...fine, address: '192.0.2.1' };
  for (let i = 0; i < 9; i++) run(pace, clock, `http://s${i}`, { count: 1, terms: terms(), effect });
  await clock.move(60_000);
  const turns: Turn[] = [];
  for (let i = 0; i < 9; i++) void pace.turn(`http://s${i}`, terms()).then(turn => turns.push(turn!));
  await clock.move(60_000);
  assert.equal(turns.length, 4);
  turns[0]!.done(effect);
  await clock.move(1000);
  assert.equal(turns.length, 5);
  for (let i = 1; i < 9; i++) {
    turns[i]!.done(effect);
    await clock.move(1000);
  }
  assert.equal(turns.length, 9);
});

test('a waiter can be called off, and leaves no timer behind', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const first = await pace.turn('http://a', terms());
  first!.done({ ...fine, address: '192.0.2.1' });
  first!.done({ ...fine, status: 503, retryAfterMs: 9999 });
  assert.equal(pace.recordOf('http://a')!.notBefore, 0, 'a second done changes nothing');
  const control = new AbortController();
  const second = pace.turn('http://a', terms(), control.signal);
  const third = pace.turn('http://a', terms(), control.signal);
  await settled();
  assert.equal(clock.sleepers.length, 1);
  control.abort();
  assert.equal(await second, undefined);
  assert.equal(await third, undefined);
  assert.equal(clock.sleepers.length, 0);
  assert.equal(await pace.turn('http://a', terms(), control.signal), undefined);
  const starts = run(pace, clock, 'http://a', { count: 1, terms: terms() });
  await clock.move(5000);
  assert.equal(starts.length, 1);
});

test('order is kept, whoever is called off in between', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  const random = randomly(17);
  const given: number[] = [];
  const kept: number[] = [];
  for (let i = 0; i < 200; i++) {
    const control = new AbortController();
    void pace.turn('http://a', terms({ pace: 10 }), control.signal).then(turn => {
      if (turn === undefined) return;
      given.push(i);
      turn.done(fine);
    });
    if (i > 0 && random.below(3) === 0) control.abort();
    else kept.push(i);
  }
  await clock.move(60_000);
  assert.deepEqual(given, kept);
  assert.equal(clock.sleepers.length, 0);
});

test('20,000 servers: all are served, and idle ones are forgotten', async () => {
  const clock = new HandClock();
  const pace = new Pace(clock);
  let served = 0;
  for (let i = 0; i < 20_000; i++) {
    void pace.turn(`http://s${i}`, terms({ pace: 0 })).then(turn => {
      served++;
      turn!.done({ ...fine, address: `10.0.${i % 250}.1` });
    });
    if (i % 1000 === 0) await settled();
  }
  await settled();
  assert.equal(served, 20_000);
  assert.equal(pace.recordOf('http://s0'), undefined);
  assert.notEqual(pace.recordOf('http://s19999'), undefined);
});

test('Retry-After in seconds and in the three forms of dates, bounded', () => {
  const now = Date.parse('Sun, 06 Nov 1994 08:49:00 GMT');
  const table: [string, number][] = [
    ['120', 120_000],
    [' 0 ', 0],
    ['1.5', 1500],
    ['99999999', DAY],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun, 06 Nov 1993 08:49:37 GMT', 0],
    ['Sun, 06 Nov 2094 08:49:37 GMT', DAY],
    ['-5', 0],
    ['soon', 0],
    ['', 0],
    ['Sun, 99 Foo 1994 08:49:37 GMT', 0],
  ];
  for (const [text, ms] of table) assert.equal(parseRetryAfter(text, now), ms, text);
  const headers = new Map([['retry-after', '7']]);
  assert.equal(retryAfter({ status: 429, headers }, now), 7000);
  assert.equal(retryAfter({ status: 200, headers }, now), 0);
  assert.equal(retryAfter({ status: 503, headers: new Map() }, now), 0);
});

test('10,000 malformed Retry-After fields give a time between nothing and a day', () => {
  const random = randomly(19);
  const pieces = [
    'Sun',
    ', ',
    '06',
    ' ',
    'Nov',
    '1994',
    '-',
    '94',
    '08:49:37',
    'GMT',
    '9',
    '99999999999',
    '.',
    'e9',
    '+0000',
    'é',
    '\0',
  ];
  for (let i = 0; i < 10_000; i++) {
    const ms = parseRetryAfter(i % 2 ? random.garbage(40) : random.text(pieces, random.below(10)), 1_800_000_000_000);
    assert.ok(ms >= 0 && ms <= DAY);
  }
});

test('threads hold an address together to four times the connections, and a thread that died holds none of them', async () => {
  const clock = new HandClock();
  const memory = makeSlots();
  const inSeat = (seat: number) =>
    new Pace(clock, { slots: new AddressSlots(memory, seat), locate: async () => ADDRESS });
  const turns: Turn[] = [];
  const ask = (pace: Pace, name: string, count: number) => {
    for (let i = 0; i < count; i++) void pace.turn(`http://${name}${i}`, terms()).then(turn => turns.push(turn!));
  };
  const [first, second] = [inSeat(1), inSeat(2)];
  ask(first, 'a', 3);
  await clock.move(1000);
  ask(second, 'b', 6);
  await clock.move(60_000);
  assert.equal(turns.length, 4);
  // The first one dies with what it had under way; another takes its seat.
  inSeat(1);
  await clock.move(60_000);
  assert.equal(turns.length, 7, 'the one of the second is still under way');
  turns.at(-1)!.done({ ...fine, address: ADDRESS });
  await clock.move(60_000);
  assert.equal(turns.length, 8);
});
