import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { unpackFacts } from '../../src/errand/facts.ts';

const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
const contentOf = (html: string): string =>
  Buffer.from(
    unpackFacts(analyse({ url: 'http://a.test/', headers, body: Buffer.from(html) }).facts)!.content,
  ).toString('hex');

/** Pairs in which nothing but a volatile stamp differs. */
const noise: readonly (readonly [string, string])[] = [
  ['Last updated: 2024-05-03', 'Last updated: 2024-06-14'],
  ['Updated 3 May 2024', 'Updated 14 June 2024'],
  ['Last modified on May 3rd, 2024.', 'Last modified on June 14th, 2024.'],
  ['Last update: 03/05/2024', 'Last update: 14/06/2024'],
  ['Generated at 10:15', 'Generated at 23:59'],
  ['Page built Fri May 3 10:15:02 UTC 2024', 'Page built Sat Jun 15 08:00:59 UTC 2024'],
  ['Fri, 03 May 2024 10:15:02 GMT', 'Sat, 15 Jun 2024 08:00:59 GMT'],
  ['2024-05-03T10:15:02Z', '2024-06-15T08:00:59Z'],
  ['2024-05-03T10:15:02.123456+02:00', '2024-06-15T08:00:59.654321+02:00'],
  ['2024-05-03 10:15', '2024-06-15 08:00'],
  ['20240503T101502Z', '20240615T080059Z'],
  ['May 3, 2024 at 10:15 AM', 'June 15, 2024 at 8:00 PM'],
  ['10:15, 3 May 2024', '08:00, 15 June 2024'],
  ['5/3/2024 10:15 PM', '6/15/2024 8:00 AM'],
  ['Posted 3 days ago', 'Posted 4 days ago'],
  ['edited 2 hours, 5 minutes ago', 'edited 3 hours, 1 minute ago'],
  ['an hour ago', '2 hours ago'],
  ['vor 3 Tagen', 'vor 4 Tagen'],
  ['hace 3 días', 'hace 4 días'],
  ['il y a 3 jours', 'il y a 4 jours'],
  ['3日前', '4日前'],
  ['3 May 2024 – 10:15 a.m.', '15 June 2024 – 8:00 p.m.'],
  ['3 May 2024 | 10:15', '15 June 2024 | 08:00'],
  ['3. Mai 2024 um 10:15', '15. Juni 2024 um 08:00'],
  ['3 dagen geleden', '4 dagen geleden'],
  ['3 дня назад', '4 дня назад'],
  ['commit 12345678', 'commit 1f0c3ab9'],
  ['Revision 1f0c3ab9', 'Revision 9ab3c0f1'],
  ['commit 1f0c3ab', 'commit 77e1c02'],
  ['id 123e4567-e89b-12d3-a456-426614174000', 'id 00000000-e89b-12d3-a456-426614174999'],
  ['object at 0x7f3a2c10', 'object at 0x7fbb0010'],
  ['Copyright 2023 Example', 'Copyright 2024 Example'],
  ['© 2010–2023 Example', '© 2010–2024 Example'],
  ['refreshed 5 minutes old', 'refreshed 7 minutes old'],
  ['Stand: 3. Mai 2024', 'Stand: 14. Juni 2024'],
  ['Zuletzt geändert am 3. März 2024', 'Zuletzt geändert am 14. Juni 2024'],
  ['Actualizado el 3 de mayo de 2024', 'Actualizado el 14 de junio de 2024'],
  ['最后更新：2024-05-03', '最后更新：2024-06-14'],
  ['更新日 2024年5月3日', '更新日 2024年6月14日'],
  ['Обновлено 3 мая 2024', 'Обновлено 14 июня 2024'],
  ['Last build 20240503', 'Last build 20240614'],
  ['Built from 12345678', 'Built from 9ab3c0f1'],
  ['As of 3 May 2024 there are none', 'As of 14 June 2024 there are none'],
];

for (const [a, b] of noise) {
  test(`no change: ${a}`, () => assert.equal(contentOf(`<p>${a}</p>`), contentOf(`<p>${b}</p>`)));
}

test('the label may stand in the block before, or in a class', () => {
  const row = (date: string): string => contentOf(`<dl><dt>Last updated</dt><dd>${date}</dd></dl>`);
  assert.equal(row('3 May 2024'), row('14 June 2024'));
  const marked = (date: string): string => contentOf(`<p>x <span class="last-modified">${date}</span></p>`);
  assert.equal(marked('3 May 2024'), marked('14 June 2024'));
  const item = (date: string): string => contentOf(`<time itemprop="dateModified">${date}</time>`);
  assert.equal(item('2024-05-03'), item('2024-06-14'));
});

/** Pairs that differ in what a reader came for. */
const content: readonly (readonly [string, string])[] = [
  ['Meeting: 5 May', 'Meeting: 6 May'],
  ['Meeting: 2024-05-05', 'Meeting: 2024-05-06'],
  ['Doors open at 18:30', 'Doors open at 19:30'],
  ['Price 12', 'Price 21'],
  ['Version 1.2.3', 'Version 1.2.4'],
  ['Updated to version 1.2.3', 'Updated to version 1.2.4'],
  ['Phone 555 1234567', 'Phone 555 7654321'],
  ['3 days left', '4 days left'],
  ['in 2023 there were', 'in 2024 there were'],
  ['The colour is #aabbcc', 'The colour is #ccbbaa'],
  ['Copyright Example', 'Copyright Sample'],
  ['Updated 3 May 2024 by Ann', 'Updated 3 May 2024 by Bob'],
  ['deadbeef', 'beefdead'],
  ['The clip has 1,234 views', 'The clip has 9,234 views'],
  ['She is 34 years old', 'She is 35 years old'],
  ['The house was built for 450000 euros', 'The house was built for 470000 euros'],
  ['Flight AB12345', 'Flight AB12346'],
  ['Part E1234567', 'Part E1234568'],
];

for (const [a, b] of content) {
  test(`a change: ${a}`, () => assert.notEqual(contentOf(`<p>${a}</p>`), contentOf(`<p>${b}</p>`)));
}

/** References in which only what is random differs. */
test('references: random parts of links and file names do not count, others do', () => {
  const same = (a: string, b: string): void => assert.equal(contentOf(a), contentOf(b));
  const other = (a: string, b: string): void => assert.notEqual(contentOf(a), contentOf(b));
  same('<a href="/x?sid=a1b2c3d4">x</a>', '<a href="/x?sid=e5f6a7b8">x</a>');
  other('<a href="/x?sid=5">a station</a>', '<a href="/x?sid=6">a station</a>');
  same('<a href="/x?a=1&utm_source=a">x</a>', '<a href="/x?a=1&utm_source=b">x</a>');
  same('<a href="/x;jsessionid=1A2B">x</a>', '<a href="/x;jsessionid=3C4D">x</a>');
  same('<a href="/%7Euser">x</a>', '<a href="/~user">x</a>');
  same('<a href="/blob/0123456789abcdef0123/f">x</a>', '<a href="/blob/fedcba98765432100123/f">x</a>');
  same('<img src="/a.png?v=1">', '<img src="/a.png?v=2">');
  same('<img src="/logo.1f0c3ab9.png">', '<img src="/logo.9ab3c0f1.png">');
  same('<img src="/logo-D4kXz9Qa.png">', '<img src="/logo-x7Yb2Wq1.png">');
  other('<a href="/x?a=1">x</a>', '<a href="/x?a=2">x</a>');
  other('<a href="/article-12">x</a>', '<a href="/article-21">x</a>');
  other('<img src="/Figure12.png">', '<img src="/Figure13.png">');
  other('<img src="/a.png" alt="one">', '<img src="/a.png" alt="two">');
  other('<img src="/photo-20240503.jpg">', '<img src="/photo-20240614.jpg">');
  other('<svg><path d="M0"/></svg>', '<svg><path d="M1"/></svg>');
  same('<svg><path id=a d="M0"/></svg>', '<svg><path id=b d="M0"/></svg>');
  other('<a href="/r/annual_report_2023_final_v2.pdf">x</a>', '<a href="/r/annual_report_2024_final_v2.pdf">x</a>');
  other('<img src="/team_photo_2024_03_09_large.jpg">', '<img src="/team_photo_2024_03_10_large.jpg">');
  other('<img src="/house-facade1.jpg">', '<img src="/house-facade2.jpg">');
  same('<img src="/goose_hu3f2a9bc81d2e3f4a5b6c_640x0.jpg">', '<img src="/goose_hu9f2a9bc81d2e3f4a5b6d_640x0.jpg">');
});

test('references: what nothing but its token names is another thing where that is another', () => {
  const other = (a: string, b: string): void => assert.notEqual(contentOf(a), contentOf(b));
  other('<img src="/u/3f2a9bc81d.jpg">', '<img src="/u/9f2a9bc81d.jpg">');
  other('<img src="/u/da39a3ee5e6b4b0d3255bfef95601890afd80709">', '<img src="/u/goose.png">');
  other('<img src="/resize?url=%2Fphotos%2Fa.jpg&w=640">', '<img src="/resize?url=%2Fphotos%2Fb.jpg&w=640">');
  assert.equal(
    contentOf('<img src="/resize?url=%2Fphotos%2Fa.jpg&w=640">'),
    contentOf('<img src="/resize?url=%2Fphotos%2Fa.jpg&w=1280">'),
  );
});

test('references: films, sounds, late pictures and buttons are part of what a reader sees', () => {
  for (const [a, b] of [
    ['<video><source src="/a.mp4"></video>', '<video><source src="/b.mp4"></video>'],
    [
      '<picture><source srcset="/a.webp"><img src="/x.jpg"></picture>',
      '<picture><source srcset="/b.webp"><img src="/x.jpg"></picture>',
    ],
    ['<video src="/v.mp4" poster="/a.jpg"></video>', '<video src="/v.mp4" poster="/b.jpg"></video>'],
    ['<object data="/a.pdf"></object>', '<object data="/b.pdf"></object>'],
    ['<input type=submit value="Buy">', '<input type=submit value="Sold out">'],
    ['<img src="/s.gif" data-original="/a.jpg">', '<img src="/s.gif" data-original="/b.jpg">'],
    ['<img src="/s.gif" data-lazy-src="/a.jpg">', '<img src="/s.gif" data-lazy-src="/b.jpg">'],
    ['<img src="/s.gif" data-srcset="/a.jpg 2x">', '<img src="/s.gif" data-srcset="/b.jpg 2x">'],
    ['<iframe data-src="/embed/one"></iframe>', '<iframe data-src="/embed/two"></iframe>'],
  ] as const)
    assert.notEqual(contentOf(a), contentOf(b), b);
  const field = (value: string): string => contentOf(`<input type=hidden name=csrf value="${value}">`);
  assert.equal(field('a1b2c3'), field('d4e5f6'), 'a field that nobody sees');
});

test('what a market of small ads is about is no advertising, a slot for one is', () => {
  const bike = (class_: string, what: string): string => contentOf(`<ul><li class="${class_}">${what}</li></ul>`);
  for (const class_ of ['ad', 'ads', 'advert', 'job-advertisement', 'ad-hoc'])
    assert.notEqual(bike(class_, 'A bike'), bike(class_, 'A car'), class_);
  for (const class_ of ['ad-slot', 'adsbygoogle', 'advert-banner'])
    assert.equal(bike(class_, 'A bike'), bike(class_, 'A car'), class_);
});

test('a page of nothing but numbers or ages is read like any other', () => {
  // Read to its end from each of them it would take hours, or end the stack.
  for (const part of ['1.', '1,', '1,234,', '3 days ', '3 days, ', '2 hours 1.', '3 days 2 hours 1 minute '])
    assert.equal(contentOf(`<p>${part.repeat(1_500_000 / part.length)}</p>`).length, 32, part);
  assert.equal(contentOf('<p>3 years, 2 months, 1 day ago'), contentOf('<p>4 years, 1 month, 9 days ago'));
});
