import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { ByteWriter } from '../../src/errand/codec/bytes.ts';
import { decodeErrand, encodeErrand } from '../../src/errand/codec/errand-codec.ts';
import { decodeParcel, encodeParcel } from '../../src/errand/codec/parcel-codec.ts';
import type { Errand } from '../../src/errand/errand.ts';
import type { Parcel } from '../../src/errand/parcel.ts';
import { randomly } from '../random.ts';

const errand: Errand = {
  id: 'k3-1',
  kind: 'refresh',
  server: {
    origin: 'https://example.org',
    robots: { status: 200, body: 'User-agent: *\nDisallow: /ü', unreachableSince: 0, time: 1.7e12 },
    pace: 1000,
    connections: 2,
    notBefore: 1.7e12,
    allowPrivate: true,
    auditShare: 0.02,
    trustValidators: true,
    missing: Uint8Array.of(4, 4),
  },
  pages: [
    { url: 'https://example.org/', role: 'page', depth: 0, hops: 0, tries: 0 },
    {
      url: 'https://example.org/日本',
      role: 'image',
      depth: 3,
      hops: 1,
      tries: 2,
      etag: '"x"',
      lastModified: 'Mon, 01 Jan 2026 00:00:00 GMT',
      facts: Uint8Array.of(1, 2, 3),
    },
  ],
  scope: {
    domains: ['example.org'],
    include: ['/docs/**'],
    exclude: [],
    focus: ['geese'],
    images: true,
    keep: {
      extensions: ['html'],
      types: ['text/*'],
      minBytes: 0,
      maxBytes: 5e9,
      paths: [],
      languages: ['en'],
      keywords: [],
    },
  },
  limits: { pages: 64, follow: 2, depth: 100, bodyBytes: 16e6, time: 600_000 },
  levels: 2,
  detector: 'content',
  code: 'ab'.repeat(32),
  deadline: 1.8e12,
};

const parcel: Parcel = {
  errand: 'k3-1',
  sequence: 300,
  done: true,
  server: {
    origin: 'https://example.org',
    address: '192.0.2.1',
    sitemaps: ['https://example.org/sitemap.xml'],
    crawlDelay: 2000,
    notBefore: 0,
    latency: 12.5,
    robotsBytes: 700,
    missing: Buffer.from([]),
  },
  visits: [
    {
      url: 'https://example.org/',
      time: 1.75e12,
      outcome: 'fetched',
      reason: 'ok',
      status: 200,
      stage: 'content',
      where: [0, 17, 300],
      depth: 0,
      etag: 'W/"1"',
      lastModified: 'x',
      facts: Uint8Array.of(9, 8),
      page: {
        title: 'Geese – 雁',
        mediaType: 'text/html',
        charset: 'utf-8',
        language: 'en',
        bytes: 123_456,
        canonical: 'https://example.org/a',
        noindex: true,
        nofollow: false,
        noarchive: true,
        truncated: false,
        filtered: true,
      },
      links: {
        count: 2,
        fingerprints: Uint32Array.of(1, 2, 0xffffffff, 4),
        flags: Uint8Array.of(0, 1),
        relevance: Uint8Array.of(5, 255),
        urls: new TextEncoder().encode('https://a/\nhttps://b/'),
        anchors: new TextEncoder().encode('one\ntwo'),
        lastmod: Float64Array.of(0, 1.7e12),
      },
      verdict: { follow: false, relevance: 200 },
      cost: { up: 300, down: 5000, cause: 'page', ms: 42 },
      record: { offset: 1, length: 4, requestLength: 2 },
      retryAfter: 0,
    },
    {
      url: 'https://example.org/gone',
      time: 1.75e12,
      outcome: 'moved',
      reason: 'redirect',
      status: 301,
      depth: 1,
      location: 'https://example.org/new',
      cost: { up: 1, down: 2, cause: 'error', ms: 3 },
      retryAfter: 120,
    },
  ],
  members: Uint8Array.of(7, 7, 7, 7, 7),
};

test('an errand comes out as it went in', () => {
  assert.deepEqual(decodeErrand(encodeErrand(errand)), errand);
});

test('a parcel comes out as it went in', () => {
  assert.deepEqual(decodeParcel(encodeParcel(parcel)), parcel);
});

test('numbers and words are the same wherever they come to lie', () => {
  for (let shift = 0; shift < 9; shift++) {
    const shifted = { ...parcel, errand: 'e'.repeat(shift + 1) };
    const bytes = encodeParcel(shifted);
    assert.deepEqual(decodeParcel(bytes), shifted);
    const apart = new Uint8Array(bytes.length + shift);
    apart.set(bytes, shift);
    assert.deepEqual(decodeParcel(apart.subarray(shift)), shifted);
  }
  // Same length, first and last byte: told apart by what is between.
  for (const reason of ['ok', 'http-503', 'http-553', 'http-503', 'é', 'éa', 'aé', '雁', 'ok']) {
    const visits = parcel.visits.map(visit => ({ ...visit, reason }));
    assert.deepEqual(decodeParcel(encodeParcel({ ...parcel, visits })).visits, visits);
  }
});

test('a record outside the member section is refused', () => {
  const [visit] = parcel.visits;
  const lie = { ...parcel, visits: [{ ...visit!, record: { offset: 3, length: 9, requestLength: 1 } }] };
  assert.throws(() => decodeParcel(encodeParcel(lie)), { code: 'bad-frame' });
});

test('10,000 mutations of each message decode or are refused, and nothing else', () => {
  const random = randomly(20_261_115);
  for (const [bytes, decode] of [
    [encodeErrand(errand), decodeErrand],
    [encodeParcel(parcel), decodeParcel],
  ] as const) {
    let refused = 0;
    for (let round = 0; round < 10_000; round++) {
      const mutant = Uint8Array.from(bytes).subarray(
        0,
        random.below(5) === 0 ? random.below(bytes.length) : bytes.length,
      );
      for (let flips = 1 + random.below(4); flips > 0 && mutant.length > 0; flips--) {
        mutant[random.below(mutant.length)] = random.below(256);
      }
      try {
        decode(mutant);
      } catch (error) {
        assert.ok(error instanceof SkeinError && error.code === 'bad-frame', String(error));
        refused++;
      }
    }
    assert.ok(refused > 1000);
  }
});

test('a number without end is refused, not written for ever', () => {
  const writer = new ByteWriter();
  assert.throws(() => writer.varint(Number.POSITIVE_INFINITY), /cannot be encoded as a number/);
  writer.varint(2 ** 53);
});
