/** The papers' systems as a user runs them: their rules and detectors by name, with the numbers that are right. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { unpackFacts } from '../../src/errand/facts.ts';
import { hintOf } from '../../src/frontier/errands/errand-terms.ts';
import { changesIn } from '../../src/home/answers/changes.ts';
import { noSshd, openSshd } from '../transfer/sshd.ts';
import { openWeb } from '../web/web.ts';
import { type Collection, makeCollection } from './collection.ts';
import { visitedTwice } from './outpost-processes.ts';
import { html, openPages, type Pages, prose } from './pages.ts';
import { collected, crawlHere, fast, pagesOf, skein, skeinJson, workplace } from './skein.ts';

interface Decided {
  readonly stage: string;
  readonly pages: number;
  readonly changed: number;
}

/** Visits since then, by the stage that decided. */
async function stagesOf(collection: Collection, since: number): Promise<Map<string, Decided>> {
  const day = new Date(since).toISOString();
  const { stages } = await skeinJson<{ stages: Decided[] }>(
    ...['account', '--data', collection.directory, '--since', day],
  );
  return new Map(stages.map(each => [each.stage, each]));
}

const path = (i: number) => `/page-${i}.html`;
const page = (i: number, words: string, links: readonly string[] = []) => html(`Page ${i}`, [prose(i), words], links);

/** A front page that never changes and so many others. */
async function openSite(count: number): Promise<Pages> {
  const pages = await openPages();
  const all = Array.from({ length: count }, (_, i) => path(i));
  pages.set('/', { body: html('Front', [prose(99)], all) });
  for (let i = 0; i < count; i++) pages.set(path(i), { body: page(i, 'one') });
  return pages;
}

const DETECTORS = ['pmcs', 'counts', 'ascii-sum', 'tag-strings', 'level-table', 'text-code-1', 'text-code-2'];

for (const detector of [...DETECTORS, 'three-step', 'three-step-2', 'image-code']) {
  test(`pmcs with ${detector}: pages that changed nearly always and then stand still are the same`, async () => {
    using collection = makeCollection();
    await using pages = await openSite(6);
    await collection.crawl([`${pages.origin}/`], { detector });
    const refresh = () => collection.refresh({ budget: '500%', policy: 'pmcs' });
    for (let day = 0; day < 5; day++) {
      // More of everything that any of them measures.
      const more = Array.from({ length: day + 1 }, (_, i) => `<b>word${i}</b>`).join(' ');
      const shown = `<img src="/nowhere-${day}.png" alt="">`;
      for (let i = 0; i < 6; i++) pages.set(path(i), { body: page(i, more + shown, [`/?day=${day}`]) });
      collection.pass(1);
      await refresh();
    }
    const since = collection.clock.now();
    collection.pass(1);
    await refresh();
    const seen = collection.look(ledger =>
      ledger['database']
        .prepare(
          `SELECT v.outcome, v.stage FROM visits v JOIN pages p ON p.id = v.page
           WHERE v.time > ? AND p.url GLOB '*/page-*'`,
        )
        .all(since),
    );
    assert.equal(seen.length, 6);
    for (const { outcome, stage } of seen) assert.deepEqual([outcome, stage], ['same', 'content']);
  });
}

test('pmcs from another machine: what home knows of a page stays whole', { skip: noSshd() || false }, async () => {
  using place = workplace();
  using collection = makeCollection();
  await using pages = await openSite(4);
  await using sshd = await openSshd(place.path, { node: dirname(process.execPath) });
  const path0 = process.env['PATH'];
  process.env['PATH'] = `${sshd.bin}:${path0}`;
  try {
    const far = { outpost: [sshd.url], threads: 0, audit: 0 };
    await collection.crawl([`${pages.origin}/`], { detector: 'counts' });
    for (let day = 0; day < 7; day++) {
      const words = Array.from({ length: Math.min(day, 4) + 2 }, (_, i) => `goose${i}`).join(' ');
      for (let i = 0; i < 4; i++) pages.set(path(i), { body: page(i, words) });
      collection.pass(1);
      await collection.refresh({ budget: '500%', policy: 'pmcs', ...far });
    }
  } finally {
    process.env['PATH'] = path0;
  }
  const rows = collection.look(ledger =>
    ledger.visits.of(
      ledger['database'].prepare(`SELECT id FROM pages WHERE url GLOB '*/page-0*'`).get()!['id'] as number,
    ),
  );
  assert.deepEqual(
    rows.map(({ outcome, stage }) => `${outcome} ${stage}`),
    ['fetched first', ...Array<string>(5).fill('fetched direct'), ...['same content', 'same content']],
  );
  const facts = collection.look(ledger => unpackFacts(ledger.pages.known(2)!.facts!)!);
  assert.ok(facts.keywords > 40 && facts.levels.length > 2, JSON.stringify([facts.keywords, facts.levels]));
});

test('the experiment of PMCS: 37 pages by their URL count, 4 by their keywords, 22 sent directly', async () => {
  using collection = makeCollection();
  await using pages = await openSite(99);
  const terms = { budget: '500%', policy: 'pmcs', thresholds: '0.1,0.8,strict' };
  const next = async (more: Record<string, unknown> = {}) => {
    collection.pass(1);
    const since = collection.clock.now();
    await collection.refresh({ ...terms, ...more });
    return stagesOf(collection, since);
  };
  await collection.crawl([`${pages.origin}/`], { detector: 'pmcs' });
  // 78 pages change on one of two days, and are at a probability of 0.5 then; the others, and the front page, never do.
  for (let i = 0; i < 78; i++) pages.set(path(i), { body: page(i, 'one two') });
  const first = await next();
  assert.deepEqual([...first.keys()], ['direct'], 'nothing was known of any');
  assert.deepEqual([first.get('direct')!.pages, first.get('direct')!.changed], [100, 78]);
  const second = await next();
  assert.deepEqual([second.get('direct')!.pages, second.get('direct')!.changed], [100, 0]);
  for (let i = 0; i < 37; i++) pages.set(path(i), { body: page(i, 'one two', ['/']) });
  for (let i = 37; i < 41; i++) pages.set(path(i), { body: page(i, 'one two goose') });
  const third = await next();
  assert.equal(third.get('url-count')!.changed, 37);
  assert.equal(third.get('keyword-count')!.changed, 4);
  assert.equal(third.get('direct')!.pages, 22);
  assert.equal(third.get('keyword-count')!.pages, 4 + 37, 'the others were compared there, and stayed');
  const { stdout } = await skein(['changes', '--data', collection.directory, '--limit', '41']);
  assert.equal(stdout.toString().match(/URL count/g)?.length, 37);
  assert.equal(stdout.toString().match(/keyword count/g)?.length, 4);
  const { pmcs } = await skeinJson<{ pmcs: Record<string, number> }>(
    ...['account', '--model', '--data', collection.directory],
  );
  // 41 of the 78 have changed twice in three visits, 37 once; 22 never did.
  assert.deepEqual([pmcs['low'], pmcs['between'], pmcs['high']], [22, 78, 0]);
  assert.equal(pmcs['averageProbability']!.toFixed(6), ((41 * 2 + 37) / 3 / 78).toFixed(6));
  assert.equal(pmcs['sent']!.toFixed(6), (22 + (41 * 2 + 37) / 3).toFixed(6));
  const model = (await skein(['account', '--model', '--data', collection.directory])).stdout.toString();
  assert.match(model, /P1, at most 0\.1: sent directly +22/);
  assert.match(model, /14 with --levels 3/);
});

test('by default the rule is cheaper than the paper’s: a hash is carried, and what never changed is compared', async () => {
  using collection = makeCollection();
  await using pages = await openSite(5);
  await collection.crawl([`${pages.origin}/`], { detector: 'counts' });
  for (let day = 0; day < 4; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '500%', policy: 'pmcs' });
  }
  const stages = collection
    .look(ledger =>
      ledger.visits.of(
        ledger['database'].prepare(`SELECT id FROM pages WHERE url GLOB '*/page-0*'`).get()!['id'] as number,
      ),
    )
    .map(({ stage }) => stage);
  assert.deepEqual(stages, ['first', 'direct', 'direct', 'direct', 'keyword-count']);
});

/** Without compression every picture of a size has the same length. */
async function picture(shift: number): Promise<Buffer> {
  const side = 64;
  const pixels = Buffer.alloc(side * side * 3);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      pixels.fill((x * x + y * 3 + shift * (x > 30 ? y * 4 : 0)) & 255, (y * side + x) * 3, (y * side + x) * 3 + 3);
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

for (const detector of ['image-code', 'three-step', 'three-step-2']) {
  test(`${detector} sees a picture that changed and kept its length, and no other`, async () => {
    using collection = makeCollection();
    await using pages = await openPages();
    const show = (name: string, body: Buffer) => pages.set(name, { body, headers: { 'content-type': 'image/png' } });
    const [one, other] = [await picture(0), await picture(1)];
    assert.equal(one.length, other.length);
    pages.set('/', {
      body: html('Front', [prose(1)]).replace('</main>', '<img src="/a.png"><img src="/b.png"></main>'),
    });
    show('/a.png', one);
    show('/b.png', one);
    await collection.crawl([`${pages.origin}/`], { detector });
    show('/a.png', other);
    // Other bytes, the same picture: its code is the same.
    show('/b.png', await sharp(one).png({ compressionLevel: 9 }).toBuffer());
    collection.pass(1);
    await collection.refresh({ budget: '1000%' });
    const changes = collection.look(ledger => changesIn(ledger, { since: 0, limit: 10 }));
    assert.deepEqual(
      changes.map(change => [change.url, change.stage, change.shownBy]),
      [[`${pages.origin}/a.png`, 'image', [`${pages.origin}/`]]],
    );
  });
}

test('the levels that changed are stored, and shown', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const tree = (more: string) => `<html><body><div><p>a</p>${more}</div></body></html>`;
  pages.set('/', { body: tree('') });
  await collection.crawl([`${pages.origin}/`], { detector: 'level-table' });
  pages.set('/', { body: tree('<p><b>b</b></p>') });
  collection.pass(1);
  await collection.refresh({ budget: '500%' });
  const [change] = collection.look(ledger => changesIn(ledger, { since: 0, limit: 10 }));
  assert.deepEqual([change!.stage, change!.levels], ['structure', [4, 5]]);
  const { stdout } = await skein(['changes', '--data', collection.directory]);
  assert.match(stdout.toString(), /structure, level 4 5/);
});

test('pvalue: a page that was visited counts its own links, one that was not has none of its own', async () => {
  using collection = makeCollection();
  await using pages = await openSite(7);
  await collection.crawl([`${pages.origin}/`], { order: 'pvalue' });
  const hint = (order: string, page: number) =>
    collection.look(ledger => hintOf(ledger, order, { page, depth: 0, relevance: 0 }).forward);
  assert.equal(hint('pvalue', 1), 7, 'the front page');
  assert.equal(hint('pvalue', 99), -1);
  assert.equal(hint('breadth', 1), -1, 'nobody asks');
});

for (const lists of ['crawl', 'server']) {
  test(`a crawl in the order pvalue with the lists of the ${lists} finds every page once`, async () => {
    using place = workplace();
    await using web = await openWeb({ seed: 31, servers: 5, pagesPerServer: 30 });
    await crawlHere(
      { data: place.path, scope: '*', set: ['order=pvalue', `pvalue=lists=${lists},aging=50`] },
      web.seeds,
    );
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
    assert.deepEqual(visitedTwice(place.path), []);
  });
}

test('diff --codes takes the papers’ codes of two versions apart', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const tree = (more: string) =>
    `<html><head><title>A</title></head><body><h1>b</h1><p>c</p><p>d</p>${more}</body></html>`;
  pages.set('/', { body: tree('<p>e</p>') });
  await collection.crawl([`${pages.origin}/`]);
  pages.set('/', { body: tree('<p>f <a href="/">g</a></p>') });
  collection.pass(1);
  await collection.refresh({ budget: '500%' });
  interface Side {
    readonly string1: string;
    readonly string2: string;
    readonly levels: number[];
    readonly table: Record<'level' | 'id' | 'child' | 'levelArray' | 'content', number[]>;
  }
  const diff = ['diff', `${pages.origin}/`, '--codes', '--data', collection.directory];
  const found = await skeinJson<{ before: Side; after: Side; differs: Record<string, unknown> }>(...diff);
  assert.deepEqual([found.before.string1, found.before.string2], ['hhtbhppp', 'ldey1ppp'], 'the paper’s own page');
  assert.deepEqual([found.after.string1, found.after.string2], ['hhtbhpppa', 'ldey1pppa']);
  assert.deepEqual(found.before.levels, [1, 2, 5]);
  assert.deepEqual(found.after.levels, [1, 2, 5, 1]);
  assert.deepEqual(found.before.table.levelArray, [1, 2, 2, 5, 5, 5, 5, 5]);
  assert.deepEqual(found.before.table.content, [0, 0, 0, 65, 98, 99, 100, 101]);
  assert.deepEqual(found.differs['levels'], [4]);
  assert.deepEqual(found.differs['contents'], [3]);
  for (const name of ['ascii-sum', 'counts', 'tag-strings', 'level-table', 'text-code-1', 'text-code-2']) {
    assert.equal(found.differs[name], true, name);
  }
  const facts = collection.look(ledger => unpackFacts(ledger.pages.known(1)!.facts!)!);
  assert.deepEqual(facts.levels, found.after.levels, 'detectors count the same levels');
  const { stdout } = await skein(diff);
  assert.match(stdout.toString(), /string 1 +hhtbhppp +hhtbhpppa +tag-strings/);
  assert.match(stdout.toString(), /Other numbers of nodes on level 4/);
});

test('the detector is remembered', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  pages.set('/', { body: page(1, 'price 12') });
  await collection.crawl([`${pages.origin}/`], { detector: 'ascii-sum' });
  pages.set('/', { body: page(1, 'price 21') });
  collection.pass(1);
  await collection.refresh({ budget: '500%' });
  assert.deepEqual(
    collection.visits(`${pages.origin}/`).map(({ outcome, stage }) => [outcome, stage]),
    [
      ['fetched', 'first'],
      ['same', 'ascii-sum'],
    ],
  );
});

test('a seed whose domain has the weight 0 is an error that says so', async () => {
  using place = workplace();
  const crawl = (...more: string[]) => skein(['crawl', ...more, '--data', place.path, ...fast, '--max-pages', '1']);
  const { code, stderr } = await crawl('http://shop.example.co.uk/', '--domains', 'co.uk=0');
  assert.notEqual(code, 0);
  assert.match(
    stderr,
    /http:\/\/shop\.example\.co\.uk\/ would never be visited: --domains gives its domain the weight 0/,
  );
});

test('pages --json has the six fields of the first paper’s table', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  const body = page(1, 'goose');
  pages.set('/', { body: html('Front', [prose(1)], ['/a.html']) });
  pages.set('/a.html', { body, headers: { 'last-modified': date } });
  await collection.crawl([`${pages.origin}/`]);
  const all = await pagesOf(collection.directory);
  assert.equal(collected(all).length, 2);
  const found = all.get(`${pages.origin}/a.html`) as unknown as Record<string, unknown>;
  assert.equal(found['parent'], `${pages.origin}/`);
  assert.equal(
    found['asciiCount'],
    [...Buffer.from(body)].reduce((sum, byte) => sum + byte, 0),
  );
  assert.equal(found['lastModified'], date);
  assert.ok(Date.parse(String(found['due'])) > collection.clock.now());
  assert.match(String(found['file']), /archive\/segment-000001\.warc\.gz$/);
  assert.ok(Number(found['offset']) > 0);
});
