/** What is forgotten is gone: from the answers, from the disk, and it does not come back; all else stays as it was. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { listSegments } from '../../src/archive/segments.ts';
import { forgetIn } from '../../src/engine/house/forget.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openWeb, type Web } from '../web/web.ts';
import { inEach } from './how-many-partitions.ts';
import { crawlHere, lookInto, pagesOf, root, skein, skeinJson, workplace } from './skein.ts';

const place = workplace();
const whole = join(place.path, 'whole');
let web: Web;
/** Has the body that its duplicate refers to. */
let original: string;

before(async () => {
  web = await openWeb({ seed: 6, servers: 2, pagesPerServer: 12, features: ['duplicates'] });
  original = `${web.origins[0]}/d/exact-1.html`;
  await crawlHere({ data: whole, depth: 0 }, [original]);
  await crawlHere({ data: whole, scope: '*' }, web.seeds, { archive: { segmentBytes: 24_000 } });
  assert.equal((await skein(['search', 'the', '--data', whole])).code, 0);
});
after(async () => {
  await web.close();
  place[Symbol.dispose]();
});

function copy(name: string): string {
  const data = join(place.path, name);
  cpSync(whole, data, { recursive: true });
  return data;
}

async function problems(data: string): Promise<readonly string[]> {
  return (await inEach(data, async ledger => (await verifyCollection(ledger)).problems)).flat();
}

/** Stored pages by URL, with their bodies. */
async function bodies(data: string): Promise<Map<string, string>> {
  using look = lookInto(data);
  const urls = await inEach(data, ledger =>
    [...ledger.storage.copies.pages()].map(({ page }) => ledger.pages.get(page)!.url),
  );
  return new Map(
    urls
      .flat()
      .sort()
      .map(url => [url, Buffer.from(look.body(url)).toString('base64')]),
  );
}

/** Files of the collection in which a text can be found, records of the archive unpacked. */
function mentions(data: string, text: string): string[] {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return files
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => (file.endsWith('.gz') ? gunzipSync(readFileSync(file)) : readFileSync(file)).includes(text));
}

test('what the frontier left in a file goes at once, not when the next run writes another', async () => {
  const data = copy('memory');
  await inEach(data, async ({ directory }) => {
    writeFileSync(join(directory, 'frontier-0a1b.bin'), 'fingerprints and digests of pages that are forgotten');
  });
  await forgetIn(data, [original]);
  assert.deepEqual(mentions(data, 'fingerprints and digests'), []);
});

test('a page is gone from every answer and from the disk, and the page that referred to its body has it', async () => {
  const data = copy('one');
  const before = await bodies(data);
  assert.ok(before.has(original));
  const twins = [...before].filter(([url, body]) => url !== original && body === before.get(original));
  assert.ok(twins.length > 0, 'another page has the same body');
  const asked = await skeinJson('forget', original, '--data', data);
  assert.equal(asked['pages'], 1);
  assert.equal(asked['copies'], 1);
  assert.deepEqual(await problems(data), []);
  const now = await bodies(data);
  before.delete(original);
  assert.deepEqual(now, before, 'all other pages have the bodies that they had');
  assert.ok(!(await pagesOf(data)).has(original));
  for (const command of [
    ['changes', '--new', '--json'],
    ['pages', '--json'],
    ['export', '--format', 'jsonl', '--out', '-'],
  ]) {
    const { code, stdout, stderr } = await skein([...command, '--data', data]);
    assert.equal(code, 0, stderr);
    assert.ok(!stdout.includes(original), command.join(' '));
  }
  for (const url of now.keys()) {
    const { out } = await skeinJson<{ out: { url: string }[] }>('links', url, '--data', data);
    assert.ok(!out.some(link => link.url === original));
    break;
  }
  // The tombstone is in the ledger; links in the stored pages of others are theirs.
  const others = mentions(data, `WARC-Target-URI: ${original}`);
  assert.deepEqual(others, []);
  assert.deepEqual(
    mentions(data, original).filter(file => !/ledger\.db|\.gz$/.test(file)),
    [],
  );
});

test('a word that only a forgotten page has is in no file any more', async () => {
  const data = copy('word');
  const texts = [...(await bodies(data))].map(([url, body]) => ({
    url,
    text: Buffer.from(body, 'base64').toString('latin1'),
  }));
  const lonely = texts.flatMap(({ url, text }) =>
    (text.match(/\b[a-z]{7,}\b/g) ?? [])
      .filter(word => texts.every(other => other.url === url || !other.text.includes(word)))
      .map(word => ({ url, word })),
  );
  const { url, word } = lonely.at(-1)!;
  assert.ok(mentions(data, word).length > 0);
  await forgetIn(data, [url]);
  assert.deepEqual(mentions(data, word), []);
  const { hits } = await skeinJson<{ hits: { url: string }[] }>('search', word, '--data', data);
  assert.ok(!hits.some(hit => hit.url === url));
  assert.deepEqual(await problems(data), []);
});

test('it does not come back, until it is allowed to', async () => {
  const data = copy('again');
  const server = web.origins[1]!;
  const before = [...(await bodies(data)).keys()];
  const gone = before.filter(url => url.startsWith(`${server}/`));
  assert.ok(gone.length > 5);
  await forgetIn(data, [server]);
  assert.deepEqual(
    [...(await bodies(data)).keys()],
    before.filter(url => !gone.includes(url)),
  );
  await crawlHere({ data, scope: '*' }, [web.seeds[0]!]);
  await crawlHere({ data, scope: '*' }, []);
  assert.deepEqual(
    [...(await bodies(data)).keys()].filter(url => url.startsWith(server)),
    [],
  );
  const refused = await skein(['crawl', `${server}/`, '--data', data, '--allow-private']);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /was forgotten/);
  assert.equal((await skein(['forget', '--allow', server, '--data', data])).code, 0);
  const mistyped = await skein(['forget', 'nowhere.test', '--data', data]);
  assert.match(String(mistyped.stdout), /^No known page matches\..* skein forget --allow nowhere\.test/);
  assert.equal((await skein(['forget', '--allow', 'nowhere.test', '--data', data])).code, 0);
  await crawlHere({ data, scope: '*' }, [`${server}/`]);
  assert.ok([...(await bodies(data)).keys()].filter(url => url.startsWith(server)).length >= gone.length - 1);
  assert.deepEqual(await problems(data), []);
});

test('killed at any moment it loses nothing else, and run again it ends', async () => {
  const pattern = `${web.origins[0]}/*`;
  const expected = [...(await bodies(whole))].filter(([url]) => !url.startsWith(`${web.origins[0]}/`));
  const door = join(root, 'bin', 'skein.js');
  for (const wait of [150, 220, 260, 300, 350, 420]) {
    const data = copy(`killed-${wait}`);
    const child = spawn(process.execPath, [door, 'forget', pattern, '--data', data], { stdio: 'ignore' });
    await Promise.race([once(child, 'exit'), new Promise(resolve => setTimeout(resolve, wait))]);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    assert.deepEqual(await problems(data), [], `killed after ${wait} ms`);
    const now = await bodies(data);
    for (const [url, body] of expected) assert.equal(now.get(url), body, url);
    await forgetIn(data, [pattern]);
    assert.deepEqual([...(await bodies(data))], expected);
    assert.deepEqual(await problems(data), []);
    assert.deepEqual(mentions(data, `WARC-Target-URI: ${web.origins[0]}/`), []);
    await inEach(data, ledger =>
      assert.deepEqual(
        ledger.storage.segments.all().map(({ id }) => id),
        listSegments(join(ledger.directory, 'archive')).map(({ id }) => id),
      ),
    );
  }
});
