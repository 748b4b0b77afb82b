/** What was collected, read back: bodies to the byte, links as they are, exports that others read, damage that is seen. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { WARCParser } from 'warcio';
import { openWeb, type Web } from '../web/web.ts';
import { fast, skein, skeinJson, workplace } from './skein.ts';

interface LinkLine {
  readonly url: string;
  readonly anchor: string;
  readonly nofollow: boolean;
}

describe('a collection', () => {
  const place = workplace();
  const data = join(place.path, 'data');
  let web: Web;

  before(async () => {
    web = await openWeb({ seed: 6, servers: 2, pagesPerServer: 25, codings: ['gzip'], features: ['duplicates'] });
    await skeinJson('crawl', ...web.seeds, '--data', data, ...fast, '--scope', '*');
  });
  after(async () => {
    await web.close();
    place[Symbol.dispose]();
  });

  test('cat gives the body to the byte, also of a duplicate', async () => {
    const urls = ['/', '/p/7.html', '/d/exact-1.html', '/d/exact-2.html'].map(path => web.origins[0] + path);
    for (const url of urls) {
      const { code, stdout, stderr } = await skein(['cat', url, '--data', data]);
      assert.equal(code, 0, stderr);
      const truth = Buffer.from(await (await fetch(url)).arrayBuffer());
      assert.ok(stdout.equals(truth), url);
    }
    const none = await skein(['cat', `${web.origins[0]}/nowhere`, '--data', data]);
    assert.equal(none.code, 3);
  });

  test('links are those of the pages, out and in', async () => {
    const linked = web.truth().filter(({ content }) => content !== undefined);
    const target = `${web.origins[0]}/p/3.html`;
    const { in: incoming, out } = await skeinJson<{ in: LinkLine[]; out: LinkLine[] }>('links', target, '--data', data);
    const outgoing = linked.find(({ url }) => url === target)!.content!.links(Date.now());
    assert.deepEqual(out.map(({ url }) => url).sort(), [...outgoing].sort());
    assert.ok(out.every(({ anchor, nofollow }) => anchor.length > 0 && !nofollow));
    const sources = linked.filter(({ content }) => content!.links(Date.now()).includes(target)).map(({ url }) => url);
    assert.deepEqual(incoming.map(({ url }) => url).sort(), sources.sort());
    const shown = await skeinJson<{ details: Record<string, unknown> }>('show', target, '--data', data);
    assert.equal(shown.details['linksToIt'], sources.length);
  });

  test('export as one WARC is read by warcio and gzip', async () => {
    const file = join(place.path, 'all.warc.gz');
    const { code, stderr } = await skein(['export', '--data', data, '--out', file]);
    assert.equal(code, 0, stderr);
    const urls = new Set<string>();
    for await (const record of new WARCParser(createReadStream(file))) {
      const bytes = (await record.readFully(true)) ?? new Uint8Array();
      if (record.warcType !== 'response' && record.warcType !== 'revisit') continue;
      if (record.warcType === 'response') assert.ok(bytes.length > 0);
      urls.add(record.warcTargetURI!);
    }
    assert.deepEqual([...urls].sort(), web.mustFind());
    execFileSync('gzip', ['-t', file]);
  });

  test('export as WARC 1.0 has the same records for bsdtar, which knows no newer version', async context => {
    const file = join(place.path, 'old.warc.gz');
    const { code, stderr } = await skein(['export', '--format', 'warc-1.0', '--data', data, '--out', file]);
    assert.equal(code, 0, stderr);
    const paths: string[] = [];
    for await (const record of new WARCParser(createReadStream(file))) {
      assert.equal(record.warcHeaders.statusline, 'WARC/1.0');
      if (record.warcType === 'response') paths.push(new URL(record.warcTargetURI!).pathname);
    }
    assert.ok(paths.length > 50);
    if (spawnSync('bsdtar', ['--version']).error)
      return context.skip('no bsdtar: scripts/install-debian.sh libarchive-tools');
    const plain = join(place.path, 'old.warc');
    writeFileSync(plain, gunzipSync(readFileSync(file)));
    // 4 MB at once: it takes a header that lies across the end of its buffer for a bad one.
    const listed = execFileSync('bsdtar', ['-b', '8192', '-tf', plain], { encoding: 'utf8' }).trim().split('\n');
    // A path that ends in a slash is none that it could make a file of.
    const files = paths.filter(path => !path.endsWith('/')).map(path => path.slice(1));
    assert.deepEqual(listed.sort(), files.sort());
  });

  test('export as JSON lines and as CDXJ names every page', async () => {
    const lines = (await skein(['export', '--format', 'jsonl', '--newest', '--data', data])).stdout.toString();
    const pages = lines
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { url: string; body: string; status: number });
    assert.deepEqual(pages.map(({ url }) => url).sort(), web.mustFind());
    const first = pages.find(({ url }) => url === web.seeds[0])!;
    assert.equal(first.body, await (await fetch(first.url)).text());
    const index = (await skein(['export', '--format', 'cdxj', '--data', data])).stdout.toString().trim().split('\n');
    const indexed = index.map(line => (JSON.parse(line.slice(line.indexOf('{'))) as { url: string }).url);
    assert.deepEqual([...new Set(indexed)].sort(), web.mustFind());
    assert.deepEqual(index, [...index].sort(), 'an index is sorted');
    const wrong = await skein(['export', '--format', 'zip', '--data', data]);
    assert.equal(wrong.code, 2);
  });

  test('a part is exported whole: by pattern, by time, with the originals that duplicates refer to', async () => {
    const lines = async (...choice: string[]) => {
      const { code, stdout, stderr } = await skein(['export', ...choice, '--data', data]);
      assert.equal(code, 0, stderr);
      return stdout.toString().split('\n').filter(Boolean);
    };
    const some = web.mustFind().filter(url => url.startsWith(web.origins[0]!) && /\/p\/1/.test(url));
    const pattern = `${web.origins[0]}*/p/1`;
    for (const format of ['jsonl', 'cdxj'])
      assert.equal((await lines(pattern, '--format', format)).length, some.length);
    assert.equal((await lines('--format', 'cdxj', '--until', '2000-01-01')).length, 0);
    assert.equal((await lines('--format', 'jsonl', '--since', '1h', '--newest')).length, web.mustFind().length);
    const file = join(place.path, 'duplicate.warc.gz');
    await lines('/d/exact-', '--out', file);
    const kinds = new Map<string, string>();
    for await (const record of new WARCParser(createReadStream(file))) {
      await record.readFully(false);
      kinds.set(record.warcTargetURI ?? '', record.warcType ?? '');
      const original = record.warcHeaders.headers.get('WARC-Refers-To-Target-URI');
      if (original) assert.equal(kinds.get(original), 'response', `the original of ${record.warcTargetURI} is there`);
    }
    assert.ok(kinds.size > 2);
  });

  test('a file that cannot be written is one sentence', async () => {
    for (const [out, code, says] of [
      [join(place.path, 'no', 'such', 'place.warc.gz'), 1, /cannot be written: no such file/],
      ['/dev/full', 5, /cannot be written: no space left/],
    ] as const) {
      const ran = await skein(['export', '--out', out, '--data', data]);
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, says);
      assert.doesNotMatch(ran.stderr, /\n\s+at /);
    }
  });

  test('verify sees a flipped byte and a missing segment', async () => {
    assert.equal((await skein(['verify', '--data', data])).code, 0);
    const archive = join(data, 'archive');
    const name = readdirSync(archive).find(each => each.endsWith('.warc.gz'))!;
    const file = join(archive, name);
    const bytes = readFileSync(file);
    const damaged = Buffer.from(bytes);
    damaged[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(file, damaged);
    const flipped = await skein(['verify', '--data', data, '--json']);
    assert.equal(flipped.code, 6);
    assert.ok((JSON.parse(flipped.stdout.toString()) as { problems: string[] }).problems.length > 0);
    renameSync(file, `${file}.away`);
    const missing = await skein(['verify', '--data', data]);
    assert.equal(missing.code, 6);
    const crawl = await skein(['crawl', '--data', data, ...fast]);
    assert.equal(crawl.code, 6, 'no crawl begins on a damaged collection');
    assert.match(crawl.stderr, /is missing/);
    writeFileSync(file, bytes);
    assert.equal((await skein(['verify', '--data', data])).code, 0);
  });
});
