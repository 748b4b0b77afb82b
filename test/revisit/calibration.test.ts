/** What visits found corrects what was foretold, and says how far it may be off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDITED, Calibration, type Cell } from '../../src/revisit/calibration.ts';

const TODAY = 100;
const cell = (more: Partial<Cell>): Cell => ({
  ...{ server: 1, kind: 0, day: TODAY - 1, looks: 100, foretold: 10, found: 10 },
  ...more,
});
const part = { server: 1, kind: 0, pages: 1000, unseen: 900, stale: 50 };

test('forecasts that come true are believed', () => {
  const days = Array.from({ length: 10 }, (_, i) => cell({ day: TODAY - 10 + i }));
  const { expected, low, high } = new Calibration(days, TODAY).fresh([part]);
  assert.ok(Math.abs(expected - 0.95) < 0.01, `${expected}`);
  assert.ok(low < expected && expected < high && high - low < 0.1, `${low} to ${high}`);
});

test('where visits find four times as much, so much more is expected to be stale', () => {
  const days = Array.from({ length: 10 }, (_, i) => cell({ day: TODAY - 10 + i, found: 40 }));
  const calibration = new Calibration(days, TODAY);
  assert.ok(Math.abs(calibration.now(1, 0) - 4) < 0.2);
  assert.ok(Math.abs(calibration.fresh([part]).expected - 0.8) < 0.02);
});

test('a server of which nothing was seen is like the others', () => {
  const calibration = new Calibration([cell({ found: 30, foretold: 10, looks: 200 })], TODAY);
  assert.ok(calibration.now(2, 0) > 1.5);
  assert.equal(new Calibration([], TODAY).now(2, 0), 1);
});

test('pages chosen by lot count for more than those that the schedule chose', () => {
  const chosen = cell({ found: 0 });
  const lot = cell({ kind: AUDITED, found: 20 });
  assert.ok(new Calibration([chosen, lot], TODAY).now(1, 0) > 1.4);
});

test('one day on which a whole site changed makes the interval wide, and one without days is no interval', () => {
  const quiet = Array.from({ length: 19 }, (_, i) => cell({ day: TODAY - 20 + i, foretold: 1, found: 1 }));
  const calm = new Calibration(quiet, TODAY).fresh([part]);
  const burst = new Calibration([...quiet, cell({ day: TODAY - 25, foretold: 1, found: 90 })], TODAY).fresh([part]);
  assert.ok(burst.low < calm.low - 0.1, `${burst.low} beside ${calm.low}`);
  assert.equal(new Calibration([], TODAY).looks, 0, 'so that nothing need be said');
});
