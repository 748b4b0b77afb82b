/** What a site and its readers send each other: every record comes back as it was, and nothing else is believed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter } from '../../../src/errand/codec/bytes.ts';
import { decodeChanges, encodeChanges, type SiteChanges } from '../../../src/notices/site/changes.ts';
import {
  type Discovery,
  decodeDiscovery,
  decodeFailure,
  encodeDiscovery,
  encodeFailure,
  siteLimits,
} from '../../../src/notices/site/discovery.ts';
import {
  bucketDigest,
  bucketOf,
  bucketsFor,
  decodeEntries,
  decodeSummary,
  encodeEntries,
  encodeSummary,
} from '../../../src/notices/site/manifest.ts';
import {
  bodyHash,
  decodePages,
  decodeWanted,
  encodePages,
  encodeWanted,
  type WantedPages,
} from '../../../src/notices/site/pages.ts';
import { byPathHash, decodeCursor, encodeCursor } from '../../../src/notices/site/paths.ts';
import { decodeTerms, encodeTerms } from '../../../src/notices/site/terms.ts';

const site = 'https://example.org/';
const cursor = '12-00112233445566ff';
const hash8 = () => new Uint8Array(randomBytes(8));

const discovery: Discovery = {
  protocol: 1,
  software: 'skein 0.1.0',
  site,
  detector: 'content-1',
  journal: { first: 3, cursor },
  pages: 4,
  access: 'open',
  changes: '/.well-known/skein/changes',
  manifest: '/.well-known/skein/manifest',
  pagesAt: '/.well-known/skein/pages',
  hub: 'https://hub.example/',
  topics: ['/.well-known/skein/atom.xml'],
  limits: { requestsAMinute: 60, wanted: 100, wait: 30 },
};

test('a discovery document comes back with absolute links', () => {
  const read = decodeDiscovery(encodeDiscovery(discovery), `${site}.well-known/skein`);
  assert.equal(read.changes, 'https://example.org/.well-known/skein/changes');
  assert.deepEqual(read.topics, ['https://example.org/.well-known/skein/atom.xml']);
  assert.equal(read.hub, 'https://hub.example/');
  assert.equal(read.atom, undefined);
});

test('a discovery document of another version, with a strange link, or none at all is refused', () => {
  const told = (more: object) => JSON.stringify({ ...discovery, ...more });
  assert.throws(() => decodeDiscovery(told({ protocol: 2 }), site), { code: 'version-mismatch' });
  for (const text of ['', '[]', 'nonsense', told({ changes: 'file:///etc/passwd' }), told({ journal: 4 })]) {
    assert.throws(() => decodeDiscovery(text, site), { code: 'bad-frame' });
  }
  assert.throws(() => decodeDiscovery(' '.repeat(siteLimits.discoveryBytes + 1), site), { code: 'bad-frame' });
});

test('a failure says whether the reader should reconcile, and nothing more is believed of it', () => {
  assert.deepEqual(decodeFailure(410, encodeFailure('cursor-too-old', 'since 12')), {
    code: 'cursor-too-old',
    message: 'since 12',
    reconcile: true,
  });
  assert.equal(decodeFailure(500, encodeFailure('other-history', 'x')).code, 'unknown');
  assert.equal(decodeFailure(502, '<html>').message, 'HTTP 502');
  assert.equal(decodeFailure(429, encodeFailure('slow-down', 'a\u001b[2J')).message, 'a [2J');
});

test('cursors are numbers with the history that led there', () => {
  assert.deepEqual(decodeCursor(cursor), { sequence: 12, chain: '00112233445566ff' });
  assert.equal(encodeCursor(decodeCursor(cursor)!), cursor);
  for (const text of ['', '12', '-1-00112233445566ff', '12-XYZ', `${'9'.repeat(60)}-00112233445566ff`]) {
    assert.equal(decodeCursor(text), undefined, text);
  }
});

const changes: SiteChanges = {
  cursor,
  more: true,
  changes: [
    { url: `${site}a/one.html`, operation: 'create', kind: 'page', time: 1_700_000_000_000, content: hash8() },
    {
      url: `${site}a/one-more.html?x=1`,
      operation: 'update',
      kind: 'record',
      time: 1_600_000_000_000,
      content: hash8(),
    },
    { url: `${site}b%20c`, operation: 'delete', kind: 'media', time: 1_700_000_001_000, content: new Uint8Array(8) },
  ],
};

test('changes come back as they were', () => {
  const bytes = encodeChanges(changes);
  assert.deepEqual(decodeChanges(bytes, site), changes);
  const empty = { cursor, more: false, changes: [] };
  assert.deepEqual(decodeChanges(encodeChanges(empty), site), empty);
});

test('no prefix, suffix or byte of an answer makes a reader do more than refuse', async () => {
  const wanted: WantedPages[] = [{ url: `${site}a` }, { url: `${site}b`, have: hash8() }];
  const page = {
    state: 'page',
    kind: 'page',
    type: 'text/html',
    time: 1000,
    title: 't',
    body: randomBytes(50),
  } as const;
  const readers: readonly [Uint8Array, (bytes: Uint8Array) => unknown][] = [
    [encodeChanges(changes), bytes => decodeChanges(bytes, site)],
    [encodeSummary({ cursor, pages: 3, digests: [hash8(), hash8()] }), decodeSummary],
    [encodeEntries(changes.changes), bytes => decodeEntries(bytes, site)],
    [encodeWanted(wanted), bytes => decodeWanted(bytes, site)],
    [await encodePages([{ page }, { page: { state: 'same' } }]), bytes => decodePages(bytes, wanted, () => undefined)],
  ];
  for (const [bytes, read] of readers) {
    read(bytes);
    for (let i = 0; i < bytes.length; i++) {
      const damaged = Uint8Array.from(bytes);
      damaged[i]! ^= 0x55;
      for (const tried of [bytes.subarray(0, i), damaged, Buffer.concat([bytes, bytes.subarray(i)])]) {
        try {
          read(tried);
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'bad-frame', String(error));
        }
      }
    }
  }
});

test('a path that leads to another server or is not in normal form is refused', () => {
  for (const path of ['//evil.example/x', '/a/../b', '/a b', '/a#b', 'x', '/?utm_source=x']) {
    const forged = encodeEntries([{ url: `${site.slice(0, -1)}${path}`, kind: 'page', content: hash8(), time: 0 }]);
    const straight = path.startsWith('//');
    if (straight) assert.equal(new URL(decodeEntries(forged, site)[0]!.url).host, 'example.org');
    else assert.throws(() => decodeEntries(forged, site), { code: 'bad-frame' }, path);
  }
});

test('a manifest is compared bucket by bucket, on any server and in any order', () => {
  const entries = changes.changes.map(({ url, kind, time, content }) => ({ url, kind, time, content }));
  assert.deepEqual(decodeEntries(encodeEntries(entries), site), entries);
  assert.deepEqual(bucketDigest(entries), bucketDigest([...entries].reverse()));
  assert.notDeepEqual(bucketDigest(entries), bucketDigest(entries.slice(1)));
  assert.equal(bucketOf('http://one.example/a', 64), bucketOf('https://two.example:8080/a', 64));
  assert.deepEqual([0, 1, 100, 10_000, 1e9].map(bucketsFor), [1, 1, 8, 64, 4096]);
});

test('an unlisted page is named to those who hold it, and to nobody else', () => {
  const secret = { url: `${site}thank-you?order=1`, kind: 'unlisted', content: hash8(), time: 0 } as const;
  const open = { url: `${site}open`, kind: 'page', content: hash8(), time: 1000 } as const;
  const told: SiteChanges = {
    cursor,
    more: false,
    changes: [secret, open].map(each => ({ ...each, operation: 'update' })),
  };
  const ours = byPathHash(() => ['https://example.org/other', secret.url]);
  const elsewhere = byPathHash(() => ['https://evil.example/thank-you?order=1']);
  for (const [bytes, read] of [
    [encodeChanges(told), (held?: typeof ours) => decodeChanges(encodeChanges(told), site, held).changes],
    [encodeEntries([secret, open]), (held?: typeof ours) => decodeEntries(encodeEntries([secret, open]), site, held)],
  ] as const) {
    assert.ok(!Buffer.from(bytes).includes('thank'), 'nothing of its path is in the answer');
    assert.deepEqual(
      read().map(({ url }) => url),
      [open.url],
    );
    assert.deepEqual(
      read(ours).map(({ url, kind }) => [url, kind]),
      [
        [secret.url, 'unlisted'],
        [open.url, 'page'],
      ],
    );
    assert.deepEqual(
      read(elsewhere).map(({ url }) => url),
      [open.url],
      'and of no other server',
    );
  }
});

test('pages travel as their difference from what the reader holds', async () => {
  const old = Buffer.from(`<p>${randomBytes(20_000).toString('hex')}</p>`);
  const body = Buffer.concat([old, Buffer.from('<p>news</p>')]);
  const page = { state: 'page', kind: 'page', type: 'text/html', time: 1_700_000_000_000, title: 'T', body } as const;
  const wanted: WantedPages[] = [
    { url: `${site}a`, have: bodyHash(old) },
    { url: `${site}gone` },
    { url: `${site}later` },
    { url: `${site}same`, have: bodyHash(body) },
  ];
  assert.deepEqual(decodeWanted(encodeWanted(wanted), site), wanted);
  const rest = (['gone', 'later', 'same'] as const).map(state => ({ page: { state } }));
  const bytes = await encodePages([{ page, base: old }, ...rest]);
  assert.ok(bytes.length < 200, `${bytes.length} bytes`);
  const [first, ...others] = decodePages(bytes, wanted, url => (url === `${site}a` ? old : undefined));
  assert.deepEqual({ ...first, body: Buffer.from((first as typeof page).body) }, page);
  assert.deepEqual(others, [{ state: 'gone' }, { state: 'later' }, { state: 'same' }]);
  assert.throws(() => decodePages(bytes, wanted, () => undefined), { code: 'bad-frame' });
  assert.throws(() => decodePages(bytes, wanted, () => Buffer.from('another')), { code: 'bad-frame' });
});

test('pages that unfold to more than they may are refused, whatever length they claim', () => {
  const wanted: WantedPages[] = [{ url: `${site}a` }];
  const bomb = zstdCompressSync(Buffer.alloc(200 * 2 ** 20));
  const most = siteLimits.pagesBytes * 2;
  for (const claimed of [1, siteLimits.pageBytes, most, most + 1, 2 ** 40]) {
    const head = new ByteWriter(16);
    head.varint(1);
    head.byte(0);
    head.varint(claimed);
    const before = process.memoryUsage.rss();
    const answer = Buffer.concat([head.finish(), bomb]);
    assert.throws(() => decodePages(answer, wanted, () => undefined), { code: 'bad-frame' }, String(claimed));
    assert.ok(process.memoryUsage.rss() - before < 2 * most);
  }
  const huge = zstdCompressSync(Buffer.alloc(siteLimits.pageBytes + 100));
  const head = new ByteWriter(16);
  head.varint(1);
  head.byte(0);
  head.varint(siteLimits.pageBytes + 100);
  assert.throws(() => decodePages(Buffer.concat([head.finish(), huge]), wanted, () => undefined), {
    code: 'bad-frame',
  });
});

test('terms lose control characters, capitals and pages of others', () => {
  const terms = [
    { term: 'Night\u0000 Train', count: 3, url: `${site}a`, title: 'A' },
    { term: 'x', count: 1, url: 'https://other.example/' },
  ];
  assert.deepEqual(decodeTerms(encodeTerms(terms), site), [
    { term: 'night train', count: 3, url: `${site}a`, title: 'A' },
    { term: 'x', count: 1 },
  ]);
  for (const text of ['', '{"terms":[{"term":"","count":1}]}', '{"terms":[{"term":"a","count":0}]}']) {
    assert.throws(() => decodeTerms(text, site), { code: 'bad-frame' });
  }
});
