/** Noise is not news: personalised blocks, a redesign, and what the policy of the papers carries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { changesIn } from '../../src/home/answers/changes.ts';
import { templateEdits } from '../../src/home/answers/template-edits.ts';
import { masksOn } from '../../src/home/masks.ts';
import { openWeb } from '../web/web.ts';
import { makeCollection } from './collection.ts';
import { html, openPages, type Pages, prose } from './pages.ts';
import { start } from './skein.ts';

test('a block that is different at every look is found out by a second one, and a change elsewhere is still seen', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/`;
  const quotes = ['herons', 'curlews', 'plovers', 'terns', 'gulls', 'swans', 'ducks', 'grebes', 'rails', 'coots'];
  const page = (story: number) => (count: number) => ({
    body: html('Front', [prose(story), `Bird of the hour: ${quotes[count % quotes.length]}`, prose(7), prose(8)]),
  });
  const refresh = async () => {
    collection.pass(1);
    await collection.refresh({ budget: '100%', secondLook: 0.1 });
  };
  pages.set('/', page(1));
  await collection.crawl([url]);
  for (let day = 0; day < 5; day++) await refresh();
  const outcomes = () => collection.visits(url).map(visit => visit.outcome);
  assert.deepEqual(
    outcomes(),
    ['fetched', ...Array(outcomes().length - 1).fill('same')],
    'noise from the first day on',
  );
  assert.ok(outcomes().length <= 9, `${outcomes().length} looks: two days with a second one, then none is needed`);
  assert.equal(collection.visits(url).at(-1)!.stage, 'noise');
  const skein = async (...words: string[]) =>
    (await start([...words, '--data', collection.directory]).ended).stdout.toString();
  assert.match(await skein('why', url), /masked +\w+ → \w+: .* second looks? moments\s+later\s+differed\s+there/);
  assert.match(await skein('show', url), /masked/);
  pages.set('/', page(2));
  await refresh();
  assert.ok(
    collection
      .visits(url)
      .slice(-2)
      .some(visit => visit.outcome === 'fetched'),
    'a change elsewhere',
  );
  assert.match(await skein('why', url, '--unmask'), /masks? (is|are) removed/);
  assert.doesNotMatch(await skein('why', url), /masked/);
  await refresh();
  assert.ok(
    collection
      .visits(url)
      .slice(-2)
      .some(visit => visit.outcome === 'fetched' || visit.stage === 'noise'),
  );
});

test('a counter and a random advertisement on quiet pages fire on none of them', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  let visitors = 1000;
  for (let page = 0; page < 20; page++) {
    const links = page === 0 ? Array.from({ length: 19 }, (_, i) => `/${i + 1}`) : [];
    pages.set(page === 0 ? '/' : `/${page}`, () => ({
      body: html(
        `Page ${page}`,
        [prose(page), `Offer no. ${(visitors * 7919) % 10_007} for you`, prose(page + 20)],
        links,
      ).replace('</main>', `</main><p>Visitors so far: ${visitors++}</p><p>Thank you</p>`),
    }));
  }
  await collection.crawl([`${pages.origin}/`]);
  for (let day = 0; day < 3; day++) {
    collection.pass(1);
    const { changed } = await collection.refresh({ budget: '100%', secondLook: 0.1 });
    // In the first round there are second looks for half of the pages, and so at most the others can fire.
    assert.ok(changed <= (day === 0 ? 10 : day === 1 ? 5 : 0), `${changed} on day ${day}`);
  }
});

test('a price that changes every day stays news through all second looks', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/`;
  let price = 100;
  pages.set('/', () => ({ body: html('Shop', [prose(1), `Price: ${price} euros`, prose(7), prose(8)]) }));
  await collection.crawl([url]);
  for (let day = 0; day < 6; day++) {
    price++;
    collection.pass(1);
    const { changed } = await collection.refresh({ budget: '100%', secondLook: 0.1 });
    assert.equal(changed, 1, `day ${day}`);
    if (day > 0) continue;
    const why = await start(['why', url, '--data', collection.directory]).ended;
    // The second look has found nothing new; the reader wants to know what the first one found.
    assert.match(why.stdout.toString(), /unchanged since it was found\s+changed/);
  }
});

test('a token of the server is one mask, and a page that differs at both looks of a round is one page', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  let count = 0;
  const urls = Array.from({ length: 8 }, (_, page) => `${pages.origin}${page === 0 ? '/' : `/${page}`}`);
  for (const [page, url] of urls.entries()) {
    const links = page === 0 ? urls.slice(1).map(each => new URL(each).pathname) : [];
    pages.set(new URL(url).pathname, () => {
      const logo = `<img src="/static/${count++ % 2 === 0 ? 'a91f3c' : '77be02'}/logo.png" alt="Logo">`;
      return { body: html(`Page ${page}`, [prose(page), prose(page + 20)], links).replace('<main>', `${logo}<main>`) };
    });
  }
  await collection.crawl([urls[0]!]);
  const refresh = () => {
    collection.pass(1);
    return collection.refresh({ budget: '1000%', secondLook: 0.1 });
  };
  for (let day = 0; day < 4; day++) await refresh();
  const lines = (url: string) =>
    collection.look(ledger => {
      const { high, low } = fingerprint(url, { high: 0, low: 0 });
      const page = ledger.pages.find(high, low)!;
      return masksOn(ledger, page.id, page.server).filter(({ evidence }) => ['swing', 'token'].includes(evidence));
    });
  assert.equal(lines(urls[3]!).length, new Set(lines(urls[3]!).map(mask => mask.evidence + mask.told)).size);
  assert.notEqual(lines(urls[3]!).length, 0);
  const unmasked = await start(['why', urls[3]!, '--unmask', '--data', collection.directory]).ended;
  assert.match(unmasked.stdout.toString(), /removed/);
  assert.deepEqual(lines(urls[3]!), [], 'all of its keys are lifted');
  for (let day = 0; day < 2; day++) {
    const { changed } = await refresh();
    assert.ok(changed <= urls.length, `${changed} of ${urls.length} pages changed`);
  }
});

/** Six pages and what their common navigation leads to. */
function navigated(pages: Pages, menu: readonly string[]): void {
  const links = menu.map(href => `<a href="${href}">${href}</a>`).join('');
  for (let page = 0; page < 6; page++) {
    const body = html(`Page ${page}`, [prose(page), prose(page + 20)], ['/1', '/2', '/3', '/4', '/5']);
    pages.set(page === 0 ? '/' : `/${page}`, { body: body.replace('<main>', `<nav>${links}</nav><main>`) });
  }
}

test('a new menu is told once for the server, changes no page, and is followed', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/`;
  const told = () => collection.look(ledger => templateEdits(ledger, 0));
  navigated(pages, ['/1']);
  await collection.crawl([url]);
  navigated(pages, ['/1', '/menu']);
  pages.set('/menu', { body: html('Menu', [prose(40)]) });
  collection.pass(1);
  await collection.refresh({ budget: '150%' }); // there is room for the new page
  assert.equal(collection.visits(`${pages.origin}/menu`).at(-1)?.outcome, 'fetched');
  const { outcome, stage } = collection.visits(url).at(-1)!;
  assert.deepEqual({ outcome, stage }, { outcome: 'same', stage: 'template' });
  assert.deepEqual(
    told().map(edit => [edit.origin, edit.pages]),
    [[pages.origin, 6]],
  );
  const listed = (template: boolean) => collection.look(ledger => changesIn(ledger, { limit: 50, template }));
  assert.deepEqual(listed(false), []);
  assert.deepEqual([...new Set(listed(true).map(change => change.kind))], ['template']);
  const machine = await start(['changes', '--since', '30d', '--json', '--data', collection.directory]).ended;
  const lines = machine.stdout.toString().trim().split('\n');
  assert.deepEqual(
    lines.map(line => (JSON.parse(line) as { kind: string }).kind),
    Array.from({ length: 6 }, () => 'template'),
  );
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  assert.equal(collection.visits(url).at(-1)!.stage, 'raw');
  assert.equal(told().length, 1);
});

test('after a redesign each page changes at most once', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 3, pagesPerServer: 12, clock: collection.clock });
  await collection.crawl(web.seeds);
  collection.pass(1);
  assert.equal((await collection.refresh({ budget: '100%' })).changed, 0);
  web.redesign();
  collection.pass(1);
  const first = await collection.refresh({ budget: '100%' });
  assert.equal(first.pages, 12);
  collection.pass(1);
  const second = await collection.refresh({ budget: '100%' });
  assert.equal(second.changed, 0);
});

test('under the papers’ policy home compares what an errand could not', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 3, pagesPerServer: 8, clock: collection.clock, validators: ['none'] });
  await collection.crawl(web.seeds);
  for (let day = 0; day < 2; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%', policy: 'pmcs' });
  }
  const rows = collection.look(ledger =>
    ledger['database'].prepare('SELECT outcome, count(*) AS n FROM visits GROUP BY outcome ORDER BY outcome').all(),
  );
  assert.deepEqual(
    rows.map(row => [row['outcome'], row['n']]),
    [
      ['fetched', 8],
      ['same', 16],
    ],
  );
});

test('images of pages are looked at by themselves, and a changed one names the page that shows it', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 5, pagesPerServer: 10, images: 1, rates: [2], clock: collection.clock });
  await collection.crawl(web.seeds, { images: 'store' });
  for (let day = 0; day < 3; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '300%', images: 'store' });
  }
  const changes = collection.look(ledger => changesIn(ledger, { since: 0, pattern: '.png', limit: 50 }));
  assert.ok(changes.length > 0);
  for (const change of changes) {
    assert.equal(change.stage, 'image');
    assert.equal(change.shownBy?.length, 1);
    assert.match(change.shownBy![0]!, /\/(p\/\d+\.html)?$/);
  }
});
