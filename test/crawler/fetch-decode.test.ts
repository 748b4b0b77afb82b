/** Content codings: each one, stacked, cut, broken, and made to explode. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { type Decoded, decodeBody, decodeLargeBody } from '../../src/errand/warc/decode.ts';
import { ask, fetcherFor, response, serve } from './fetch-server.ts';

const limits = { bodyBytes: 10_000_000 };
/** Text that shrinks about as pages do. */
const page = Buffer.from(
  Array.from({ length: 8_000 }, (_, i) => `<p>Paragraph ${i} says ${(i * 2654435761) % 1_000_003}.</p>\n`).join(''),
);

const codings: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['gzip', bytes => zlib.gzipSync(bytes)],
  ['x-gzip', bytes => zlib.gzipSync(bytes)],
  ['deflate', bytes => zlib.deflateSync(bytes)],
  ['Deflate', bytes => zlib.deflateRawSync(bytes)],
  ['br', bytes => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } })],
  ['zstd', bytes => zlib.zstdCompressSync(bytes)],
];

/** Both ways of decoding, which must agree. */
async function both(body: Uint8Array, coding: string | undefined, within = limits): Promise<Decoded> {
  const now = decodeBody(body, coding, within);
  const later = await decodeLargeBody(body, coding, within);
  assert.equal(later.kind, now.kind);
  if (now.kind === 'failed' || later.kind === 'failed') assert.deepEqual(later, now);
  else assert.equal(later.truncated, now.truncated);
  return now;
}

function bytesOf(decoded: Decoded): Buffer {
  if (decoded.kind === 'failed') throw new Error(decoded.reason);
  return Buffer.from(decoded.bytes);
}

for (const [name, encode] of codings) {
  test(`${name}: whole`, async () => {
    const decoded = await both(encode(page), name);
    assert.ok(bytesOf(decoded).equals(page));
    assert.equal('truncated' in decoded, false);
  });

  test(`${name}: of nothing, and nothing`, async () => {
    assert.equal(bytesOf(await both(encode(Buffer.alloc(0)), name)).length, 0);
    assert.equal(bytesOf(await both(Buffer.alloc(0), name)).length, 0);
  });

  test(`${name}: input that ends too early gives what there is`, async () => {
    const coded = encode(page);
    const start = coded.subarray(0, Math.floor(coded.length * 0.9));
    for (const decoded of [await both(start, name), await decodeLargeBody(start, name, limits)]) {
      assert.equal(decoded.kind === 'ok' && decoded.truncated, 'input');
      const bytes = bytesOf(decoded);
      // zstd gives out whole blocks only, of 128 KiB.
      assert.ok(bytes.length > page.length * 0.3, String(bytes.length));
      assert.ok(bytes.equals(page.subarray(0, bytes.length)));
    }
  });

  test(`${name}: more than bodyBytes is cut and marked`, async () => {
    const within = { bodyBytes: Math.floor(page.length * 0.8) };
    const decoded = await both(encode(page), name, within);
    assert.equal(decoded.kind === 'ok' && decoded.truncated, 'length');
    const bytes = bytesOf(decoded);
    assert.ok(bytes.length <= within.bodyBytes && bytes.equals(page.subarray(0, bytes.length)));
    const exact = bytesOf(await decodeLargeBody(encode(page), name, within));
    assert.equal(exact.length, within.bodyBytes);
  });

  test(`${name}: a bomb is refused`, async () => {
    const coded = encode(Buffer.alloc(8_000_000));
    const decoded = await both(coded, name, { bodyBytes: 100_000_000 });
    assert.deepEqual(decoded, { kind: 'failed', reason: 'bomb' });
  });

  test(`${name}: a small body may shrink as much as it likes`, async () => {
    assert.equal(bytesOf(await both(encode(Buffer.alloc(1_000_000)), name)).length, 1_000_000);
  });

  test(`${name}: what is not coded so is bad-coding`, async () => {
    const decoded = await both(Buffer.from('<html>plain, whatever the header says</html>'), name);
    assert.deepEqual(decoded, { kind: 'failed', reason: 'bad-coding' });
  });
}

test('plain: as it is, cut at bodyBytes; words that are no coding are passed over', async () => {
  for (const coding of [undefined, '', 'identity', 'utf-8', 'none', 'text/html'])
    assert.ok(bytesOf(await both(page, coding)).equals(page), String(coding));
  const cut = await both(page, undefined, { bodyBytes: 10 });
  assert.ok(bytesOf(cut).equals(page.subarray(0, 10)));
  assert.equal(cut.kind === 'ok' && cut.truncated, 'length');
});

test('stacked codings come off in reverse; more than three, and foreign ones, do not', async () => {
  const twice = zlib.brotliCompressSync(zlib.gzipSync(page));
  assert.ok(bytesOf(await both(twice, 'gzip, br')).equals(page));
  assert.ok(bytesOf(await both(zlib.deflateSync(twice), 'gzip, br, identity, deflate')).equals(page));
  assert.equal((await both(twice, 'gzip, gzip, gzip, gzip')).kind, 'failed');
  for (const coding of ['compress', 'dcb', 'gzip, dcz'])
    assert.equal((await both(page, coding)).kind, 'failed', coding);
});

test('a bomb inside a bomb is refused by the ratio of the whole', async () => {
  const inner = zlib.gzipSync(Buffer.alloc(60_000_000), { level: 1 });
  const outer = zlib.gzipSync(inner);
  assert.deepEqual(await both(outer, 'gzip, gzip', { bodyBytes: 1_000_000_000 }), { kind: 'failed', reason: 'bomb' });
});

test('gzip: several members are one body; text after the last one does no harm', async () => {
  const two = Buffer.concat([zlib.gzipSync(page), zlib.gzipSync(page)]);
  assert.equal(bytesOf(await both(two, 'gzip')).length, 2 * page.length);
  const named = zlib.gzipSync(page);
  named[3] = 8; // a file name in the header
  const withName = Buffer.concat([named.subarray(0, 10), Buffer.from('page.html\0'), named.subarray(10)]);
  for (const coded of [zlib.gzipSync(page), withName]) {
    const decoded = await both(Buffer.concat([coded, Buffer.from('<!-- cached -->')]), 'gzip');
    assert.ok(bytesOf(decoded).equals(page));
  }
});

test('2,000 damaged bodies: an outcome for each, none beyond the limit', () => {
  let seed = 42;
  const next = (limit: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed % limit;
  };
  const seen = { ok: 0, failed: 0 };
  const small = page.subarray(0, 3_000);
  const coded = codings.map(([name, encode]) => [name, encode(small)] as const);
  for (let i = 0; i < 2_000; i++) {
    const [name, good] = coded[next(coded.length)]!;
    const broken = Buffer.from(good.subarray(0, next(4) === 0 ? next(good.length) : good.length));
    for (let edits = next(4); edits > 0 && broken.length > 0; edits--) broken[next(broken.length)] = next(256);
    const decoded = decodeBody(broken, name, { bodyBytes: 5_000 });
    seen[decoded.kind]++;
    if (decoded.kind === 'ok') assert.ok(decoded.bytes.length <= 5_000);
  }
  assert.ok(seen.ok > 100 && seen.failed > 100, JSON.stringify(seen));
});

test('coded bodies over a socket: kept as they came, decoded afterwards', async t => {
  const server = await serve(t, (socket, request) => {
    const index = Number(request.slice(5, 6));
    const [name, encode] = codings[index]!;
    const body = encode(page);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${name}\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
  const fetcher = fetcherFor(t);
  for (let i = 0; i < codings.length; i++) {
    const result = response(await fetcher.fetch(ask(`${server.origin}/${i}`)));
    assert.ok(result.body.length < page.length);
    assert.ok(bytesOf(decodeBody(result.body, result.headers.get('content-encoding'), limits)).equals(page));
  }
});
