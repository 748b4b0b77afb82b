/** Ctrl-C, SIGTERM, a second one, a second process: how a crawl ends, and what the next one finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { openWeb, type Web } from '../web/web.ts';
import { collected, fast, lookInto, pagesOf, skein, skeinJson, start, workplace } from './skein.ts';

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends a crawl cleanly, even while a server keeps it waiting, and it can be resumed`, async () => {
    await using web = await openWeb({ seed: 2, servers: 2, pagesPerServer: 60, latency: 10 });
    using place = workplace();
    const silent = `${web.origins[1]}/p/1.html`;
    web.fault(silent, 'hang');
    const crawl = ['crawl', ...web.seeds, '--data', place.path, ...fast, '--scope', '*', '--json'];
    const running = start(crawl);
    await asked(web, silent);
    running.child.kill(signal);
    const { code, stdout, stderr } = await running.ended;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /Stopping/);
    const summary = JSON.parse(stdout.toString().trim().split('\n').at(-1)!) as Record<string, unknown>;
    assert.equal(summary['interrupted'], true);
    {
      using look = lookInto(place.path);
      // It did not wait until the silent page had failed by itself.
      assert.equal(look.page(silent).known, undefined);
    }
    assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
    web.heal(silent);
    assert.equal((await skein(crawl)).code, 0);
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  });
}

test('a page that was given up by Ctrl-C waits for the next run, and the summary says so', async () => {
  await using web = await openWeb({ pagesPerServer: 2 });
  using place = workplace();
  web.fault(web.seeds[0]!, 'hang');
  const running = start(['crawl', ...web.seeds, '--data', place.path, ...fast]);
  await asked(web, web.seeds[0]!);
  running.child.kill('SIGINT');
  const { stdout } = await running.ended;
  assert.match(stdout.toString(), /\n1 page waits for a later run/);
});

test('a second Ctrl-C ends it at once, and even then nothing is broken', async () => {
  await using web = await openWeb({ seed: 2, pagesPerServer: 40, latency: 10 });
  using place = workplace();
  const silent = `${web.origins[0]}/p/2.html`;
  web.fault(silent, 'hang');
  const crawl = ['crawl', ...web.seeds, '--data', place.path, ...fast];
  const running = start(crawl);
  await asked(web, silent);
  running.child.kill('SIGINT');
  await running.says('Stopping');
  running.child.kill('SIGINT');
  const { code, stdout } = await running.ended;
  assert.equal(code, 130);
  assert.equal(stdout.length, 0, 'there was no time for a summary');
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
  web.heal(silent);
  assert.equal((await skein(crawl)).code, 0);
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
});

test('a refresh that was stopped goes on with its round, and looks at nothing twice', async () => {
  await using web = await openWeb({ seed: 2, pagesPerServer: 40 });
  using place = workplace();
  const silent = `${web.origins[0]}/p/30.html`;
  const given = ['--data', place.path, ...fast];
  await skeinJson('crawl', ...web.seeds, ...given);
  web.fault(silent, 'hang');
  const refresh = ['refresh', '--budget', '100%', ...given];
  const running = start(refresh);
  await asked(web, silent, 2);
  running.child.kill('SIGINT');
  assert.equal((await running.ended).code, 130);
  web.heal(silent);
  const { code, stdout } = await skein(refresh);
  assert.equal(code, 0);
  assert.match(stdout.toString(), /Continued the round of .* which was interrupted/);
  const ledger = openLedger(place.path);
  const looks = ledger['database'].prepare('SELECT count(*) AS looks FROM visits GROUP BY page').all();
  ledger.close();
  assert.equal(looks.length, web.mustFind().length);
  assert.deepEqual(new Set(looks.map(row => row['looks'])), new Set([2]), 'one by the crawl, one by the round');
  assert.equal((await skeinJson('refresh', ...given))['since'], undefined, 'that round has ended');
});

test('a second process is told that the collection is in use, and may look at it', async () => {
  await using web = await openWeb({ seed: 2, pagesPerServer: 40, latency: 10 });
  using place = workplace();
  const silent = `${web.origins[0]}/p/3.html`;
  web.fault(silent, 'hang');
  const crawl = ['crawl', ...web.seeds, '--data', place.path, ...fast];
  const running = start(crawl);
  await asked(web, silent);
  const second = await skein(crawl);
  assert.equal(second.code, 4);
  assert.match(second.stderr, /Another Skein is working in .*\n.*Ctrl-C/);
  const status = await skeinJson('status', '--data', place.path);
  assert.equal(typeof status['known'], 'number');
  assert.ok((await pagesOf(place.path)).size > 0);
  running.child.kill('SIGINT');
  assert.equal((await running.ended).code, 130);
});

/** Resolves when this URL was asked for so often. */
function asked(web: Web, url: string, times = 1): Promise<void> {
  return new Promise(resolve => {
    const timer = setInterval(() => {
      if (web.requests(url) < times) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
}
