/** Questions asked of partitions on other machines: all that crosses is JSON, checked at both ends. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { partitionOfUrl } from '../../src/base/partition.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { pageOrderNames } from '../../src/ledger/queries/page-list.ts';
import { answerOf, partFrom, questionNames } from '../../src/questions/catalogue.ts';
import { type OpenCollection, openCollection, type PartElsewhere } from '../../src/questions/collection.ts';
import { copyQuestion, versionsQuestion } from '../../src/questions/page/copies.ts';
import { historyQuestion } from '../../src/questions/page/history.ts';
import { linksInQuestion, linksOutQuestion } from '../../src/questions/page/links.ts';
import { aboutUrl } from '../../src/questions/page/page.ts';
import { showQuestion } from '../../src/questions/page/show.ts';
import { whyQuestion } from '../../src/questions/page/why.ts';
import type { PartitionReader } from '../../src/questions/partition-reader.ts';
import { inferredQuestion, lagQuestion, openedQuestion } from '../../src/questions/search/parts.ts';
import { searchCollection, searchWithSpread } from '../../src/questions/search/searching.ts';
import { accountQuestion, accountWanted } from '../../src/questions/whole/account.ts';
import { changesListing, templateEditsQuestion } from '../../src/questions/whole/changes.ts';
import { modelQuestion } from '../../src/questions/whole/load-model.ts';
import { pagesListing } from '../../src/questions/whole/pages.ts';
import { statusQuestion } from '../../src/questions/whole/status.ts';
import { verifyQuestion } from '../../src/questions/whole/verify.ts';
import { CASES, drawing, misshapen, SEED } from '../hostile/fuzz-cases.ts';
import { fast, skein, workplace } from '../journeys/skein.ts';
import { openWeb, type Web } from '../web/web.ts';
import { splitCollection } from './split.ts';

const place = workplace();
const path = (name: string) => join(place.path, name);
let web: Web;

/** A peer has two of four partitions, another the rest; `asked` is what crossed. */
const asked = new Set<string>();
const crossed = new Map<string, { readonly args: unknown; readonly part: unknown }>();
let whole: OpenCollection;
let other: OpenCollection;
let peer: OpenCollection;

/** Every part goes through text, as it would over a line. */
const over = (to: () => OpenCollection): PartElsewhere => ({
  async ask(name, args, partitions) {
    asked.add(name);
    const parts = partitions.map(async partition => {
      const reader = to().here.find(each => each.id === partition)!;
      const given = JSON.parse(JSON.stringify(args)) as unknown;
      const told = JSON.parse(JSON.stringify(await answerOf(reader, name, given))) as unknown;
      if (!crossed.has(name) || told !== null) crossed.set(name, { args: given, part: told });
      const part = partFrom(name, told);
      return { partition, part };
    });
    return { parts: await Promise.all(parts), silent: [] };
  },
});

before(async () => {
  web = await openWeb({ servers: 9, pagesPerServer: 10, features: ['errors', 'duplicates'] });
  const ran = await skein(['crawl', ...web.origins, '--data', path('one'), ...fast]);
  assert.equal(ran.code, 0, ran.stderr);
  splitCollection(path('one'), path('four'), 4);
  // Ports are the system's choice, and with them the partitions that have servers: each peer gets some of these.
  const used = new Set(web.origins.map(origin => partitionOfUrl(origin, 4)));
  const ids = [0, 1, 2, 3].sort((a, b) => Number(used.has(b)) - Number(used.has(a)));
  for (const [name, own] of [
    ['here', [ids[0], ids[2]]],
    ['there', [ids[1], ids[3]]],
  ] as const) {
    mkdirSync(join(path(name), 'partitions'), { recursive: true });
    cpSync(join(path('four'), 'collection.json'), join(path(name), 'collection.json'));
    for (const id of own) {
      const folder = join('partitions', `000${id}`);
      cpSync(join(path('four'), folder), join(path(name), folder), { recursive: true });
    }
  }
  whole = openCollection(path('four'), { openLedger });
  other = openCollection(path('there'), { openLedger });
  peer = openCollection(path('here'), { openLedger, elsewhere: over(() => other) });
});
after(async () => {
  for (const collection of [whole, other, peer]) collection.close();
  await web.close();
  place[Symbol.dispose]();
});

const rowsOf = async <T>(listed: AsyncIterable<readonly T[]>) => {
  const rows: T[] = [];
  for await (const some of listed) rows.push(...some);
  return rows;
};
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A partition of the other peer that has pages, and so an index: the system's choice of ports may leave one empty. */
/** Of its own: stubs are of no index. */
const withPages = () => other.here.find(({ ledger }) => ledger.pages.own > 0);

test('a peer answers for the whole collection, by asking others for what it has not', async () => {
  const same = async (name: string, ask: (collection: OpenCollection) => Promise<unknown>) =>
    assert.deepEqual(plain(await ask(peer)), plain(await ask(whole)), name);
  await same('status', each => each.ask(statusQuestion, {}));
  await same('account', each => each.ask(accountQuestion, accountWanted(0, 4)));
  await same('model', each => each.ask(modelQuestion, {}));
  await same('edits', each => each.ask(templateEditsQuestion, { since: 0 }));
  await same('verify', async each => (await each.ask(verifyQuestion, {})).copies);
  const now = Date.now();
  for (const origin of web.origins) {
    const about = aboutUrl(`${origin}/`, now);
    await same('show', each => each.ask(showQuestion, about));
    await same('why', each => each.ask(whyQuestion, about));
    await same('history', each => each.ask(historyQuestion, about));
    await same('links out', each => each.ask(linksOutQuestion, about));
    await same('links in', each => each.ask(linksInQuestion, about));
    await same('copy', each => each.ask(copyQuestion, { ...about, which: 'current' }));
    await same('versions', each => each.ask(versionsQuestion, { ...about, versions: [1, 2] }));
  }
  const search = async (collection: OpenCollection, query: string) => {
    const { took: _, ...results } = await searchCollection(collection, query, { now, limit: 20 });
    return results;
  };
  const [first] = (await whole.some(pagesListing, { order: 'size', outOfScope: false, limit: 1 }, 1)).map(
    row => row.page,
  );
  const [one = '', two = ''] = String(first!['title']).split(' ');
  const misspelt = one.length > 3 ? `${one.slice(0, -2)}${one.at(-1)}${one.at(-2)}` : one;
  for (const query of [
    'page',
    `${one} ${two}`,
    `${two} ${one} zebra`,
    misspelt,
    `${misspelt}x ${two}`,
    'site:127.0.0.1',
  ])
    await same(query, each => search(each, query));
  const { hits } = await searchCollection(peer, 'type:html', { now });
  for (const { page, url } of hits) assert.equal(await peer.ask(openedQuestion, { page, url }), true);
  const pages = hits.map(({ page }) => page);
  await same('spread', async each => {
    const { spread } = await searchWithSpread(each, 'type:html', { now });
    return spread.toSorted((a, b) => (a.url < b.url ? -1 : 1));
  });
  await same('inferred copies', each => each.ask(inferredQuestion, { pages }));
  assert.equal((await peer.ask(lagQuestion, {})).behind, 0);
});

test('listings are read slice by slice, in the same order', async () => {
  const wanted = { order: 'url', outOfScope: true, limit: 1_000_000 } as const;
  const urls = async (collection: OpenCollection) =>
    (await rowsOf(collection.list(pagesListing, wanted))).map(({ page }) => page['url']);
  assert.deepEqual(await urls(peer), await urls(whole));
  const changes = async (collection: OpenCollection) =>
    plain(await collection.some(changesListing, { first: true, limit: 40 }, 40));
  assert.deepEqual(await changes(peer), await changes(whole));
});

test('a listing goes on behind any row, in every order', () => {
  const stored = ({ ledger }: PartitionReader) => ledger.servers.tallies.total('stored');
  const reader = [...whole.here].sort((a, b) => stored(b) - stored(a))[0];
  for (const order of pageOrderNames) {
    const wanted = { order, outOfScope: true, limit: 1_000_000 } as const;
    const all = [...pagesListing.rows(reader!, wanted)];
    assert.ok(all.length > 20);
    for (const at of [0, 5, all.length - 2, all.length - 1])
      assert.deepEqual([...pagesListing.rows(reader!, wanted, all[at])], all.slice(at + 1), `${order} behind ${at}`);
  }
  const wanted = { first: true, limit: 1_000_000 };
  const all = [...changesListing.rows(reader!, wanted)];
  assert.deepEqual([...changesListing.rows(reader!, wanted, all[7])], all.slice(8));
});

test('every question was among those that crossed', () => {
  assert.deepEqual(
    questionNames.filter(name => !asked.has(name)),
    [],
  );
});

test('what is no such question or answer is refused in a sentence', async () => {
  const reader = withPages();
  await assert.rejects(answerOf(reader!, 'delete-all', {}), /There is no question "delete-all"/);
  await assert.rejects(answerOf(reader!, 'show', { urls: 'x' }), /malformed question "show" \(urls: /);
  await assert.rejects(answerOf(reader!, 'links-in', { urls: ['x'.repeat(10_000)], now: 0 }), /malformed question/);
  await assert.rejects(answerOf(reader!, 'search-counts', { expressions: ['a AND ('], most: 9 }), /cannot be.*fts5/);
  await assert.rejects(answerOf(reader!, 'pages', { args: { order: 'id; DROP TABLE pages' } }), /malformed question/);
  for (const part of [null, 1, {}, { known: 'many' }, { rows: [], more: 1 }])
    assert.throws(() => partFrom('status', part), /malformed answer "status"/);
  assert.throws(() => partFrom('pages', { rows: new Array(501).fill({}), more: false }), /malformed answer/);
});

test('a peer that does not answer is named', async () => {
  const silent: PartElsewhere = { ask: async () => ({ parts: [], silent: ['berta'] }) };
  const alone = openCollection(path('here'), { openLedger, elsewhere: silent });
  const { known } = await alone.ask(statusQuestion, {});
  assert.ok(known > 0 && known < (await whole.ask(statusQuestion, {})).known);
  assert.deepEqual(alone.silent, ['berta']);
  assert.equal(alone.incomplete, 'The peer berta does not answer: what it has is missing here.');
  alone.close();
});

test('whatever the fields of a question or an answer hold, it is answered, taken, or refused in a sentence', async context => {
  const reader = withPages();
  const names = [...crossed.keys()];
  const cases = Math.ceil(CASES / 5);
  context.diagnostic(`seed ${SEED}, ${cases} cases`);
  const counts = { answered: 0, taken: 0 };
  for (let i = 0; i < cases; i++) {
    const draw = drawing(SEED * 1_000_003 + i, i % 2 === 0 ? 20 : 60);
    const name = names[i % names.length]!;
    const { args, part } = crossed.get(name)!;
    const refused = (error: unknown) => assert.ok(error instanceof SkeinError, `${name}, case ${i}: ${error}`);
    await answerOf(reader!, name, plain(misshapen(args, draw))).then(() => counts.answered++, refused);
    try {
      partFrom(name, plain(misshapen(part, draw)));
      counts.taken++;
    } catch (error) {
      refused(error);
    }
  }
  context.diagnostic(JSON.stringify(counts));
  for (const count of Object.values(counts)) assert.ok(count > 0.1 * cases && count < cases);
});

test('a peer that says the same again and again is not listened to for ever', async () => {
  const wanted = { order: 'url', outOfScope: true, limit: 1_000_000 } as const;
  const [row] = await peer.some(pagesListing, wanted, 1);
  const stuck: PartElsewhere = {
    ask: async (_, __, partitions) => ({
      parts: partitions.map(partition => ({ partition, part: { rows: [row], more: true } })),
      silent: [],
    }),
  };
  const alone = openCollection(path('here'), { openLedger, elsewhere: stuck });
  const rows = await rowsOf(alone.list(pagesListing, wanted));
  assert.ok(rows.length > 2);
  alone.close();
});
