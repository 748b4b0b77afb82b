/** What people read of a message: in mail and feeds, as text and as HTML. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atomOf, rssOf } from '../../src/notify/channels/feed.ts';
import { htmlOf, type Message, messageOf, subjectOf, type ToldChange, textOf } from '../../src/notify/message.ts';

const change: ToldChange = {
  url: 'https://shop.example/boots?a=1&b=2',
  title: 'Boots <script>alert(1)</script>\r\nBcc: all@example.org',
  kind: 'changed',
  time: '2026-11-17T09:12:04.118Z',
  why: '1 word added, 1 word removed in .price',
  added: 1,
  removed: 1,
  diff: 'Price: [-10-] {+<b>12</b>+} EUR\nnext line',
  versions: { before: 'skein diff https://shop.example/boots', after: 'skein cat https://shop.example/boots' },
};
const messageFor = (...changes: ToldChange[]): Message => messageOf('prices', changes, ['1']);

test('the subject names the page, or how many of which kind', () => {
  const other = { ...change, url: 'https://shop.example/shoes', title: 'Shoes' };
  assert.equal(subjectOf(messageFor(other)), 'prices: Shoes changed');
  assert.equal(subjectOf(messageFor({ ...other, kind: 'gone' })), 'prices: Shoes is gone');
  const several = [other, change, { ...change, time: '2026-11-18T09:12:04.118Z' }, { ...other, kind: 'gone' }];
  assert.equal(subjectOf(messageFor(...several)), 'prices: 2 pages changed, 1 gone');
  assert.ok(!/[\r\n]/.test(subjectOf(messageFor(change))));
});

test('text and HTML say the same; what came and went is marked, and nothing of a page acts', () => {
  const [text, html] = [textOf(messageFor(change)), htmlOf(messageFor(change))];
  for (const part of ['changed, seen 2026-11-17 09:12 UTC: 1 word added, 1 word removed in .price', 'skein diff https'])
    for (const shown of [text, html]) assert.ok(shown.includes(part), `${part} in ${shown}`);
  assert.match(html, /Price: <del [^>]*>10<\/del> <ins [^>]*>&lt;b&gt;12&lt;\/b&gt;<\/ins> EUR/);
  assert.match(html, /<a href="https:\/\/shop\.example\/boots\?a=1&amp;b=2">Boots &lt;script&gt;/);
  assert.ok(!html.includes('<script'));
});

test('feeds hold the HTML, so that readers keep its lines', () => {
  const message = messageFor(change);
  const inside = /<(?:content type="html"|description)>(&lt;h3.*?)<\/(?:content|description)>/s;
  const unescaped = (xml: string) =>
    xml.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  for (const feed of [atomOf('prices', [message]), rssOf('prices', [message])])
    assert.equal(unescaped(inside.exec(feed)?.[1] ?? ''), htmlOf(message));
});
