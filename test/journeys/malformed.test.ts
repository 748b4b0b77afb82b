/** Ten thousand malformed pages, headers, URLs, robots.txt files and sitemaps through the whole of a crawl. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasons } from '../../src/errand/reasons.ts';
import { crawlHere, pagesOf, skein, skeinJson, workplace } from './skein.ts';

const HOSTS = 100;
const PAGES = 100;
/** Whatever a terminal would take as an order; new lines are ours. */
const ORDERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test('nonsense without end: no crash, no hang, a named outcome for all of it', async t => {
  using place = workplace();
  const seeds = Array.from({ length: HOSTS }, (_, host) => `http://h${host}.test/`);
  const module = new URL('malformed-fetcher.ts', import.meta.url).href;
  const fetcher = { module, options: { seed: 11, pagesPerHost: PAGES } };
  const summary = await crawlHere({ data: place.path }, seeds, { fetcher });
  const visits = summary.fetched + summary.same + summary.moved + summary.gone + summary.refused + summary.failed;
  t.diagnostic(JSON.stringify(summary.reasons));
  assert.ok(visits >= HOSTS * PAGES, `${visits} visits`);
  assert.equal(summary.reasons['crashed'], undefined, 'analysis failed on no page');
  assert.equal(summary.same, 0, 'a 304 that nobody asked for says nothing');
  for (const reason of Object.keys(summary.reasons)) assert.ok(reason in reasons, reason);
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);

  const pages = [...(await pagesOf(place.path)).values()];
  assert.ok(pages.length >= HOSTS * PAGES);
  const odd = pages.find(({ title }) => title !== null && ORDERS.test(title)) ?? pages[0]!;
  const commands = [
    ['pages', '--limit', '20000'],
    ['show', odd.url],
    ['links', odd.url],
    ['links', seeds[0]!],
    ['status'],
  ];
  for (const command of commands) {
    const { code, stdout, stderr } = await skein([...command, '--data', place.path]);
    assert.equal(code, 0, stderr);
    const at = stdout.toString().search(ORDERS);
    const around = JSON.stringify(stdout.toString().slice(Math.max(0, at - 40), at + 40));
    assert.equal(at, -1, `${command.join(' ')} prints ${around}`);
  }
});
