/**
 * An archive of many segments: the ledger knows the length of each, whoever is killed around a roll, and a repair takes
 * out nothing that can still be read.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listSegments } from '../../src/archive/segments.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { randomly } from '../random.ts';
import { openWeb, type Web } from '../web/web.ts';
import { checkBooks } from './kills.ts';
import { collected, crawlHere, pagesOf, skein, skeinJson, workplace } from './skein.ts';

/** A dozen pages of the synthetic web. */
const SEGMENT_BYTES = 24_000;
const KILLS = 6;
const crawler = fileURLToPath(new URL('small-segments.ts', import.meta.url));

const place = workplace();
let web: Web;

before(async () => {
  web = await openWeb({ seed: 13, servers: 2, pagesPerServer: 60, latency: 20, features: ['duplicates'] });
});
after(async () => {
  await web.close();
  place[Symbol.dispose]();
});

/** The lengths that the ledger has, against those of the files. */
function lengths(data: string): { noted: number[]; there: number[] } {
  const ledger = openLedger(data);
  const noted = ledger.storage.segments.all().map(({ length }) => length);
  ledger.close();
  return { noted, there: listSegments(join(data, 'archive')).map(({ bytes }) => bytes) };
}

test('a crawl over many segments, left alone, is whole, and its ledger has the length of each', async () => {
  const data = join(place.path, 'alone');
  await crawlHere({ data, scope: '*' }, web.seeds, { archive: { segmentBytes: SEGMENT_BYTES } });
  const { noted, there } = lengths(data);
  assert.ok(there.length > 4, `only ${there.length} segments`);
  assert.deepEqual(noted, there);
  assert.deepEqual((await skeinJson('verify', '--data', data))['problems'], []);
});

test('killed around rolls, it ends like one that was left alone', async () => {
  const data = join(place.path, 'killed');
  const random = randomly(7);
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [crawler, data, String(SEGMENT_BYTES), ...web.seeds], { stdio: 'ignore' });
    await Promise.race([once(child, 'exit'), rolled(data, random.below(30))]);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await checkBooks(data, `after kill ${kill + 1}`);
  }
  await crawlHere({ data, scope: '*' }, web.seeds, { archive: { segmentBytes: SEGMENT_BYTES } });
  const { noted, there } = lengths(data);
  assert.ok(there.length > 4, `only ${there.length} segments`);
  assert.deepEqual(noted, there);
  assert.deepEqual(collected(await pagesOf(data)), collected(await pagesOf(join(place.path, 'alone'))));
});

/** Resolves a few milliseconds after the archive has one segment more than now. */
async function rolled(data: string, ms: number): Promise<void> {
  const archive = join(data, 'archive');
  const before = listSegments(archive).length;
  for (let looks = 0; looks < 5000 && listSegments(archive).length <= before; looks++)
    await new Promise(resolve => setTimeout(resolve, 2));
  await new Promise(resolve => setTimeout(resolve, ms));
}

/** A ledger of an earlier version: it noted of a segment what it held before its last batch. */
function staleLengths(name: string): string {
  const data = join(place.path, name);
  cpSync(join(place.path, 'alone'), data, { recursive: true });
  const database = new DatabaseSync(join(data, 'ledger.db'));
  const last = Number(database.prepare('SELECT max(id) AS id FROM segments').get()!['id']);
  database.prepare('UPDATE segments SET length = length / 3 WHERE id < ?').run(last);
  database.close();
  return data;
}

test('lengths that an earlier version left too short cost no copy: verify, repair, export and the next crawl', async () => {
  const data = staleLengths('stale');
  const before = await skeinJson<{ copies: number; problems: string[] }>('verify', '--data', data);
  assert.deepEqual(before.problems, []);
  const exported = async () =>
    (await skein(['export', '--data', data, '--format', 'jsonl', '--no-body'])).stdout.toString().trim().split('\n');
  assert.equal((await exported()).length, before.copies);
  const repaired = await skein(['verify', '--data', data, '--repair', '--json']);
  assert.equal(JSON.parse(repaired.stdout.toString()).repaired.copies, 0);
  assert.equal((await exported()).length, before.copies);
  assert.deepEqual(lengths(data).noted, lengths(data).there, 'a repair notes how long they are');
  const crawled = staleLengths('stale-crawled');
  await crawlHere({ data: crawled, scope: '*' }, []);
  assert.deepEqual(lengths(crawled).noted, lengths(crawled).there, 'so does a crawl');
});

test('while a crawl writes, verify looks at what is committed and finds nothing wrong', async () => {
  const data = join(place.path, 'running');
  const child = spawn(process.execPath, [crawler, data, String(SEGMENT_BYTES), ...web.seeds], { stdio: 'ignore' });
  let looks = 0;
  const ended = once(child, 'exit');
  await rolled(data, 0);
  while (child.exitCode === null && looks < 200) {
    await checkBooks(data, `look ${looks + 1} at ${statSync(join(data, 'ledger.db')).size} bytes`);
    looks++;
  }
  await ended;
  assert.ok(looks > 3, `only ${looks} looks`);
});
