/** What a narrow terminal gets to see: lines broken between words, URLs that keep both of their ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counting } from '../../src/cli/print/counting.ts';
import { duration, fold, shellWord, shortened, table, thousands, urlTable } from '../../src/cli/print/terminal.ts';

test('lines break between words, colours take no room, and a word that is too long stays whole', () => {
  assert.equal(fold('one two three four', '  ', 9), 'one two\n  three\n  four');
  assert.equal(fold('\u001b[2mone\u001b[22m two', '', 7), '\u001b[2mone\u001b[22m two');
  assert.equal(fold('a http://very.long.example/address b', '', 10), 'a\nhttp://very.long.example/address\nb');
  assert.equal(fold('as it is'), 'as it is', 'without a terminal nothing is broken');
});

test('a URL is cut in its middle', () => {
  assert.equal(shortened('http://a.test/x', 15), 'http://a.test/x');
  const cut = shortened('http://a.test/a/long/way/to/page.html', 20);
  assert.equal(cut.length, 20);
  assert.ok(cut.startsWith('http://') && cut.endsWith('page.html'));
});

test('a narrow table leaves out columns before it cuts the URL, and never goes without it', () => {
  const header = ['outcome', 'type', 'size', 'url'];
  const url = 'http://a.test/a/long/way/to/page.html';
  const rows = [['fetched', 'text/html', 1000, url]];
  const lines = (room: number) => urlTable(header, rows, ['type', 'size'], room).split('\n');
  assert.deepEqual(lines(80)[1], `fetched  text/html  1,000  ${url}`);
  assert.equal(lines(60)[1], `fetched  1,000  ${url}`);
  assert.equal(lines(48)[1], `fetched  ${url}`);
  const [head, row] = lines(40);
  assert.match(head!, /outcome {2}url/);
  assert.match(row!, /^fetched {2}http:\/\/.*….*page\.html$/);
  assert.equal(row!.length, 40);
});

test('what is suggested can be pasted into a shell', () => {
  assert.equal(shellWord('http://a.test/~b/c%20d'), 'http://a.test/~b/c%20d');
  assert.equal(shellWord('http://a.test/?q=1&b=2'), `'http://a.test/?q=1&b=2'`);
});

test('a table has as many rows as there are', () => {
  const rows = Array.from({ length: 130_000 }, () => ['x']);
  assert.equal(table(['word'], rows).split('\n').length, 130_001);
});

test('what takes long tells how far it is: in one line that goes on a terminal, seldom elsewhere, never quiet', () => {
  let now = 0;
  const told = (isTTY: boolean, quiet = false) => {
    const written: string[] = [];
    const stream = { isTTY, write: (text: string) => written.push(text) > 0 };
    now = 0;
    const count = counting(pages => `${pages} pages`, { quiet, stream: stream as never, ticks: () => now });
    for (; now <= 25_000; now += 100) count(now / 100);
    count(0, true);
    return written;
  };
  const terminal = told(true);
  assert.deepEqual([terminal[0], terminal.at(-1)], ['\r\u001b[2K3 pages', '\r\u001b[2K']);
  assert.ok(terminal.length > 100);
  assert.deepEqual(told(false), ['100 pages\n', '200 pages\n']);
  assert.deepEqual(told(true, true), []);
});

test('numbers are grouped as Intl groups them, without loading it', () => {
  for (const value of [0, 7, 999, 1000, 12_345, 1_234_567, 98_765_432_101, -1, -999, -1000, 1234.5, 0.125, 1000.0004])
    assert.equal(thousands(value), value.toLocaleString('en'), String(value));
});

test('what took less than a tenth of a second is told in milliseconds', () => {
  assert.deepEqual([0, 0.4, 43.2, 99, 100, 9900, 61_000].map(duration), [
    '0.0 s',
    '0 ms',
    '43 ms',
    '99 ms',
    '0.1 s',
    '9.9 s',
    '1.0 min',
  ]);
});
