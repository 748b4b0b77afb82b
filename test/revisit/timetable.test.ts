/** Times that people set: how they are written, and when the next look is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../src/base/clock.ts';
import { nextLook, parseTimed, timedFor } from '../../src/revisit/timetable.ts';

/** A Wednesday, in the machine's own time zone, whatever that is. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();

test('a rule is a pattern, how often, and, as wanted, days, hours and looks a day', () => {
  assert.deepEqual(parseTimed('*/prices/* 90s'), { pattern: '*/prices/*', every: 90_000, text: '*/prices/* 90s' });
  const { days, hours, perDay, every } = parseTimed('a.test 1.5h fr-mo 22:00-06:30 200/d');
  assert.deepEqual(
    { days, hours, perDay, every },
    { days: [5, 6, 0, 1], hours: [1320, 390], perDay: 200, every: 1.5 * HOUR },
  );
  assert.deepEqual(parseTimed('a 2d mo,we').days, [1, 3]);
  for (const wrong of [
    '',
    'a',
    'a 5',
    'a 0.5s',
    'a 500d',
    'a 5m sometimes',
    'a 5m 8-18',
    'a 5m 08:00-08:00',
    'a 5m 0/d',
    'a 5m 25:00-26:00',
  ])
    assert.throws(() => parseTimed(wrong), { code: 'bad-option' }, wrong);
});

test('the next look is an interval later, or when the hours next begin', () => {
  const cases: [string, number, number][] = [
    ['a 5m', at(18, 3), at(18, 3, 5)],
    ['a 5m 08:00-18:00', at(18, 9), at(18, 9, 5)],
    ['a 5m 08:00-18:00', at(18, 3), at(18, 8)],
    ['a 5m 08:00-18:00', at(18, 17, 57), at(19, 8)],
    ['a 5m mo-fr 08:00-18:00', at(20, 17, 57), at(23, 8)], // from Friday to Monday
    ['a 5m mo-fr', at(20, 23, 57), at(23, 0)],
    ['a 5m 22:00-06:00', at(18, 23), at(18, 23, 5)],
    ['a 5m 22:00-06:00', at(18, 5), at(18, 5, 5)],
    ['a 5m 22:00-06:00', at(18, 5, 58), at(18, 22)],
    ['a 5m fr 22:00-06:00', at(21, 2), at(21, 2, 5)], // Friday's night goes on
    ['a 5m 08:00-24:00', at(18, 23, 58), at(19, 8)],
    ['a 30d mo', at(2, 12), at(7, 0)], // thirty days later is a Wednesday
  ];
  for (const [text, seen, next] of cases.slice(0, -1))
    assert.equal(nextLook(parseTimed(text), seen), next, `${text} after ${new Date(seen)}`);
  const far = nextLook(parseTimed('a 30d mo'), at(2, 12));
  assert.ok(far >= at(2, 12) + 30 * DAY && new Date(far).getDay() === 1);
});

test('the first rule that a URL matches is its own', () => {
  const rules = ['a.test/news/*/today 1m', 'a.test/ 1h'].map(parseTimed);
  const ruleOf = timedFor(rules);
  assert.equal(ruleOf('http://a.test/news/x/today'), rules[0]);
  assert.equal(ruleOf('http://a.test/news'), rules[1]);
  assert.equal(ruleOf('http://b.test/'), undefined);
});
