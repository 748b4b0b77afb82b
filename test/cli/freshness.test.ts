/** The commands that tell about freshness, as a user runs them: for people, and with --json for programs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { html, openPages, type Pages, prose } from '../journeys/pages.ts';
import { skein } from '../journeys/skein.ts';

let collection: Collection;
let pages: Pages;
let url: string;

/**
 * Pages that stay as they are. Some 304s are checked with the whole page, by chance a tenth of a new server's: that all
 * of these are is out of the question.
 */
const QUIET = Array.from({ length: 12 }, (_, i) => `/quiet-${i}.html`);

/** A page that changes on the second of three days, with a link and an image that come and go. */
before(async () => {
  collection = makeCollection();
  collection.pass(-3);
  pages = await openPages();
  url = `${pages.origin}/page.html`;
  const page = (word: string, link: string) =>
    html('Page', [prose(1), `The \u001b[31m${word} goose\u001b[0m left.`, prose(2), prose(3)], [link]);
  pages.set('/', { body: html('Front', [prose(9)], ['/page.html', ...QUIET]), tagged: true });
  for (const [i, path] of QUIET.entries()) pages.set(path, { body: html(path, [prose(i + 10)]), tagged: true });
  pages.set('/page.html', { body: page('grey', '/old.html'), tagged: true });
  await collection.crawl([`${pages.origin}/`]);
  pages.set('/page.html', { body: page('white', '/new.html'), tagged: true });
  for (let day = 0; day < 2; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '500%' });
  }
  collection.pass(1);
});

after(async () => {
  await pages[Symbol.asyncDispose]();
  collection[Symbol.dispose]();
});

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await skein([...args, '--data', collection.directory]);
  assert.equal(code, 0, stderr);
  return stdout.toString();
}

const lines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));

test('changes: what, when, how much, which stage', async () => {
  const [change, ...rest] = lines(await run('changes', '--json'));
  assert.deepEqual(rest, []);
  assert.equal(change!['url'], url);
  assert.equal(change!['kind'], 'changed');
  assert.equal(change!['stage'], 'text');
  assert.ok(Number(change!['amount']) > 0 && Number(change!['amount']) < 1);
  assert.match(await run('changes', '--since', '1h'), /No changes found/);
  assert.match(await run('changes', 'page.html'), /changed +\+\d+ −\d+ +text/);
});

test('diff: words, links and signs that need no colour; nothing that could steer a terminal', async () => {
  const text = await run('diff', url);
  assert.match(text, /\[-.*grey.*-\] \{\+.*white.*\+\}/);
  assert.match(text, /- http.*\/old\.html/);
  assert.match(text, /\+ http.*\/new\.html/);
  assert.ok(!text.includes('\u001b'));
  const [found] = lines(await run('diff', url, '--from', '1', '--to', '2', '--json'));
  assert.equal(found!['sameText'], false);
  const { code } = await skein(['diff', url, '--from', '9', '--data', collection.directory]);
  assert.equal(code, 3);
});

test('history: every visit in order', async () => {
  const visits = lines(await run('history', url, '--json'));
  assert.deepEqual(
    visits.map(visit => visit['outcome']),
    ['fetched', 'fetched', 'same'],
  );
  assert.deepEqual(
    visits.map(visit => visit['version']),
    [1, 2, null],
  );
  assert.match(await run('history', url), /stored as version 2/);
});

test('why: history, rate, probability, importance, due time, server', async () => {
  const [why] = lines(await run('why', url, '--json')) as [{ explanation: Record<string, unknown>; server: object }];
  assert.equal(why.explanation['history'], '10');
  for (const name of ['rate', 'changedByNow', 'importance']) assert.ok(Number(why.explanation[name]) > 0, name);
  assert.ok(Date.parse(String(why.explanation['due'])) > 0, 'due');
  assert.ok(why.server);
  assert.match(await run('why', url), /changed at 1 of the last 2 visits/);
});

test('account: spent and avoided by cause and day, with freshness', async () => {
  const [account] = lines(await run('account', '--json')) as [Record<string, Record<string, unknown>[]>];
  const causes = new Map(account['causes']!.map(row => [row['cause'], row]));
  assert.ok(Number(causes.get('page')?.['spent']) > 0);
  assert.ok(Number(causes.get('not-modified')?.['avoided']) > 0);
  assert.ok(account['days']!.some(day => Number(day['freshness']) > 0.5));
  assert.match(await run('account'), /spent.*avoided/);
});

test('ping: the page comes forward, and an overdue one does not fall back', async () => {
  const asked = async () => lines(await run('why', url, '--json'))[0] as unknown as Asked;
  const before = await asked();
  await run('ping', url);
  const after = await asked();
  assert.ok(after.explanation.due <= before.explanation.due);
  assert.equal(after.notices, before.notices + 1);
  const { code } = await skein(['ping', 'http://nowhere.invalid/', '--data', collection.directory]);
  assert.equal(code, 3);
});

interface Asked {
  readonly notices: number;
  readonly explanation: { readonly due: number };
}
