/** Two terminals: a crawl runs in the first, and everything is looked at and steered from the second. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HomeState, Obeyed } from '../../src/home/control.ts';
import { openWeb } from '../web/web.ts';
import { collected, pagesOf, skein, skeinJson, start, workplace } from './skein.ts';

const until = async (reached: () => boolean | Promise<boolean>) => {
  while (!(await reached())) await new Promise(resolve => setTimeout(resolve, 50));
};

test('a second terminal looks at a running crawl and steers it', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 8, servers: 2, pagesPerServer: 250 });
  const data = join(place.path, 'data');
  const steer = (...words: string[]) => skeinJson<Obeyed>('steer', ...words, '--data', data);
  const crawl = start(['crawl', web.seeds[0]!, '--data', data, '--allow-private', '--pace', '0.3', '--json']);
  await until(() => web.requests() > 8);

  assert.equal((await steer('pause')).state.state, 'paused');
  await until(async () => (await running(data))?.underWay === 0);
  const asked = web.requests();
  // Every command that looks works beside the crawl that writes.
  const page = web.seeds[0]!;
  for (const words of [
    ...[['status'], ['pages'], ['changes', '--new'], ['account'], ['search', 'the', 'OR', 'page'], ['index', 'status']],
    ...[
      ['show', page],
      ['why', page],
      ['history', page],
      ['links', page],
      ['cat', page],
    ],
  ]) {
    assert.ok(await skeinJson(...words, '--data', data), words.join(' '));
  }
  assert.equal(web.requests(), asked, 'nothing is asked for while it is paused, and looking asks for nothing');

  const [origin, other] = web.origins as [string, string];
  assert.deepEqual((await steer('scope', '*')).state.settings.scope, '*');
  assert.equal((await steer('keep', 'type=text/html')).state.settings.scope, '*', 'the other filter stays');
  assert.match((await steer('add', `${other}/p/29.html`)).done, /^1 added/);
  assert.equal((await steer('limit', '5000')).state.settings.limit, 5000);
  assert.equal((await steer('limit', 'none')).state.settings.limit, null);
  assert.match((await steer('server', other, 'exclude')).done, /is excluded/);
  assert.match((await steer('server', other, 'include')).done, /no longer excluded/);
  assert.match((await steer('server', origin, 'pace', '0.01')).done, /0.01 s between requests/);
  assert.equal((await steer('pace', '0')).state.settings.pace, 0);
  assert.equal((await steer('resume')).state.state, 'working');

  const ended = await crawl.ended;
  assert.equal(ended.code, 0, ended.stderr);
  const pages = collected(await pagesOf(data));
  assert.ok(pages.includes(`${other}/p/29.html`));
  assert.deepEqual(
    web.mustFind().filter(url => url.startsWith(origin) && !pages.includes(url)),
    [],
  );
  const said = readFileSync(join(data, 'skein.log'), 'utf8').split('\n').filter(Boolean);
  const kinds = said.map(line => (JSON.parse(line) as { order?: { kind: string } }).order?.kind).filter(Boolean);
  assert.deepEqual(kinds, [
    'pause',
    'filters',
    'filters',
    'add',
    'limit',
    'limit',
    'server',
    'server',
    'server',
    'pace',
    'resume',
  ]);
});

test('stop ends it, a failure is tried again, and what makes no sense is said', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 9, servers: 1, pagesPerServer: 600 });
  const data = join(place.path, 'data');
  const fails = async (code: number, sentence: RegExp, ...words: string[]) => {
    const ran = await skein(['steer', ...words, '--data', data]);
    assert.equal(ran.code, code, words.join(' '));
    assert.match(ran.stderr, sentence);
  };
  await fails(3, /No Skein is running/, 'pause');
  const crawl = start(['crawl', web.seeds[0]!, '--data', data, '--allow-private', '--pace', '0.3', '--json']);
  await until(() => web.requests() > 4);
  await fails(2, /"soon" is not a number/, 'pace', 'soon');
  await fails(2, /no server action "fly"/, 'server', web.origins[0]!, 'fly');
  await fails(1, /has no budget/, 'budget', '10%');
  await fails(3, /does not know/, 'retry', 'http://nobody.test/');
  const { stdout } = await skein(['steer', 'retry', web.seeds[0]!, '--data', data]);
  assert.match(stdout.toString(), /^Skein retries it in a moment/);
  await until(() => web.requests(web.seeds[0]!) > 1);
  assert.match((await skein(['steer', 'stop', '--data', data])).stdout.toString(), /^Stopping/);
  assert.equal((await crawl.ended).code, 0);
  assert.equal(await running(data), null);
  assert.ok(collected(await pagesOf(data)).length < web.mustFind().length, 'it was not finished');
});

async function running(data: string): Promise<HomeState | null> {
  return (await skeinJson<{ running: HomeState | null }>('status', '--data', data)).running;
}
