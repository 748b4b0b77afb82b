/** A fetcher of the user's: for some servers only, and with more exchanges than the page itself. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { WARCParser } from 'warcio';
import { open } from '../../src/engine/library/skein.ts';
import { skein, skeinJson, workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

const SITE = 'http://browsed.test';
const fetcher = {
  module: new URL('parts-fetcher.ts', import.meta.url),
  options: { secret: 'kept-with-the-page' },
  domains: ['browsed.test'],
};

interface Seen {
  readonly type: string;
  readonly url: string;
}

async function recordsIn(warc: Buffer): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const record of new WARCParser(new Blob([new Uint8Array(warc)]).stream())) {
    seen.push({ type: record.warcType ?? '', url: record.warcTargetURI ?? '' });
    await record.readFully(true);
  }
  return seen;
}

/** Everything in the archive's segments, as text. */
function archived(data: string): string {
  const folder = join(data, 'archive');
  const files = readdirSync(folder).filter(name => name.endsWith('.warc.gz'));
  return files.map(name => gunzipSync(readFileSync(join(folder, name))).toString('latin1')).join('');
}

test('each errand gets the fetcher of its server, and what else a fetcher exchanged is kept with the page', async () => {
  await using web = await openWeb({ seed: 71, servers: 1, pagesPerServer: 3 });
  using place = workplace();
  const data = join(place.path, 'data');
  const own = await open({ data, pace: 0, allowPrivate: true, scope: ['*'], threads: 1, fetcher });
  const pages: string[] = [];
  for await (const page of own.crawl([`${SITE}/`, ...web.seeds])) if (page.outcome === 'fetched') pages.push(page.url);
  await own.close();
  assert.deepEqual(pages.filter(url => url.startsWith(SITE)).sort(), [`${SITE}/`, `${SITE}/p1`, `${SITE}/p2`]);
  assert.deepEqual(
    web.mustFind().filter(url => !pages.includes(url)),
    [],
    'other servers are asked as usual',
  );

  const { problems, copies } = await skeinJson<{ problems: unknown[]; copies: number }>('verify', '--data', data);
  assert.deepEqual(problems, []);
  assert.equal(copies, pages.length, 'a part is no copy of a page');
  const lines = (await skein(['export', '--format', 'jsonl', '--data', data])).stdout.toString().trim().split('\n');
  assert.equal(lines.length, pages.length);

  const warc = join(place.path, 'one.warc.gz');
  assert.equal((await skein(['export', `${SITE}/p1`, '--format', 'warc', '--out', warc, '--data', data])).code, 0);
  assert.deepEqual(await recordsIn(readFileSync(warc)), [
    { type: 'warcinfo', url: '' },
    ...['/old/p1', '/script.js', '/p1'].flatMap(path => [
      { type: 'request', url: SITE + path },
      { type: 'response', url: SITE + path },
    ]),
  ]);

  assert.match(archived(data), /kept-with-the-page/);
  await skeinJson('forget', SITE, '--data', data);
  assert.doesNotMatch(archived(data), /kept-with-the-page/, 'parts leave with their page');
  assert.deepEqual((await skeinJson<{ problems: unknown[] }>('verify', '--data', data)).problems, []);
});
