/** What an archivist fears: bytes that flip, files that go, a ledger that is lost. Each is seen, and nothing makes it worse. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs, {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { type CollectionReport, verifyCollection } from '../../src/home/checks/verify.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { openWeb, type Web } from '../web/web.ts';
import { crawlHere, fast, lookInto, root, skein, workplace } from './skein.ts';

const SEGMENT = join('archive', 'segment-000001.warc.gz');

const place = workplace();
const whole = join(place.path, 'whole');
let web: Web;
let original: string;

before(async () => {
  web = await openWeb({ seed: 6, pagesPerServer: 12, features: ['duplicates'] });
  original = `${web.origins[0]}/d/exact-1.html`;
  // In a run of its own, so that its duplicate finds it in the archive and only refers to it.
  await crawlHere({ data: whole, depth: 0 }, [original]);
  await crawlHere({ data: whole }, web.seeds);
});
after(async () => {
  await web.close();
  place[Symbol.dispose]();
});

/** A copy of the collection that may be damaged. */
function copy(name: string): string {
  const data = join(place.path, name);
  cpSync(whole, data, { recursive: true });
  return data;
}

/** Damages the stored body of a page to which the copy of another refers. */
function flip(data: string): void {
  using look = lookInto(data);
  const known = look.page(original).known!;
  const file = join(data, SEGMENT);
  const bytes = readFileSync(file);
  const at = known.place! + known.length! - 40;
  for (let i = 0; i < 8; i++) bytes[at + i] = bytes[at + i]! ^ 0xff;
  writeFileSync(file, bytes);
}

async function verify(data: string): Promise<CollectionReport> {
  const ledger = openLedger(data);
  try {
    return await verifyCollection(ledger);
  } finally {
    ledger.close();
  }
}

/** Repaired and fetched again, the collection is what it was. */
async function mended(data: string, copies: number): Promise<void> {
  const { code, stdout, stderr } = await skein(['verify', '--data', data, '--json', '--repair']);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout.toString()).repaired.copies, copies);
  assert.deepEqual((await verify(data)).problems, []);
  assert.equal((await crawlHere({ data }, [])).pages, copies);
  assert.deepEqual((await verify(data)).problems, []);
  using before = lookInto(whole);
  using now = lookInto(data);
  for (const { url, content } of web.truth()) {
    if (content !== undefined && before.page(url).known?.segment)
      assert.deepEqual(now.body(url), before.body(url), url);
  }
}

test('bytes that flipped cost one copy, and that which refers to it', async () => {
  const data = copy('flipped');
  flip(data);
  const { lost, problems } = await verify(data);
  assert.deepEqual(lost.map(({ url }) => url).sort(), [original, `${web.origins[0]}/d/exact-2.html`]);
  assert.ok(problems.some(problem => problem.includes('gzip checksum is wrong')));
  await mended(data, 2);
  assert.ok((await verify(data)).writtenOff > 0, 'the damaged bytes are still there, and known');
});

test('a disk that fails while a copy is looked for says nothing of the copy', async () => {
  const data = copy('failing');
  flip(data);
  assert.equal((await verify(data)).lost.length, 2);
  const { readSync } = fs;
  // The walk over the segment begins at 0; what it did not meet is then read at its place.
  const failing: typeof readSync = (...given: unknown[]) => {
    if (Number(given[4]) > 0) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    return (readSync as (...given: unknown[]) => number)(...given);
  };
  fs.readSync = failing;
  syncBuiltinESMExports();
  try {
    await assert.rejects(verify(data), { code: 'EIO' });
  } finally {
    fs.readSync = readSync;
    syncBuiltinESMExports();
  }
  assert.equal((await verify(data)).lost.length, 2);
});

test('a segment that is gone is one problem, whatever was in it', async () => {
  const data = copy('gone');
  rmSync(join(data, SEGMENT));
  const { problems, lost, copies } = await verify(data);
  assert.equal(problems.length, 1);
  assert.match(problems[0]!, /segment-000001\.warc\.gz is missing: \d+ copies in it are lost/);
  assert.equal(lost.length, copies);
  const { code, stderr } = await skein(['crawl', '--data', data, ...fast]);
  assert.equal(code, 6);
  assert.match(stderr, /segment-000001\.warc\.gz is missing.*\n.*skein verify --repair/);
  await mended(data, lost.length);
});

test('a segment that was cut keeps what is left of it', async () => {
  const data = copy('cut');
  assert.equal((await verify(data)).lost.length, 0);
  truncateSync(join(data, SEGMENT), readFileSync(join(data, SEGMENT)).length >> 1);
  const { lost, copies } = await verify(data);
  assert.ok(lost.length > 0 && lost.length < copies);
  await mended(data, lost.length);
  assert.equal((await verify(data)).writtenOff, 0, 'what was cut off was written anew');
});

test('damage is not hidden by a reader that goes away', async () => {
  const data = copy('piped');
  rmSync(join(data, SEGMENT));
  const script = `set -o pipefail; "${process.execPath}" bin/skein.js verify --data "${data}" | true`;
  const code = await new Promise(resolve =>
    execFile('bash', ['-c', script], { cwd: root }, error => resolve(error?.code)),
  );
  assert.equal(code, 6);
});

test('a damaged ledger is named, and is not written to', async () => {
  const data = copy('ledger');
  const file = join(data, 'ledger.db');
  const bytes = readFileSync(file);
  for (let at = 4096; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 64);
  writeFileSync(file, bytes);
  for (const command of [['status'], ['crawl', ...fast], ['verify', '--repair']]) {
    const { code, stderr } = await skein([...command, '--data', data]);
    assert.equal(code, 6, stderr);
    assert.match(stderr, /ledger is damaged.*\nRestore/);
  }
});

for (const [what, leave] of [
  ['removed', () => undefined],
  ['emptied', (data: string) => writeFileSync(join(data, 'ledger.db'), '')],
  ['of something else', (data: string) => new DatabaseSync(join(data, 'ledger.db')).exec('CREATE TABLE mine (a)')],
] as const) {
  test(`an archive is left alone when its ledger was ${what}`, async () => {
    const data = copy(`orphaned-${what}`);
    for (const name of readdirSync(data)) if (name.startsWith('ledger.db')) rmSync(join(data, name));
    leave(data);
    const before = readFileSync(join(data, SEGMENT));
    for (const command of [['crawl', ...web.seeds, ...fast], ['verify'], ['verify', '--repair'], ['status']]) {
      const { code, stderr } = await skein([...command, '--data', data]);
      assert.equal(code, 6, stderr);
      assert.match(stderr, /but no ledger.*\nRestore ledger\.db/);
    }
    assert.ok(before.equals(readFileSync(join(data, SEGMENT))));
  });
}

test('a crawl that writes on while its collection is verified is no damage', async () => {
  const data = copy('growing');
  const ledger = openLedger(data);
  const checking = verifyCollection(ledger);
  // It has read what the ledger knows, and is at the first record: the crawl goes on.
  const segment = join(data, SEGMENT);
  appendFileSync(segment, gzipSync('a record'));
  const writing = new Ledger(data, 'write');
  writing.begin();
  writing.storage.segments.setLength(1, statSync(segment).size);
  writing.commit();
  writing.close();
  assert.deepEqual((await checking).problems, []);
  ledger.close();
});
