import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadReader } from '../../src/crawler/fetch/response-head.ts';
import { NOARCHIVE, NOFOLLOW, NOINDEX, robotsOf } from '../../src/crawler/robots/page-robots.ts';
import { parseHttp } from '../../src/errand/warc/warc.ts';

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
  ['otherbot: noindex\nnoarchive', NOARCHIVE],
  ['noarchive\notherbot: nofollow, noindex\nskein: nofollow', NOARCHIVE | NOFOLLOW],
];

for (const [header, flags] of cases) {
  test(`X-Robots-Tag: ${header?.replaceAll('\n', ' / ') ?? 'none'}`, () =>
    assert.equal(robotsOf(header, 'skein'), flags));
}

test('lines of the header stay apart on the way, in an answer and in a record of it', () => {
  const head =
    'HTTP/1.1 200 OK\r\nX-Robots-Tag: otherbot: nofollow\r\nVary: a\r\nx-robots-tag: noindex\r\nVary: b\r\n\r\n';
  const read = new HeadReader().read(head);
  assert.ok(typeof read !== 'string');
  const recorded = parseHttp(Buffer.from(head));
  for (const headers of [read.headers, recorded!.headers]) {
    assert.equal(robotsOf(headers.get('x-robots-tag'), 'skein'), NOINDEX);
    assert.equal(headers.get('vary'), 'a, b');
  }
});
