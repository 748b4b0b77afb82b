/** The workbench and the public search over a collection of four partitions answer what they answer over one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { askCollection } from '../../src/engine/open-collection.ts';
import { bringUp } from '../../src/home/indexing/indexing.ts';
import { openSearch } from '../../src/search/index.ts';
import { openServe, type Served } from '../../src/serve/serve.ts';
import { openWorkbench, type Workbench } from '../../src/workbench/server.ts';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { splitCollection } from '../questions/split.ts';
import { openWeb, type Web } from '../web/web.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the API are looked at field by field
type Answer = any;

let web: Web;
let collection: Collection;
let four: Collection;
const benches: Workbench[] = [];
const searches: Served[] = [];
let token: string;

before(async () => {
  collection = makeCollection();
  four = makeCollection();
  collection.pass(-4);
  web = await openWeb({
    ...{ seed: 8, servers: 7, pagesPerServer: 14, clock: collection.clock },
    features: ['redirects', 'errors', 'robots', 'duplicates'],
    rates: [0, 3],
  });
  await collection.crawl(web.seeds, { scope: ['*'] });
  collection.pass(2);
  await collection.refresh({ scope: ['*'], budget: '100%' });
  collection.pass(1);
  await collection.refresh({ scope: ['*'], budget: '20%' });
  splitCollection(collection.directory, four.directory, 4);
  for (const { directory } of [collection, four]) {
    for (const reader of askCollection(directory).here) {
      const index = openSearch(join(reader.directory, 'search.db'));
      await bringUp(reader.directory, index, () => {});
      index.close();
      reader.close();
    }
    benches.push(await openWorkbench({ directory, port: 0, version: 'test' }));
    searches.push(
      await openServe(
        {
          ...{ host: '127.0.0.1', port: 0, origins: [], limit: { rate: 1000, burst: 1000 }, behindProxy: false },
          ...{ synonyms: new Map(), pins: new Map([['pinned', [`${web.origins[2]}/`]]]) },
        },
        askCollection(directory),
      ),
    );
  }
  token = new URL(benches[1]!.address).searchParams.get('token')!;
});

after(async () => {
  for (const each of [...benches, ...searches]) await each.close();
  await web.close();
  collection[Symbol.dispose]();
  four[Symbol.dispose]();
});

async function from(address: string, path: string): Promise<Answer> {
  const response = await fetch(new URL(path, address));
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  return response.json();
}

const ask = (which: 0 | 1, path: string) => from(benches[which]!.address, `/api/v1${path}`);
const both = async (path: string): Promise<[Answer, Answer]> => [await ask(0, path), await ask(1, path)];

/** All parts of a list. */
async function whole(which: 0 | 1, path: string, name: string, key = 'after'): Promise<Answer[]> {
  const found: Answer[] = [];
  let next: number | string | null = null;
  do {
    const part: Answer = await ask(which, `${path}${next === null ? '' : `&${key}=${encodeURIComponent(next)}`}`);
    found.push(...part[name]);
    next = part.next;
  } while (next !== null);
  return found;
}

/** Without the numbers that differ by which partition a thing is in. */
const plain = ({ id: _, page: __, server: ___, ...rest }: Answer): Answer => rest;
const byUrl = (rows: Answer[]) => rows.map(plain).sort((a, b) => (a.url < b.url ? -1 : 1));

test('pages are the same, in every order, each once, and a number leads to its page', async () => {
  for (const order of ['found', 'newest', 'visited', 'changed']) {
    const [one, many] = [
      await whole(0, `/pages?order=${order}&limit=13`, 'pages'),
      await whole(1, `/pages?order=${order}&limit=13`, 'pages'),
    ];
    assert.ok(one.length > 30, order);
    assert.deepEqual(byUrl(many), byUrl(one), order);
    assert.equal(new Set(many.map(({ id }) => id)).size, many.length);
    // Within a partition they come as they do from one; times of visits that were made at once may be out of order there.
    const of = (rows: Answer[], origin: string) => rows.map(({ url }) => url).filter(url => url.startsWith(origin));
    for (const origin of web.origins) assert.deepEqual(of(many, origin), of(one, origin), `${order}: ${origin}`);
  }
  const [failed] = await whole(1, '/pages?outcome=gone&limit=200', 'pages');
  assert.equal((await ask(1, `/pages/${failed.id}`)).url, failed.url);
});

test('one page is the same from every side', async () => {
  for (const url of [web.seeds[0]!, `${web.origins[3]}/`]) {
    const [one, many] = await both(`/find?url=${encodeURIComponent(url)}`);
    const said = ({ id: _, server, parent: __, known, ...rest }: Answer) => ({
      ...rest,
      origin: server.origin,
      title: known.title,
    });
    assert.deepEqual(said(many), said(one));
    const visits = [
      await whole(0, `/pages/${one.id}/visits?limit=2`, 'visits'),
      await whole(1, `/pages/${many.id}/visits?limit=2`, 'visits'),
    ];
    assert.deepEqual(visits[1]!.map(plain), visits[0]!.map(plain));
    for (const direction of ['in', 'out']) {
      const links = [
        await whole(0, `/pages/${one.id}/links?direction=${direction}`, 'links'),
        await whole(1, `/pages/${many.id}/links?direction=${direction}`, 'links'),
      ];
      assert.deepEqual(byUrl(links[1]!), byUrl(links[0]!), `${direction} of ${url}`);
      for (const link of links[1]!.slice(0, 5)) assert.equal((await ask(1, `/pages/${link.id}`)).url, link.url);
    }
    const [why, whyOfMany] = [await ask(0, `/pages/${one.id}/why`), await ask(1, `/pages/${many.id}/why`)];
    assert.equal(whyOfMany.rule, why.rule);
    const stored = visits[1]!.find(visit => visit.stored);
    assert.equal((await fetch(new URL(`/copy/${stored.id}`, benches[1]!.address))).status, 200);
    assert.equal((await ask(1, `/copies/${stored.id}`)).status, 200);
  }
});

test('changes, their days and differences are the same', async () => {
  const [one, many] = [
    await whole(0, '/changes?limit=7', 'changes', 'before'),
    await whole(1, '/changes?limit=7', 'changes', 'before'),
  ];
  assert.ok(one.length > 10);
  assert.deepEqual(byUrl(many), byUrl(one));
  const days = (await both('/changes/days')).map(({ days: lines, ...rest }) => ({
    ...rest,
    lines: lines.map(plain).sort((a: Answer, b: Answer) => a.day - b.day || (a.origin < b.origin ? -1 : 1)),
  }));
  assert.deepEqual(days[1], days[0]);
  const changed = many.find(({ kind, removed }) => kind === 'changed' && removed > 0);
  const visits = await whole(1, `/pages/${changed.page}/visits?limit=50`, 'visits');
  const [to, since] = visits.filter(({ stored }) => stored);
  const difference = await ask(1, `/pages/${changed.page}/difference?from=${since.id}&to=${to.id}`);
  assert.ok(difference.removed + difference.added > 0);
  const server = await ask(1, `/changes?server=${changed.server}&limit=200`);
  assert.ok(server.changes.length > 0 && server.changes.every((each: Answer) => each.server === changed.server));
});

test('servers, account and the numbers of the whole are the same', async () => {
  const [one, many] = [await whole(0, '/servers?limit=2', 'servers'), await whole(1, '/servers?limit=2', 'servers')];
  const byOrigin = (rows: Answer[]) => rows.map(plain).sort((a, b) => (a.origin < b.origin ? -1 : 1));
  assert.deepEqual(byOrigin(many), byOrigin(one));
  assert.equal((await ask(1, `/servers/${many[4].id}`)).origin, many[4].origin);
  const [account, accountOfMany] = await both('/account');
  const rounded = (rows: Answer[]) => rows.map(({ freshness: _, ...row }) => row);
  assert.deepEqual(rounded(accountOfMany.days), rounded(account.days));
  const causes = (rows: Answer[]) => rows.toSorted((a, b) => (a.cause < b.cause ? -1 : 1));
  assert.deepEqual(causes(accountOfMany.causes), causes(account.causes));
  const [now, nowOfMany] = await both('/now');
  for (const name of ['known', 'visited', 'servers', 'due', 'spentToday'])
    assert.equal(nowOfMany.collection[name], now.collection[name], name);
  assert.equal(nowOfMany.visits.length, now.visits.length);
  const metric = async (which: 0 | 1) =>
    (await (await fetch(new URL('/metrics', benches[which]!.address))).text()).match(
      /skein_(?:visits_total|pages_known).*/g,
    );
  assert.deepEqual((await metric(1))?.sort(), (await metric(0))?.sort());
});

test('search finds the same, and a result that is opened counts', async () => {
  // Links from other partitions bring no words yet, so these are words of ordinary pages.
  const { pages } = await ask(0, `/pages?find=${encodeURIComponent('/p/1*.html')}&outcome=same&limit=3`);
  const words = pages.map(({ title }: Answer) => title.split(/\s+/)[0]);
  assert.equal(words.length, 3);
  for (const word of [...words, 'unheardof']) {
    const [one, many] = await both(`/search?q=${encodeURIComponent(word)}&limit=20&unfold=1`);
    assert.equal(many.total, one.total, word);
    assert.deepEqual(many.hits.map(({ url }: Answer) => url).sort(), one.hits.map(({ url }: Answer) => url).sort());
    for (const hit of many.hits.slice(0, 2)) assert.equal((await ask(1, `/pages/${hit.page}`)).url, hit.url);
  }
  const { hits } = await ask(1, `/search?q=${encodeURIComponent(words[0])}`);
  const opened = await fetch(new URL('/api/v1/search/opened', benches[1]!.address), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ page: hits[0].page }),
  });
  assert.deepEqual(await opened.json(), { page: hits[0].page });
  for (const q of [...words, 'pinned']) {
    const answers = await Promise.all(
      searches.map(({ address }) => from(address, `/search?q=${encodeURIComponent(q)}`)),
    );
    const [one, many] = answers.map(({ hits: found, facets, total }) => ({
      ...{ total, facets },
      hits: found.map(({ url, pinned, sections }: Answer) => [url, pinned, sections.length]).sort(),
    }));
    assert.deepEqual(many, one, q);
  }
  // All partitions are counted; pages whose copy is another partition's are not in its index after the split.
  const counts = await Promise.all(searches.map(({ address }) => from(address, '/healthz')));
  assert.ok(counts[1].pages > counts[0].pages * 0.7 && counts[1].pages <= counts[0].pages);
});

test('a place in the list of another collection is refused with a sentence', async () => {
  const answer = await fetch(new URL('/api/v1/pages?after=p1,2', benches[1]!.address));
  assert.equal(answer.status, 400);
  assert.match(((await answer.json()) as { error: string }).error, /another collection/);
});
