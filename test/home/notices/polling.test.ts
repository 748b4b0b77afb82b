/** Feeds and ResourceSync as home polls them: what is news, at which pace, and how little a hostile one gets us to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../../src/base/clock.ts';
import type { AskedFaces } from '../../../src/home/notices/messages.ts';
import type { Answered, Asking } from '../../../src/home/notices/reading/asking.ts';
import { discover } from '../../../src/home/notices/reading/discover.ts';
import { verifyKey } from '../../../src/home/notices/reading/indexnow.ts';
import { pollCursor } from '../../../src/home/notices/reading/read-cursor.ts';
import { pollFeed } from '../../../src/home/notices/reading/read-feed.ts';
import { pollSync } from '../../../src/home/notices/reading/read-sync.ts';
import type { FaceState } from '../../../src/ledger/schedule/faces.ts';
import { believable, type Notice } from '../../../src/notices/notice.ts';
import { bucketOf, bucketsFor, encodeEntries, encodeSummary } from '../../../src/notices/site/manifest.ts';
import { asking, origin, reading } from './answers.ts';

const atom = (...dates: string[]) =>
  `<feed>${dates.map((date, i) => `<entry><link href="/${i}"/><updated>${date}</updated></entry>`).join('')}</feed>`;

test('a feed tells what is newer than the last time, and is asked again with its validators at its own pace', async () => {
  const rss = `<rss><channel><ttl>180</ttl><item><link>${origin}/a</link><pubDate>Wed, 01 Jan 2025 00:00:00 GMT</pubDate></item></channel></rss>`;
  const { asking: ask, asked } = asking({ '/feed': { body: rss, headers: { etag: '"1"' } } });
  const face = { kind: 'feed', url: `${origin}/feed`, state: {} } as const;
  const first = await pollFeed(ask, face);
  assert.deepEqual(first.notices, [
    { kind: 'feed', url: `${origin}/a`, change: 'updated', time: Date.UTC(2025, 0, 1) },
  ]);
  assert.equal(first.every, 3 * HOUR);
  const again = await pollFeed(ask, { ...face, state: first.state });
  assert.deepEqual(again.notices, []);
  assert.equal(asked[1]!.etag, '"1"');
  const later = asking({
    '/feed': { body: atom('2024-12-01', '2025-02-01'), headers: { 'cache-control': 'max-age=7200' } },
  });
  const news = await pollFeed(later.asking, { ...face, state: first.state });
  assert.deepEqual(
    news.notices.map(({ url }) => url),
    [`${origin}/1`],
  );
  assert.equal(news.every, 2 * HOUR);
  const same = asking({ '/feed': { status: 304 } });
  assert.deepEqual((await pollFeed(same.asking, { ...face, state: first.state })).state, first.state);
  const page = asking({ '/feed': { body: '<html>' } });
  assert.equal((await pollFeed(page.asking, face)).trouble, 'it is not a feed');
});

const sync = (capability: string, inner: string, root = 'urlset') =>
  `<${root} xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md capability="${capability}"/>${inner}</${root}>`;
const entry = (path: string, terms: string) => `<url><loc>${path}</loc><rs:md ${terms}/></url>`;

test('ResourceSync is followed from its description to the changes since the last time', async () => {
  const table = {
    '/rs': { body: sync('description', entry('/caps', 'capability="capabilitylist"')) },
    '/caps': {
      body: sync(
        'capabilitylist',
        entry('/changes', 'capability="changelist"') + entry('/all', 'capability="resourcelist"'),
      ),
    },
    '/changes': {
      body: sync(
        'changelist',
        entry('/a', 'change="updated" datetime="2025-01-01T00:00:00Z"') +
          entry('/b', 'change="deleted" datetime="2025-02-01T00:00:00Z"'),
      ),
    },
  };
  const { asking: ask, asked } = asking(table);
  const face = { kind: 'resourcesync', url: `${origin}/rs`, state: { until: Date.UTC(2025, 0, 15) } } as const;
  const { notices, state } = await pollSync(reading(ask), face);
  assert.deepEqual(notices, [
    { kind: 'resourcesync', url: `${origin}/b`, change: 'deleted', time: Date.UTC(2025, 1, 1) },
  ]);
  assert.equal(state.until, Date.UTC(2025, 1, 1));
  assert.deepEqual(
    asked.map(({ url }) => url.slice(origin.length)),
    ['/rs', '/caps', '/changes', '/all'],
  );
});

test('an open change list is asked alone with its validators, and what leads to it when it is gone, closed, or a week has passed', async () => {
  const list = (terms: string, more = '') =>
    `<urlset xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md capability="changelist"${terms}/>${entry('/a', 'change="updated" datetime="2025-01-01T00:00:00Z"')}${more}</urlset>`;
  const table: Parameters<typeof asking>[0] = {
    '/rs': { body: sync('description', entry('/caps', 'capability="capabilitylist"')) },
    '/caps': { body: sync('capabilitylist', entry('/changes', 'capability="changelist"')) },
    '/changes': { body: list(''), headers: { etag: '"1"' } },
  };
  const { asking: ask, asked } = asking(table);
  const paths = () => asked.splice(0).map(({ url }) => url.slice(origin.length));
  const poll = (state: FaceState) => pollSync(reading(ask), { kind: 'resourcesync', url: `${origin}/rs`, state });
  const first = await poll({});
  assert.deepEqual(paths(), ['/rs', '/caps', '/changes']);
  assert.deepEqual(first.state.list, { url: `${origin}/changes`, found: ask.now });
  const changed = entry('/b', 'change="updated" datetime="2025-02-01T00:00:00Z"');
  table['/changes'] = { body: list('', changed), headers: { etag: '"2"' } };
  const second = await poll(first.state);
  assert.equal(asked[0]!.etag, '"1"', 'asked whether it has changed');
  assert.deepEqual(paths(), ['/changes']);
  assert.deepEqual(
    second.notices.map(({ url }) => url),
    [`${origin}/b`],
  );
  assert.deepEqual([second.state.etag, second.state.list], ['"2"', first.state.list]);
  const { list: known, ...rest } = second.state;
  const old = await poll({ ...rest, list: { ...known!, found: ask.now - 8 * DAY } });
  assert.deepEqual(paths(), ['/rs', '/caps', '/changes']);
  table['/changes'] = { body: list(' until="2025-03-01T00:00:00Z"') };
  const closed = await poll(old.state);
  assert.deepEqual([paths(), closed.state.list], [['/changes', '/rs', '/caps', '/changes'], undefined]);
  table['/changes'] = { status: 404 };
  const gone = await poll(second.state);
  assert.deepEqual([paths(), gone.notices, gone.trouble], [['/changes', '/rs', '/caps', '/changes'], [], '']);
});

test('an index of change lists without end is read in parts, and a circle ends', async () => {
  const parts = Array.from({ length: 500 }, (_, i) => {
    const until = new Date(Date.UTC(2024, 0, 2) + i * DAY).toISOString();
    return `<sitemap><loc>/list</loc><rs:md until="${until}"/></sitemap>`;
  });
  const { asking: ask, asked } = asking({
    '/index': { body: sync('changelist', parts.join(''), 'sitemapindex') },
    '/list': { body: sync('changelist', entry('/a', 'change="updated" datetime="2024-01-01T00:00:00Z"')) },
  });
  const done = await pollSync(reading(ask), { kind: 'resourcesync', url: `${origin}/index`, state: {} });
  assert.equal(asked.length, 20);
  assert.equal(done.every, 0, 'there is more');
  assert.ok(done.state.until! > Date.UTC(2024, 0, 15), 'and the next poll goes on from there');
  const circle = asking({ '/c': { body: sync('description', entry('/c', 'capability="capabilitylist"')) } });
  await pollSync(reading(circle.asking), { kind: 'resourcesync', url: `${origin}/c`, state: {} });
  assert.ok(circle.asked.length <= 20);
});

test('lists in no order of time that make more than one batch are all told, and an index that leads nowhere is left', async () => {
  const list = (part: number) => {
    const times = part === 0 ? '2025-03-01' : '2025-01-01';
    const entries = Array.from({ length: 30_000 }, (_, i) => entry(`/${part}/${i}`, `datetime="${times}T00:00:00Z"`));
    return { body: sync('resourcelist', entries.join('')) };
  };
  const index = ['/list0', '/list1'].map(loc => `<sitemap><loc>${loc}</loc></sitemap>`).join('');
  const { asking: ask } = asking({
    ...{ '/index': { body: sync('resourcelist', index, 'sitemapindex') }, '/list0': list(0), '/list1': list(1) },
  });
  const told = new Set<string>();
  let face: AskedFaces = { kind: 'resourcesync', url: `${origin}/index`, state: {} };
  for (let polls = 0; polls < 2; polls++) {
    const done = await pollSync(reading(ask), face);
    for (const { url } of believable(done.notices, origin, Date.UTC(2025, 5, 1))) told.add(url);
    assert.equal(done.every, polls === 0 ? 0 : HOUR);
    face = { ...face, state: done.state };
  }
  assert.equal(told.size, 60_000);
  assert.equal(face.state.until, Date.UTC(2025, 2, 1));
  const capabilities = Array.from({ length: 30 }, (_, i) => entry(`/c${i}`, 'capability="capabilitylist"')).join('');
  const nowhere = asking({
    '/rs': { body: sync('description', capabilities) },
    ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`/c${i}`, { body: sync('capabilitylist', '') }])),
  });
  const done = await pollSync(reading(nowhere.asking), { kind: 'resourcesync', url: `${origin}/rs`, state: {} });
  assert.equal(done.every, HOUR, 'the same documents are not read again at once');
});

test('a change in the future does not hide those that come', async () => {
  const { asking: ask } = asking({
    '/list': { body: sync('changelist', entry('/a', 'change="updated" datetime="2999-01-01T00:00:00Z"')) },
  });
  const { state } = await pollSync(reading(ask), { kind: 'resourcesync', url: `${origin}/list`, state: {} });
  assert.ok(state.until! <= Date.UTC(2025, 5, 1));
});

test('faces are found where a site names them, and a server that answers everything has none', async () => {
  const copies = [
    {
      url: `${origin}/`,
      headers: new Map([['link', '<https://hub.test/>; rel=hub, </feed>; rel=self']]),
      text: '<link rel="alternate" type="application/rss+xml" href="/feed">',
    },
  ];
  const json = { 'content-type': 'application/json' };
  const { asking: ask } = asking({
    '/.well-known/skein': { body: '{}', headers: json },
    '/.well-known/resourcesync': { body: 'not found', headers: { 'content-type': 'text/html' } },
  });
  const { found, trouble } = await discover(ask, origin, { robots: 'Sitemap: /changelist.xml', copies });
  assert.deepEqual(
    found.map(({ kind, where }) => `${kind}, ${where}`),
    ['resourcesync, robots.txt', 'hub, link header', 'topic, link header', 'feed, page', 'cursor, well-known'],
  );
  assert.equal(trouble, '');
});

test('a sitemap that is a feed or a list of ResourceSync besides is one, unless the site tells everything', async () => {
  const rs = 'xmlns:rs="http://www.openarchives.org/rs/terms/"';
  const pages = {
    '/.well-known/skein': { status: 404 },
    '/.well-known/resourcesync': { status: 404 },
    '/plain.xml': { body: '<urlset><url><loc>/a</loc></url></urlset>' },
    '/list.xml': {
      body: `<urlset ${rs}><rs:ln rel="up" href="${origin}/all.xml"/><rs:md capability="resourcelist"/><url>`,
    },
    '/news.xml': { body: '<rss><channel>' },
  };
  const robots = ['gone', 'plain', 'list', 'news'].map(name => `Sitemap: ${origin}/${name}.xml\n`);
  const { asking: ask, asked } = asking(pages);
  const { found } = await discover(ask, origin, { robots: robots.slice(1).join(''), copies: [] });
  assert.deepEqual(
    found.map(({ kind, url, where }) => `${kind} ${url.slice(origin.length)}, ${where}`),
    ['resourcesync /all.xml, sitemap', 'feed /news.xml, sitemap'],
  );
  assert.equal(asked.length, 5);
  const { asking: other, asked: less } = asking({ ...pages, '/.well-known/skein': { body: '{}' } });
  await discover(other, origin, { robots: robots.join(''), copies: [] });
  assert.equal(less.length, 2);
});

test('a key is the whole of what the host shows, and nothing else', async () => {
  const key = '0123456789abcdef';
  for (const [body, granted] of [
    [key, true],
    [`${key}\n`, true],
    [`${key}${key}`, false],
    ['', false],
  ] as const) {
    const { asking: ask } = asking({ '/k': { body } });
    assert.equal((await verifyKey(ask, key, `${origin}/k`)).granted, granted);
  }
  const missing = asking({ '/k': { status: 404, body: key } });
  assert.equal((await verifyKey(missing.asking, key, `${origin}/k`)).granted, false);
});

/** A site of so many pages that we have read before, whose journal is another one now. */
function restored(count: number, pages = count) {
  const content = new Uint8Array(8).fill(1);
  const all = Array.from(
    { length: count },
    (_, i) => ({ url: `${origin}/${i}`, kind: 'page', content, time: 0 }) as const,
  );
  const buckets = bucketsFor(pages);
  const spread = Map.groupBy(all, ({ url }) => bucketOf(url, buckets));
  let moment = 0;
  const own = async ({ url }: { url: string }): Promise<Answered> => {
    const { pathname, searchParams } = new URL(url);
    const answer = (status: number, body: Uint8Array) => ({ status, url, body, headers: new Map<string, string>() });
    if (pathname === '/changes') return answer(409, Buffer.from('{"error":"other-history","message":"read it all"}'));
    if (!searchParams.has('of')) {
      const digests = Array.from({ length: buckets }, () => content);
      return answer(200, encodeSummary({ cursor: `${++moment}-${'0'.repeat(16)}`, pages, digests }));
    }
    const of = searchParams.get('of')!.split(',').map(Number);
    return answer(200, encodeEntries(of.flatMap(bucket => spread.get(bucket) ?? [])));
  };
  return { asking: { own } as unknown as Asking, state: { cursor: `9-${'1'.repeat(16)}`, ...places } };
}
const places = { changes: `${origin}/changes`, manifest: `${origin}/manifest` };

/** Polls until the site has no more to say. */
async function readAll({ asking: ask, state }: ReturnType<typeof restored>, held: readonly string[] = []) {
  const told: Notice[] = [];
  const holdings = () => held.map(url => ({ url, content: new Uint8Array(8), spoken: true }));
  const parts = { asking: ask, holdings, token: undefined };
  let face: AskedFaces = { kind: 'cursor', url: `${origin}/.well-known/skein`, state };
  for (let polls = 1; ; polls++) {
    const done = await pollCursor(parts, face, 0);
    // As the thread does with what every reader says.
    told.push(...believable(done.notices, origin, Date.now()));
    face = { ...face, state: done.state };
    if (done.every !== 0) return { told, polls, state: done.state };
    assert.equal(done.state.cursor, state.cursor, 'the cursor stays until everything was told');
  }
}

for (const [what, pages] of [
  ['in its buckets', 55_000],
  ['in one bucket', 1],
] as const) {
  test(`a site of more pages than one batch takes is told of to its end, with them ${what}`, async () => {
    const { told, polls, state } = await readAll(restored(55_000, pages));
    assert.equal(new Set(told.map(({ url }) => url)).size, 55_000);
    assert.equal(told.length, 55_000, 'each once');
    assert.equal(polls, 2);
    assert.equal(state.cursor, `1-${'0'.repeat(16)}`, 'the one from before the first bucket was read');
    assert.equal(state.comparing, undefined);
  });
}

test('more pages gone than one batch takes are all told', async () => {
  const held = Array.from({ length: 51_000 }, (_, i) => `${origin}/old/${i}`);
  const { told } = await readAll(restored(10), held);
  assert.equal(told.filter(({ change }) => change === 'deleted').length, 51_000);
  assert.equal(told.length, 51_010);
});

test('a watch asks a site that keeps it waiting again at once, and one that does not now and then', async () => {
  let now = 0;
  const site = (status: number, waits: number) => {
    const own = async ({ url }: { url: string }, way: string): Promise<Answered> => {
      assert.equal(way, 'held', 'it takes no place of visits while it waits');
      now += waits;
      return { status, url, body: new Uint8Array(), headers: new Map() };
    };
    const asking = {
      own,
      get now() {
        return now;
      },
    } as unknown as Asking;
    const state = { cursor: `9-${'1'.repeat(16)}`, ...places };
    const face = { kind: 'cursor', url: `${origin}/.well-known/skein`, state } as const;
    return pollCursor({ asking, holdings: () => [], token: undefined }, face, 60);
  };
  assert.equal((await site(204, 60_000)).every, 1000);
  assert.equal((await site(204, 20)).every, HOUR / 4);
  assert.equal((await site(500, 60_000)).every, HOUR / 4);
});

test('a cursor from the future is answered with another history, and everything is compared', async () => {
  // The journal went back in time: the place that we read up to has not been written yet.
  const site = restored(10);
  const { told, state } = await readAll({ ...site, state: { ...site.state, cursor: `999999-${'1'.repeat(16)}` } });
  assert.equal(told.length, 10);
  assert.equal(state.cursor, `1-${'0'.repeat(16)}`, 'from now on what the site has');
});

test('a site that always has another history is compared ever more rarely, also by a watch', async () => {
  const { asking: ask, state } = restored(10);
  const parts = { asking: { ...ask, now: 0 } as unknown as Asking, holdings: () => [], token: undefined };
  let face: AskedFaces = { kind: 'cursor', url: `${origin}/.well-known/skein`, state };
  const rests: number[] = [];
  for (let poll = 0; poll < 12; poll++) {
    const done = await pollCursor(parts, face, 60);
    face = { ...face, state: done.state };
    rests.push(done.every);
  }
  assert.ok(rests[0]! <= HOUR && rests[1]! >= HOUR / 2, `${rests}`);
  assert.deepEqual(rests.slice(-2), [24 * HOUR, 24 * HOUR]);
  const calm = {
    own: async ({ url }: { url: string }) => ({ status: 204, url, body: new Uint8Array(), headers: new Map() }),
  };
  const done = await pollCursor({ ...parts, asking: { ...calm, now: 0 } as unknown as Asking }, face, 0);
  assert.ok(done.every <= HOUR, 'one that has found its way is asked as before');
});

test('XML bombs in feeds and lists define nothing, are not expanded, and cost one pass', async () => {
  const levels = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
  const doctype = `<!DOCTYPE x [<!ENTITY l0 "lol">${levels}<!ENTITY f SYSTEM "file:///etc/passwd">]>`;
  const deep = '<a>'.repeat(300_000);
  const when = '2025-01-01T00:00:00Z';
  const bodies = {
    '/feed': `${doctype}<feed><entry><link href="/&l30;&f;"/><updated>${when}</updated></entry>${deep}`,
    '/list': `${doctype}${sync('changelist', `<url><loc>/&l30;&f;</loc><rs:md change="updated" datetime="${when}"/></url>${deep}`)}`,
  };
  const { asking: ask, asked } = asking({ '/feed': { body: bodies['/feed'] }, '/list': { body: bodies['/list'] } });
  const feed = await pollFeed(ask, { kind: 'feed', url: `${origin}/feed`, state: {} });
  const list = await pollSync(reading(ask), { kind: 'resourcesync', url: `${origin}/list`, state: {} });
  for (const { notices } of [feed, list]) {
    assert.ok(notices.length <= 1);
    for (const { url } of notices) assert.ok(url.length < 100 && !/root:|lollol/.test(url), url);
  }
  assert.equal(asked.length, 2, 'nothing that a document names was asked for');
});
