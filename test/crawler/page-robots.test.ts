import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOARCHIVE, NOFOLLOW, NOINDEX, robotsOf } from '../../src/crawler/page-robots.ts';

const cases: [header: string | undefined, flags: number][] = [
  [undefined, 0],
  ['all', 0],
  ['NoIndex, nofollow', NOINDEX | NOFOLLOW],
  ['none,noarchive', NOINDEX | NOFOLLOW | NOARCHIVE],
  ['otherbot: noindex, nofollow', 0],
  ['otherbot: noindex, Skein: nofollow', NOFOLLOW],
  ['unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex', NOINDEX],
  ['max-snippet: 20, noarchive', NOARCHIVE],
  ['nocache', NOARCHIVE],
  ['constructor', 0],
];

for (const [header, flags] of cases) {
  test(`X-Robots-Tag: ${header ?? 'none'}`, () => assert.equal(robotsOf(header, 'skein'), flags));
}
