/** ResourceSync documents as the specification shows them, both versions, and what nobody should have to read. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync } from '../../src/notices/resourcesync.ts';

const suite = join(import.meta.dirname, '../../../shared/suites/resourcesync');
const skip = existsSync(suite) ? false : 'the examples of the specification are not here';
const at = 'http://example.com/list.xml';

test('every example of the specification is read', { skip }, () => {
  for (const version of readdirSync(suite)) {
    for (const name of readdirSync(join(suite, version))) {
      const text = readFileSync(join(suite, version, name));
      const read = parseSync(text, at);
      const entries = [...text.toString().matchAll(/<(?:url|sitemap)>/g)].length;
      assert.equal(read.entries.length, entries, `${version}/${name}`);
      const named = /<rs:md\s[^>]*?capability="([^"]+)"/.exec(text.toString())?.[1] ?? '';
      assert.equal(read.capability, named, `${version}/${name}`);
      for (const { url } of read.entries) assert.match(url, /^http/);
      const said = [...text.toString().matchAll(/change="(\w+)"/g)].map(([, change]) => change);
      assert.deepEqual(
        read.entries.map(({ change }) => change).filter(change => change !== ''),
        said,
        `${version}/${name}`,
      );
    }
  }
});

test('a change list tells what changed when, in either version’s words', () => {
  const list = (inner: string) =>
    Buffer.from(`<urlset xmlns:rs="http://www.openarchives.org/rs/terms/">
      <rs:md capability="changelist" from="2025-01-03T00:00:00Z"/>${inner}</urlset>`);
  const hash = 'ab'.repeat(32);
  const one = `<url><loc>/a</loc><lastmod>2025-01-03T11:00:00Z</lastmod><rs:md change="updated"/></url>`;
  const two = `<url><loc>/b</loc><rs:md change="deleted" datetime="2025-01-03T12:00:00Z" hash="md5:1 sha-256:${hash}"/></url>`;
  const { capability, from, entries } = parseSync(list(one + two), at);
  assert.equal(capability, 'changelist');
  assert.equal(from, Date.UTC(2025, 0, 3));
  assert.deepEqual(
    entries.map(({ url, time, change, sha256 }) => ({ url, time, change, sha256 })),
    [
      { url: 'http://example.com/a', time: Date.UTC(2025, 0, 3, 11), change: 'updated', sha256: '' },
      { url: 'http://example.com/b', time: Date.UTC(2025, 0, 3, 12), change: 'deleted', sha256: hash },
    ],
  );
});

test('bombs, endless lists and nonsense end with a problem and few entries', () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "${'y'.repeat(1000)}"><!ENTITY b "&a;&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>`;
  assert.deepEqual(parseSync(Buffer.from(bomb), at).capability, '');
  const endless = `<urlset>${'<url><loc>/x</loc></url>'.repeat(60_000)}</urlset>`;
  const read = parseSync(Buffer.from(endless), at);
  assert.equal(read.entries.length, 50_000);
  assert.ok(read.problems.some(problem => problem.startsWith('more than')));
  for (const text of [
    '',
    '<',
    'x',
    '<urlset><url><loc>',
    '<urlset><rs:md capability="changelist"/><url></url></urlset>',
  ])
    assert.equal(parseSync(Buffer.from(text), at).entries.length, 0, text);
});
