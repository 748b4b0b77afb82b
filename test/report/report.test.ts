/** `skein report` on a site whose faults are known, each in the list where it belongs and nowhere else. */
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { strongComponents } from '../../src/report/components.ts';
import type { CheckName } from '../../src/report/findings.ts';
import { readMarkup } from '../../src/report/markup.ts';
import { openPages, type Pages, prose } from '../journeys/pages.ts';
import { fast, skein, skeinJson, workplace } from '../journeys/skein.ts';

interface Told {
  readonly check: CheckName;
  readonly url: string;
  readonly time: string;
  readonly status: number;
  readonly detail: string;
  readonly related: readonly { url: string; anchor: string }[];
}
interface Whole {
  readonly counts: Record<string, number>;
  readonly findings: readonly Told[];
  readonly structure: { pages: number; components: Record<string, number> };
  readonly unchecked: number;
}

const place = workplace();
let site: Pages;
let other: Pages;

const link = (href: string, text = href) => `<a href="${href}">${text}</a>`;
const page = (title: string, seed: number, body: string, head = '') => ({
  body: `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><p>${prose(seed)}</p>${body}</body></html>`,
});
const described = (text: string) => `<meta name="description" content="${text}">`;

before(async () => {
  site = await openPages();
  other = await openPages();
  const { origin } = site;
  const to = [
    ...['/a', '/b', '/hop1', '/loop1', '/gone-twice', '/long', '/translated'],
    ...['/copy', '/original', '/untitled', '/badcanon', '/oldcanon'],
  ];
  const links = `${to.map(href => link(href)).join(' ')} ${link('/missing', 'a dead end')} ${link(`${other.origin}/fine`)} ${link(`${other.origin}/dead`, 'elsewhere')}`;
  site.set('/robots.txt', { body: `Sitemap: ${origin}/sitemap.xml`, headers: { 'content-type': 'text/plain' } });
  site.set('/sitemap.xml', {
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${['/', '/a', '/orphan', '/not-there'].map(path => `<url><loc>${origin}${path}</loc></url>`).join('')}</urlset>`,
    headers: { 'content-type': 'application/xml' },
  });
  site.set(
    '/',
    page('Front', 1, `${links}<img src="/lost.png"><script src="/code.js"></script>`, described('The front')),
  );
  site.set('/code.js', { body: '1', headers: { 'content-type': 'text/javascript' } });
  site.set(
    '/a',
    page('Same title', 2, `${link('/missing', 'another way')}<img src="/missing">`, described('One and the same')),
  );
  site.set('/b', page('Same title', 3, '', described('One and the same')));
  site.set('/orphan', page('Orphan', 4, link('/'), described('Alone')));
  site.set('/hop1', { status: 301, headers: { location: '/hop2' } });
  site.set('/hop2', { status: 301, headers: { location: '/a' } });
  site.set('/loop1', { status: 302, headers: { location: '/loop2' } });
  site.set('/loop2', { status: 302, headers: { location: '/loop1' } });
  site.set('/gone-twice', { status: 301, headers: { location: '/missing-too' } });
  site.set('/long', page('x'.repeat(70), 5, '', described('y'.repeat(170))));
  site.set(
    '/translated',
    page(
      'Translated',
      6,
      '',
      `${described('t')}<link rel="alternate" hreflang="de" href="/b"><link rel="alternate" hreflang="fr" href="/missing">`,
    ),
  );
  site.set('/original', page('Original', 7, '', described('o')));
  site.set('/copy', page('Original', 7, '', described('o')));
  site.set('/untitled', page('', 8, ''));
  site.set('/badcanon', page('Canon', 9, '', `${described('c')}<link rel="canonical" href="/missing">`));
  site.set('/oldcanon', page('Old canon', 10, '', `${described('d')}<link rel="canonical" href="/hop2">`));
  other.set('/fine', page('Fine', 11, ''));
  const ran = await skein(['crawl', `${origin}/`, '--data', place.path, ...fast]);
  assert.equal(ran.code, 0, ran.stderr);
});

after(async () => {
  await site[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

async function report(...more: string[]): Promise<Whole> {
  return skeinJson<Whole>('report', '--data', place.path, '--fail-on', 'never', ...more);
}

test('every fault is found, with the pages and anchors that hold it', async () => {
  const { findings, unchecked, structure } = await report();
  const { origin } = site;
  const of = (check: CheckName) => findings.filter(each => each.check === check);
  const paths = (check: CheckName) =>
    of(check)
      .map(({ url }) => url.replace(origin, ''))
      .sort();
  assert.deepEqual(paths('broken-link'), ['/gone-twice', '/missing']);
  const missing = of('broken-link').find(({ url }) => url.endsWith('/missing'))!;
  assert.deepEqual(
    missing.related.filter(({ anchor }) => anchor !== ''),
    [
      { url: `${origin}/`, anchor: 'a dead end' },
      { url: `${origin}/a`, anchor: 'another way' },
    ],
  );
  const holders = missing.related.map(({ url }) => url);
  assert.deepEqual(holders, [...new Set(holders)], 'a page that links to it and shows it, too, is named once');
  assert.equal(missing.status, 404);
  assert.match(missing.time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.match(of('broken-link').find(({ url }) => url.endsWith('twice'))!.detail, /^http-404 at .*missing-too$/);
  assert.deepEqual(paths('redirect-chain'), ['/hop1']);
  assert.match(of('redirect-chain')[0]!.detail, /2 redirects to .*\/a$/);
  assert.ok(paths('redirect-loop').includes('/loop1'));
  assert.deepEqual(paths('title-missing'), ['/untitled']);
  assert.deepEqual(paths('title-long'), ['/long']);
  assert.deepEqual(
    of('title-duplicate')
      .map(({ detail }) => detail)
      .sort(),
    ['Same title'],
  );
  assert.deepEqual(paths('description-missing'), ['/untitled']);
  assert.deepEqual(paths('description-long'), ['/long']);
  assert.ok(of('description-duplicate').some(({ detail }) => detail === 'One and the same'));
  assert.deepEqual(paths('canonical-broken'), ['/badcanon']);
  assert.deepEqual(paths('canonical-moved'), ['/oldcanon']);
  assert.deepEqual(paths('hreflang-broken'), ['/translated']);
  assert.deepEqual(paths('hreflang-unreturned'), ['/translated']);
  assert.deepEqual(paths('duplicate'), ['/original']);
  assert.deepEqual(paths('orphan'), ['/orphan']);
  assert.deepEqual(paths('sitemap-dead'), ['/not-there']);
  assert.ok(paths('sitemap-missing').includes('/b') && !paths('sitemap-missing').includes('/a'));
  assert.deepEqual(paths('broken-requisite'), [], 'nobody asked for them');
  assert.equal(unchecked, 4, 'two pages of another site, an image and a script');
  const { core, intoCore, fromCore, rest } = structure.components;
  assert.equal(core! + intoCore! + fromCore! + rest!, structure.pages);
});

test('only a server that has a sitemap leaves pages out of it', async () => {
  using own = workplace();
  await using mapped = await openPages();
  await using plain = await openPages();
  mapped.set('/robots.txt', {
    body: `Sitemap: ${mapped.origin}/sitemap.xml`,
    headers: { 'content-type': 'text/plain' },
  });
  mapped.set('/sitemap.xml', {
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${mapped.origin}/</loc></url></urlset>`,
    headers: { 'content-type': 'application/xml' },
  });
  mapped.set('/', page('Listed', 20, link('/left-out')));
  mapped.set('/left-out', page('Left out', 21, ''));
  plain.set('/', page('No sitemap here', 22, link('/more')));
  plain.set('/more', page('More', 23, ''));
  const ran = await skein(['crawl', `${mapped.origin}/`, `${plain.origin}/`, '--data', own.path, ...fast]);
  assert.equal(ran.code, 0, ran.stderr);
  const { findings } = await skeinJson<Whole>('report', '--data', own.path, '--fail-on', 'never');
  const left = findings.filter(({ check }) => check === 'sitemap-missing').map(({ url }) => url);
  assert.deepEqual(left, [`${mapped.origin}/left-out`]);
});

test('--external asks only for what is told', async () => {
  const before = other.asked.length;
  const { unchecked } = await report('--external', '--pace', '0', '--allow-private', '--only', 'broken-requisite');
  assert.equal(other.asked.length, before, 'links to other sites are another check');
  assert.ok(unchecked >= 2, `${unchecked}`);
});

test('--external asks by HEAD for what the collection does not hold, through the gate', async () => {
  const asked = other.asked.length;
  const closed = await report('--external', '--pace', '0', '--only', 'broken-external,broken-requisite');
  assert.equal(other.asked.length, asked, 'a private address that no seed names is not opened');
  assert.deepEqual(
    closed.findings.map(({ url }) => url),
    [`${site.origin}/lost.png`],
    'the seed named this one',
  );
  const open = await report('--external', '--pace', '0', '--allow-private', '--only', 'broken-external');
  assert.deepEqual(
    open.findings.map(({ url, status, related }) => ({ url, status, related })),
    [{ url: `${other.origin}/dead`, status: 404, related: [{ url: `${site.origin}/`, anchor: 'elsewhere' }] }],
  );
});

test('exit codes for machines, --since for what is new, and bad words are answered', async () => {
  const run = (...more: string[]) => skein(['report', '--data', place.path, ...more]);
  assert.equal((await run()).code, 7);
  assert.equal((await run('--only', 'slow')).code, 0);
  assert.equal((await run('--only', 'title-long')).code, 0, 'notices are no errors');
  assert.equal((await run('--only', 'title-long', '--fail-on', 'notice')).code, 7);
  const future = await run('--since', '2999-01-01');
  assert.equal(future.code, 0);
  assert.match(future.stdout.toString(), /^0 errors, 0 warnings, 0 notices in \d+ pages of \d+ URLs\./);
  const wrong = await run('--only', 'broken-lnk');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /Did you mean "broken-link"\?/);
  assert.equal((await run('--out', 'report.pdf')).code, 2);
});

test('CSV and HTML: one row a source, nothing loaded, nothing that pages say is markup', async () => {
  const csv = join(place.path, 'report.csv');
  const html = join(place.path, 'report.html');
  // A link that somebody laid where it is written aside is not written through, and a place that is none is told in a sentence.
  const other = join(place.path, 'other');
  writeFileSync(other, 'of the user');
  symlinkSync(other, `${html}.part`);
  for (const out of [csv, html]) await skein(['report', '--data', place.path, '--out', out]);
  assert.equal(readFileSync(other, 'utf8'), 'of the user');
  const nowhere = await skein(['report', '--data', place.path, '--out', join(place.path, 'none', 'report.csv')]);
  assert.match(nowhere.stderr, /cannot be written/);
  const rows = readFileSync(csv, 'utf8').split('\r\n');
  assert.equal(rows[0], 'check,level,url,status,detail,time,related,anchor');
  assert.ok(rows.some(row => row.startsWith('broken-link,error,') && row.endsWith('/a,another way')));
  const text = readFileSync(html, 'utf8');
  assert.match(text, /<q>a dead end<\/q>/);
  assert.match(text, /<svg[^>]* role="img"/);
  assert.doesNotMatch(text, /<(?:script|img|link|iframe)\b|url\(|@import/i);
});

test('markup: base, srcset, relations, and no requisite twice', () => {
  const { description, translations, requisites } = readMarkup(
    `<base href="/sub/"><meta name=Description content=" two
     words "><link rel="alternate" hreflang="DE" href="de"><link rel="stylesheet" href="s.css"><link rel="shortcut icon" href="i.ico">
     <img src="a.png" srcset="a.png 1x, b.png 2x"><video poster="p.jpg"><source src="v.mp4"></video><object data="o.svg"></object><script src=""></script>`,
    'http://site.example/page',
  );
  assert.equal(description, 'two words');
  assert.deepEqual(translations, [{ language: 'de', url: 'http://site.example/sub/de' }]);
  const names = ['s.css', 'i.ico', 'a.png', 'b.png', 'p.jpg', 'v.mp4', 'o.svg'];
  assert.deepEqual(
    requisites,
    names.map(name => `http://site.example/sub/${name}`),
  );
});

test('components: a core, what leads into it, what it leads to, and what stands apart; a long chain is no trouble', () => {
  // 1 → 2 ⇄ 3 → 4, and 5 ⇄ 5 alone
  const pairs = Uint32Array.of(1, 2, 2, 3, 3, 2, 3, 4, 5, 5);
  assert.deepEqual(strongComponents([1, 2, 3, 4, 5], pairs, 5), {
    ...{ strong: 4, weak: 2, largestWeak: 4, core: 2, intoCore: 1, fromCore: 1, rest: 1 },
  });
  const ids = Array.from({ length: 200_000 }, (_, i) => i + 1);
  const chain = Uint32Array.from(ids.slice(0, -1).flatMap(id => [id, id + 1]));
  assert.equal(strongComponents(ids, chain, ids.length).strong, ids.length);
  assert.equal(strongComponents([], new Uint32Array(0), 0).core, 0);
});
