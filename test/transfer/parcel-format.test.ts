/** Parcels on the way home: what went in comes out, small; what was damaged or forged ends as one error. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SkeinError } from '../../src/base/errors.ts';
import { derive } from '../../src/crawler/analysis/derive.ts';
import { packer } from '../../src/crawler/pack/pack.ts';
import { decodeParcel, encodeParcel } from '../../src/errand/codec/parcel-codec.ts';
import type { Errand } from '../../src/errand/errand.ts';
import type { Known } from '../../src/errand/known.ts';
import type { Parcel } from '../../src/errand/parcel.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { payloadDigest } from '../../src/errand/warc/warc.ts';
import { restoreParcel } from '../../src/home/unpack/unpack-parcel.ts';
import { VersionCache } from '../../src/outpost/cache.ts';
import { Sender } from '../../src/outpost/sender.ts';
import { recode } from '../../src/outpost/workers/recode.ts';
import { blockOf, packSent, Recent, type Shelf, unpackSent } from '../../src/transfer/wire/parcel-format.ts';
import type { Sent } from '../../src/transfer/wire/wire-visit.ts';
import { decodeSent, encodeSent } from '../../src/transfer/wire/wire-visit-codec.ts';
import { plainErrand } from '../errand/plain-errand.ts';
import { randomly } from '../random.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-parcels-'));
after(() => rmSync(directory, { recursive: true }));

const ORIGIN = 'https://geese.example';
const NOW = 1_760_000_000_000;
const url = (n: number) => `${ORIGIN}/page-${n}`;

function errandOf(id: string, pages: readonly Known[]): Errand {
  return plainErrand(id, ORIGIN, { pages, deadline: NOW + 1e6 });
}

const known = (n: number, extra: Partial<Known> = {}): Known => ({
  url: url(n),
  role: 'page',
  depth: 1,
  hops: 0,
  tries: 0,
  ...extra,
});

function html(n: number, version: number): string {
  const words = Array.from({ length: 400 }, (_, i) => `word${(i * 7 + n * 131) % 997}`).join(' ');
  return `<!doctype html><html lang=en><title>Page ${n}</title><nav><a href=/>home</a><a href=/page-${n + 1}>next</a></nav><p>${words}</p><p>version ${version}</p>`;
}

/** A parcel as the crawler makes it; `coded`: the server sent gzip. */
function parcelOf(
  errand: Errand,
  sequence: number,
  pages: readonly { n: number; version: number; coded?: boolean }[],
): Parcel {
  const packing = packer({ whenBusy: 'stored', whenIdle: 'stored' });
  const visits = pages.map(({ n, version, coded = false }): Visit => {
    const text = Buffer.from(html(n, version));
    const body = coded ? gzipSync(text) : text;
    const headers = new Map([
      ['content-type', 'text/html'],
      ['etag', `"${n}-${version}"`],
    ]);
    if (coded) headers.set('content-encoding', 'gzip');
    const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const digest = payloadDigest(body);
    const response = {
      kind: 'response',
      status: 200,
      head: Buffer.from(`HTTP/1.1 200 OK\r\n${lines}Content-Length: ${body.length}\r\n\r\n`),
      requestHead: Buffer.from(`GET /page-${n} HTTP/1.1\r\nHost: geese.example\r\n\r\n`),
      headers,
      body,
      protocol: 'http/1.1',
      address: '192.0.2.7',
      wire: { up: 1, down: 1, firstByte: 1, total: 1 },
    } as const;
    const record = packing.add({ url: url(n), time: NOW + n, digest, response }, false);
    const { 'content-encoding': _, ...uncoded } = Object.fromEntries(headers);
    const stored = { status: 200, headers: new Map(Object.entries(uncoded)), body: text, digest, truncated: '' };
    const found = derive({ url: url(n), ...stored }, errand, 'skein');
    return {
      ...{ url: url(n), time: NOW + n, outcome: 'fetched', reason: 'ok', status: 200, depth: 1, retryAfter: 0 },
      cost: { up: 100, down: 2000, cause: 'page', ms: 12 },
      stage: errand.pages.find(each => each.url === url(n))?.facts ? 'content' : 'first',
      where: [3],
      ...found,
      record,
    };
  });
  return { errand: errand.id, sequence, visits, members: packing.take(), done: false };
}

const stored = new Map<string, Uint8Array>();
function shelfOf(errand: Errand): Shelf {
  return { errand, recent: new Recent(), stored: each => stored.get(each.url) };
}

/** What home does with the bytes. */
function open(bytes: Uint8Array, shelf: Shelf, sequence: number): Parcel {
  const sent = unpackSent(bytes, shelf);
  for (const { visit, page } of sent.visits) if (page) stored.set(visit.url, blockOf(page));
  const parcel = restoreParcel(sent, shelf.errand, { sequence, done: false }, 'skein');
  return decodeParcel(encodeParcel(parcel));
}

const plain = ({ record, ...visit }: Visit): unknown => ({
  ...visit,
  facts: visit.facts && Buffer.from(visit.facts),
  links: visit.links && Buffer.from(visit.links.urls).toString(),
});

test('a first crawl: visits come out as they went in, and pages cost a part of what gzip would', () => {
  const errand = errandOf('first', [known(0)]);
  const sender = new Sender(new VersionCache(join(directory, 'first'), 1 << 24));
  sender.begin(errand);
  const home = shelfOf(errand);
  let sentBytes = 0;
  let gzipBytes = 0;
  for (let sequence = 0; sequence < 5; sequence++) {
    const parcel = parcelOf(
      errand,
      sequence,
      Array.from({ length: 8 }, (_, i) => ({ n: sequence * 8 + i, version: 1, coded: i % 2 === 1 })),
    );
    const { bytes, visits } = sender.pack(parcel);
    const back = open(bytes, home, sequence);
    assert.deepEqual(back.visits.map(plain), visits.map(plain));
    sentBytes += bytes.length;
    for (const { n } of parcel.visits.map((_, i) => ({ n: sequence * 8 + i })))
      gzipBytes += gzipSync(html(n, 1)).length;
  }
  assert.ok(sentBytes < gzipBytes * 0.75, `${sentBytes} of ${gzipBytes}`);
});

test('a changed page costs its difference, an unchanged one a bit', () => {
  const first = errandOf(
    'a',
    [0, 1, 2, 3].map(n => known(n)),
  );
  const sender = new Sender(new VersionCache(join(directory, 'delta'), 1 << 24));
  sender.begin(first);
  const visits = open(
    sender.pack(
      parcelOf(
        first,
        0,
        [0, 1, 2, 3].map(n => ({ n, version: 1, coded: n === 2 })),
      ),
    ).bytes,
    shelfOf(first),
    0,
  ).visits;
  const second = errandOf(
    'b',
    visits.map((visit, n) => known(n, { facts: visit.facts!, etag: visit.etag! })),
  );
  sender.begin(second);
  const changed = parcelOf(second, 0, [{ n: 2, version: 2, coded: true }]);
  const same = [0, 1, 3].map(
    (n, i): Visit => ({
      ...{
        url: url(n),
        time: NOW + 10 * i,
        outcome: 'same',
        reason: 'not-modified',
        status: 304,
        stage: 'validator',
        depth: 1,
        retryAfter: 0,
      },
      cost: { up: 100, down: 90, cause: 'not-modified', ms: 7 },
    }),
  );
  const parcel = { ...changed, visits: [...same, ...changed.visits] };
  const { bytes, visits: sent } = sender.pack(parcel);
  assert.ok(bytes.length < 330, `${bytes.length} bytes`);
  const back = open(bytes, shelfOf(second), 0);
  assert.deepEqual(back.visits.map(plain), sent.map(plain));
});

test('of what is the same with other bytes home keeps what it knew', () => {
  const errand = errandOf('c', [known(0)]);
  const parcel = parcelOf(errand, 0, [{ n: 0, version: 1 }]);
  const { facts, etag } = parcel.visits[0]!;
  const looked = errandOf('d', [known(0, { facts: facts!, etag: etag! })]);
  const noisy = {
    ...parcelOf(looked, 0, [{ n: 0, version: 2 }]).visits[0]!,
    outcome: 'same',
    reason: 'unchanged',
    where: [],
  } as const;
  const { record, ...visit } = noisy;
  const bytes = packSent({ visits: [{ visit }] }, shelfOf(looked));
  const [back] = unpackSent(bytes, shelfOf(looked)).visits;
  assert.deepEqual(Buffer.from(back!.visit.facts!), Buffer.from(facts!));
  assert.equal(back!.visit.etag, '"0-1"');
});

test('a version that home does not hold is asked for whole, never guessed', () => {
  const errand = errandOf('e', [
    known(7, { facts: parcelOf(errandOf('x', []), 0, [{ n: 7, version: 1 }]).visits[0]!.facts! }),
  ]);
  const [page] = [parcelOf(errand, 0, [{ n: 7, version: 1 }])];
  const sender = new Sender(new VersionCache(join(directory, 'gone'), 1 << 24));
  sender.begin(errandOf('f', []));
  sender.pack({ ...page!, errand: 'f' });
  sender.begin(errand);
  const { bytes } = sender.pack(parcelOf(errand, 0, [{ n: 7, version: 2 }]));
  const without = { errand, recent: new Recent(), stored: () => undefined };
  assert.throws(() => unpackSent(bytes, without), { code: 'not-found' });
  const other = { errand, recent: new Recent(), stored: () => Buffer.from('another version') };
  assert.throws(() => unpackSent(bytes, other), { code: 'not-found' });
});

test('10,000 mutations below the checksum end the same way', () => {
  const random = randomly(8);
  const errand = errandOf(
    'h',
    [0, 1, 2].map(n => known(n)),
  );
  const bytes = encodeSent(
    recode(
      parcelOf(
        errand,
        0,
        [0, 1, 2].map(n => ({ n, version: 1 })),
      ),
      errand,
    ),
    errand,
  );
  let read = 0;
  for (let i = 0; i < 10_000; i++) {
    const mutant = Uint8Array.from(bytes);
    // The first bytes hold all lengths and words; most of the rest is text of pages.
    for (let hits = 1 + random.below(3); hits > 0; hits--) mutant[random.below(900)] = random.below(256);
    try {
      const sent = decodeSent(mutant, errand);
      if (i % 50 === 0) restoreParcel(sent, errand, { sequence: 0, done: false }, 'skein');
      read++;
    } catch (error) {
      assert.ok(error instanceof SkeinError, String((error as Error).stack));
    }
  }
  assert.ok(read > 0);
});

test('10,000 mutations of parcels end as an error for people or as a parcel', () => {
  const random = randomly(7);
  const errand = errandOf(
    'g',
    [0, 1, 2].map(n => known(n)),
  );
  const sender = new Sender(new VersionCache(join(directory, 'fuzz'), 1 << 24));
  sender.begin(errand);
  const { bytes } = sender.pack(
    parcelOf(
      errand,
      0,
      [0, 1, 2].map(n => ({ n, version: 1 })),
    ),
  );
  let survived = 0;
  for (let i = 0; i < 10_000; i++) {
    const mutant = Uint8Array.from(bytes);
    for (let hits = 1 + random.below(3); hits > 0; hits--) mutant[random.below(mutant.length)] = random.below(256);
    const cut = random.below(4) === 0 ? mutant.subarray(0, random.below(mutant.length)) : mutant;
    try {
      const sent: Sent = unpackSent(cut, { errand, recent: new Recent(), stored: () => undefined });
      restoreParcel(sent, errand, { sequence: 0, done: false }, 'skein');
      survived++;
    } catch (error) {
      assert.ok(error instanceof SkeinError, String((error as Error).stack));
    }
  }
  assert.ok(survived < 100, `${survived} mutants were taken for parcels`);
});
