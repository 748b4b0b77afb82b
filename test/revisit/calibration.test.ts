/** What visits found corrects what was foretold, and says how far it may be off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDITED, BURST, Calibration, type CalibrationCell, IN_WAVE, NAMED } from '../../src/revisit/calibration.ts';

const TODAY = 100;
const cell = (more: Partial<CalibrationCell>): CalibrationCell => ({
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

test('a wave corrects no rate; it is one day that may come again, and makes stale what it may still have touched', () => {
  const quiet = Array.from({ length: 10 }, (_, i) => cell({ day: TODAY - 10 + i, looks: 5, foretold: 0.1, found: 0 }));
  const began = cell({ kind: BURST, looks: 6, foretold: 0.2, found: 6 });
  const ran = cell({ kind: IN_WAVE, looks: 900, foretold: 20, found: 810 });
  const calibration = new Calibration([...quiet, began, ran], TODAY);
  assert.ok(calibration.now(1, 0) <= 1, `${calibration.now(1, 0)}`);
  const after = calibration.fresh([{ ...part, stale: 5 }]);
  assert.ok(after.expected > 0.9 && after.low < 0.75, `${after.expected}, ${after.low}`);
  const during = calibration.fresh([{ ...part, stale: 5, waved: 500, touched: 450, waveLooks: 500 * 20 }]);
  assert.ok(during.expected > 0.45 && during.expected < 0.6, `${during.expected}`);
});

test('what rests on few looks has a wide interval, and never one narrower than a page of a small site', () => {
  const days = (looks: number) =>
    Array.from({ length: 14 }, (_, i) => cell({ day: TODAY - 14 + i, looks, foretold: looks / 50, found: looks / 50 }));
  const few = new Calibration(days(1), TODAY).fresh([{ ...part, stale: 20 }]);
  const many = new Calibration(days(100), TODAY).fresh([{ ...part, stale: 20 }]);
  assert.ok(
    few.high - few.low > 1.2 * (many.high - many.low),
    `${few.low} to ${few.high}, ${many.low} to ${many.high}`,
  );
  const small = new Calibration(days(1), TODAY).fresh([{ ...part, pages: 20, unseen: 18, stale: 0.2 }]);
  assert.ok(small.low <= 0.95 && small.high === 1, `${small.low} to ${small.high}`);
});

test('what notices foretold is corrected by itself: a sitemap that cries wolf makes no other page fresher', () => {
  const named = cell({ kind: NAMED, looks: 100, foretold: 80, found: 8 });
  const calibration = new Calibration([cell({}), named], TODAY);
  assert.ok(calibration.now(1, NAMED) < 0.2, `${calibration.now(1, NAMED)}`);
  assert.ok(Math.abs(calibration.now(1, 0) - 1) < 0.1, `${calibration.now(1, 0)}`);
  const { expected } = calibration.fresh([
    { ...part, pages: 900, stale: 0 },
    { ...part, kind: NAMED, pages: 100, unseen: 100, stale: 80 },
  ]);
  assert.ok(expected > 0.95 && expected < 0.995, `${expected}`);
});

test('looks of today that found nothing make a day on which all had changed unlikely, and the interval no narrower', () => {
  const burst = Array.from({ length: 12 }, (_, i) =>
    cell({ day: TODAY - 12 + i, looks: 10, foretold: 0.1, found: i % 4 === 0 ? 8 : 0 }),
  );
  const unseen = { ...part, stale: 0.5 };
  const before = new Calibration(burst, TODAY).fresh([unseen]);
  const quiet = new Calibration([...burst, cell({ day: TODAY, looks: 10, foretold: 0.1, found: 0 })], TODAY).fresh([
    unseen,
  ]);
  const loud = new Calibration([...burst, cell({ day: TODAY, looks: 10, foretold: 0.1, found: 6 })], TODAY).fresh([
    unseen,
  ]);
  assert.ok(quiet.expected > before.expected + 0.05, `${quiet.expected} beside ${before.expected}`);
  assert.ok(loud.expected < before.expected - 0.05, `${loud.expected} beside ${before.expected}`);
  assert.ok(quiet.low < 0.7, `${quiet.low}`);
});

test('however quiet a site was, one of its pages that were not looked at may have changed', () => {
  const quiet = Array.from({ length: 30 }, (_, i) => cell({ day: TODAY - 30 + i, looks: 50, foretold: 0.5, found: 0 }));
  const { low } = new Calibration(quiet, TODAY).fresh([{ ...part, pages: 50, unseen: 45, stale: 0.01 }]);
  assert.ok(low <= 1 - 1 / 50, `${low}`);
});

test('few looks that found nothing leave open that some pages changed, many do not', () => {
  const site = { ...part, pages: 56, unseen: 50, stale: 0.2 };
  const lowAfter = (looks: number) => {
    const days = Array.from({ length: 10 }, (_, i) => cell({ day: TODAY - 9 + i, looks, foretold: 0.1, found: 0 }));
    return new Calibration(days, TODAY).fresh([site]).low;
  };
  // Six looks a day miss four changed pages of 56 on 62 days of a hundred.
  assert.ok(lowAfter(6) <= 1 - 4 / 56, `${lowAfter(6)}`);
  assert.ok(lowAfter(50) > 0.95, `${lowAfter(50)}`);
});

test('forecasts of many servers may be too dark at once, so that the upper end of all is near that of each', () => {
  const servers = Array.from({ length: 20 }, (_, i) => i + 1);
  const days = servers.map(server => cell({ server, looks: 5, foretold: 0.3, found: 0 }));
  const calibration = new Calibration(days, TODAY);
  const parts = servers.map(server => ({ ...part, server, pages: 150, unseen: 130, stale: 10 }));
  const highs = parts.map(each => calibration.fresh([each]).high);
  const mean = highs.reduce((sum, high) => sum + high, 0) / highs.length;
  const { high } = calibration.fresh(parts);
  assert.ok(high >= mean - 0.005, `${high} beside ${mean}`);
});
