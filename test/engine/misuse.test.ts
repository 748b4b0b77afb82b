/** What a program does wrong is said at once, in a sentence, where it did it: types hold only where TypeScript looks. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type OpenOptions, open, SkeinError } from '../../src/engine/library/skein.ts';
import { testCollection, testWeb } from '../../src/testing/testing.ts';
import { workplace } from '../journeys/skein.ts';

const said =
  (words: RegExp, hint?: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof SkeinError, String(error));
    assert.match(error.message, words);
    if (hint) assert.match(error.hint ?? '', hint);
    return true;
  };

test('options that there are not, or that are of another kind, open nothing', async () => {
  const wrong: readonly [object, RegExp, RegExp?][] = [
    [{ paze: 3 }, /open\(\) has no option paze/, /Did you mean pace\?/],
    [{ pace: 'fast' }, /The option pace of open\(\) is a number from 0 to 86400, not "fast"/],
    [{ pace: -1 }, /not -1/],
    [{ maxPages: Number.NaN }, /whole number of at least 1, not NaN/],
    [{ scope: 'example.org' }, /scope .* is a list of texts/],
    [{ domains: { org: 2 } }, /domains .* is a Map/],
    [{ detector: 'nope' }, /detector .* is one of content, /],
    [{ keep: 'type=text/html' }, /keep .* is an object/],
    [{ signal: {} }, /signal .* is an AbortSignal/],
  ];
  for (const [options, words, hint] of wrong)
    await assert.rejects(open({ data: './nowhere', ...options } as OpenOptions), said(words, hint));
  await assert.rejects(open({} as OpenOptions), said(/needs a directory/));
});

test('what is wrong with a collection is said in the words of programs, not of the command line', async () => {
  using place = workplace();
  await using skein = await open({ data: join(place.path, 'none') });
  const noWords = (error: unknown) => {
    assert.ok(error instanceof SkeinError, String(error));
    assert.doesNotMatch(`${error.message} ${error.hint}`, /--[a-z]|"skein [a-z]+/);
    return true;
  };
  await assert.rejects(async () => skein.page('http://127.0.0.1/'), noWords);
  await assert.rejects(async () => skein.changes(), noWords);
  await assert.rejects(
    skein.search('x'),
    said(/no collection/i, /Collect one with crawl\(\), or name another directory with data/),
  );
  await assert.rejects(skein.refresh().summary(), noWords);
  await assert.rejects(skein.crawl().summary(), noWords);
  await assert.rejects(skein.export(new PassThrough()), noWords);
  await assert.rejects(skein.forget('http://127.0.0.1/'), noWords);
});

test('each call says what it takes; a closed collection takes nothing', async () => {
  await using web = await testWeb({ '/': '<title>Home</title><a href="/a">A</a>', '/a': '<title>A</title>' });
  const collection = testCollection();
  const { skein } = collection;
  // As a program in JavaScript may call them.
  const loose = skein as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const call = async (name: string, ...given: unknown[]) => loose[name]!(...given);
  await skein.crawl(web.seeds).summary();
  await assert.rejects(call('crawl', 7), said(/crawl\(\) takes a text or a list of texts, not 7/));
  await assert.rejects(call('crawl', web.seeds, { maxPage: 1 }), said(/no option maxPage/, /maxPages/));
  await assert.rejects(call('refresh', { budget: '10%' }), said(/budget .* is one of \{ share \}/));
  await assert.rejects(call('refresh', { freshness: 2 }), said(/from 0\.01 to 0\.999, not 2/));
  await assert.rejects(call('search', 5), said(/search\(\) takes a text/));
  await assert.rejects(call('changes', { since: new Date(0) }), said(/since .* milliseconds since 1970/));
  await assert.rejects(call('export', 'out.warc'), said(/writes to a stream/));
  await assert.rejects(
    call('extract', { fields: { a: 'h1' } }, process.stdout, { format: 'xml' }),
    said(/one of jsonl/),
  );
  await assert.rejects(call('forget'), said(/forget\(\) takes a text/));
  await collection.close();
  for (const name of [
    'crawl',
    'refresh',
    'watch',
    'page',
    'search',
    'export',
    'extract',
    'chunks',
    'forget',
    'changes',
  ])
    await assert.rejects(call(name, web.seeds[0]), said(/This collection was closed/), name);
});

test('the pages of a run are handed out once; a second loop is refused, and harms the first one not', async () => {
  await using web = await testWeb({ '/': '<title>Home</title><a href="/a">A</a>', '/a': '<title>A</title>' });
  await using collection = testCollection();
  const run = collection.skein.crawl(web.seeds);
  const loop = async () => {
    const titles: (string | undefined)[] = [];
    for await (const page of run) titles.push(page.title);
    return titles;
  };
  const [first, second] = await Promise.allSettled([loop(), loop()]);
  assert.deepEqual(first.status === 'fulfilled' && first.value, ['Home', 'A']);
  assert.ok(second.status === 'rejected' && said(/has begun before/)(second.reason));
  assert.equal((await run.summary()).pages, 2);
});

test('a fetcher that is not there is said before anything is made', async () => {
  using place = workplace();
  const skein = await open({ data: place.path, fetcher: { module: './no-such-fetcher.js' } });
  await assert.rejects(skein.crawl('http://127.0.0.1:1/').summary(), said(/There is no fetcher at .*no-such-fetcher/));
  await skein.close();
});
