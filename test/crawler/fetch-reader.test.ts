/** The HTTP/1.1 reader on bytes alone: every framing at every split, and 10,000 seeded malformed responses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Http1Reader, maxHeadBytes, type ReaderVerdict } from '../../src/crawler/fetch/http1-reader.ts';
import { HeadReader } from '../../src/crawler/fetch/response-head.ts';

interface Read {
  readonly reader: Http1Reader;
  readonly verdict: ReaderVerdict;
  /** Verdict after the connection ended. */
  readonly final: ReaderVerdict;
}

/** Feeds `wire` in pieces of `size` bytes through one buffer, as sockets do. */
function read(wire: string | Buffer, size: number, maxBytes = 1_000_000, bodyless = false): Read {
  const reader = new Http1Reader();
  reader.begin(maxBytes, bodyless);
  const bytes = typeof wire === 'string' ? Buffer.from(wire, 'latin1') : wire;
  const buffer = Buffer.alloc(Math.max(size, 1) + 8, '\n');
  let verdict: ReaderVerdict = 'more';
  for (let at = 0; at < bytes.length && verdict === 'more'; at += size) {
    const end = Math.min(bytes.length, at + size);
    bytes.copy(buffer, 0, at, end);
    verdict = reader.push(buffer, end - at);
    buffer.fill('\n', 0, size); // what was delivered is gone
  }
  return { reader, verdict, final: verdict === 'more' ? reader.end() : verdict };
}

const body = (reader: Http1Reader) => Buffer.from(reader.body()).toString('latin1');

const whole: readonly (readonly [string, string, string])[] = [
  ['length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  ['LF only', 'HTTP/1.1 200 OK\nContent-Length: 5\nX: y\n\nhello', 'hello'],
  ['mixed line ends', 'HTTP/1.1 200 OK\r\nContent-Length: 5\nX: y\r\n\nhello', 'hello'],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  ['equal lengths repeated', 'HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  ['empty', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ''],
  ['chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n', 'hello'],
  [
    'chunked with extensions and trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n03;a="b"\r\nhel\r\n2 \r\nlo\r\n00;x\r\nA: b\r\nC: d\r\n\r\n',
    'hello',
  ],
  ['chunked with LF only', 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nhel\n2\nlo\n0\n\n', 'hello'],
  [
    'large chunk in upper-case hex',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1F\r\n${'x'.repeat(31)}\r\n0\r\n\r\n`,
    'x'.repeat(31),
  ],
  [
    'informational first',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'hello',
  ],
  ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', ''],
  ['304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', ''],
  ['empty lines first', '\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  ['identity', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  ['lines that are no headers', 'HTTP/1.1 200 OK\r\nnonsense\r\n: x\r\nContent-Length : 5\r\n\r\nhello', 'hello'],
];

for (const [name, wire, expected] of whole) {
  test(`reads: ${name}, split at every size`, () => {
    for (let size = 1; size <= wire.length; size++) {
      const { reader, verdict } = read(wire, size);
      assert.equal(verdict, 'done', `${size}: ${reader.problem}`);
      assert.equal(body(reader), expected, String(size));
      assert.equal(reader.excess, false);
    }
  });
}

test('the head is kept byte for byte, folded values are joined', () => {
  const head = 'HTTP/1.1 200 OK\r\nX-Fold: a\r\n\t b \r\n  c\r\nSet-Cookie: 1\r\nset-cookie: 2\r\nX-Empty:\r\n\r\n';
  for (const size of [1, 7, 1000]) {
    const { reader, verdict, final } = read(`${head}rest`, size);
    assert.deepEqual([verdict, final], ['more', 'done']);
    assert.equal(Buffer.from(reader.head).toString(), head);
    assert.equal(reader.headers.get('x-fold'), 'a b c');
    assert.equal(reader.headers.get('set-cookie'), '1, 2');
    assert.equal(reader.headers.get('x-empty'), '');
    assert.equal(body(reader), 'rest');
  }
});

test('keep-alive: by version, by header, and never with bytes too many', () => {
  const kept = (wire: string) => read(wire, 1000).reader.keepAlive;
  assert.equal(kept('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), true);
  assert.equal(kept('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'), false);
  assert.equal(kept('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'), false);
  assert.equal(kept('HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n'), true);
  assert.equal(kept('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nx'), false);
  assert.equal(kept('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n0\r\n\r\n'), false);
});

test('a request without a body in its answer (HEAD)', () => {
  const { reader, verdict } = read('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', 1000, 100, true);
  assert.equal(verdict, 'done');
  assert.equal(reader.bodySize, 0);
});

const lengths = ['-1', '+5', '0x5', '5 5', '5, 6', '', 'five', '1e3', '5.0'];
const refused: readonly (readonly [string, string])[] = [
  ['not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['HTTP/0.9', '<html>\n\n'],
  ['HTTP/2 status line', 'HTTP/2 200 OK\r\n\r\n'],
  ['status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['a protocol switch', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['NUL in the head', 'HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n'],
  ['many empty lines', `${'\r\n'.repeat(20)}HTTP/1.1 200 OK\r\n\r\n`],
  ['a head beyond the limit', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(maxHeadBytes)}\r\n\r\n`],
  ['endless informational heads', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4000)],
  ['too many header lines', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(600)}\r\n`],
  ['unknown transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'],
  ['chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n'],
  ['chunk size that is no number', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
  ['negative chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n'],
  ['chunk size beyond reason', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'f'.repeat(16)}\r\n`],
  ['chunk longer than its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n'],
  ['endless chunk extension', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(9000)}`],
  ['endless trailers', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'A: b\r\n'.repeat(20_000)}`],
  ...lengths.map(
    value => [`Content-Length: ${value}`, `HTTP/1.1 200 OK\r\nContent-Length: ${value}\r\n\r\nhello`] as const,
  ),
  ['conflicting lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'],
];

for (const [name, wire] of refused) {
  test(`refuses: ${name}`, () => {
    for (const size of [1, 100, 65_536]) {
      const { reader, verdict } = read(wire, size);
      assert.equal(verdict, 'bad', `in pieces of ${size}`);
      assert.notEqual(reader.problem, '');
    }
  });
}

test('a length beyond any number is a body without end', () => {
  const { reader, verdict } = read(`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(40)}\r\n\r\nhello`, 10);
  assert.equal(verdict, 'more');
  assert.equal(body(reader), 'hello');
});

test('a break before the end is seen in every framing', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
  for (let cut = 1; cut < chunked.length; cut++)
    assert.equal(read(chunked.slice(0, cut), 100).final, 'more', String(cut));
  const length = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
  for (let cut = 1; cut < length.length; cut++)
    assert.equal(read(length.slice(0, cut), 100).final, 'more', String(cut));
});

test('a reader reads one response after another', () => {
  const reader = new Http1Reader();
  for (const [name, wire, expected] of [...whole, ...whole]) {
    reader.begin(1000);
    const bytes = Buffer.from(wire, 'latin1');
    assert.equal(reader.push(bytes, bytes.length), 'done', name);
    assert.equal(body(reader), expected, name);
  }
});

/** Small and seeded, so that a failure can be repeated (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const fragments = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ':',
  ' ',
  '\t',
  '0',
  '-1',
  'ffffffff',
  ';',
  ',',
  'chunked',
  '\r\n\r\n',
  '\xff',
].concat('HTTP/1.1 200 OK\r\n', 'Content-Length: 7\r\n', 'Transfer-Encoding: chunked\r\n', 'x'.repeat(300));

/** A good response with some of its bytes replaced, removed, repeated, or fragments put in between. */
function damage(next: () => number): Buffer {
  const below = (limit: number) => Math.floor(next() * limit);
  let wire = whole[below(whole.length)]![1];
  for (let edits = 1 + below(6); edits > 0; edits--) {
    const at = below(wire.length + 1);
    const length = below(8);
    const fragment = fragments[below(fragments.length)]!;
    const kind = below(4);
    if (kind === 0) wire = wire.slice(0, at) + fragment + wire.slice(at);
    else if (kind === 1) wire = wire.slice(0, at) + wire.slice(at + length);
    else if (kind === 2)
      wire = wire.slice(0, at) + wire.slice(at, at + length).repeat(below(50)) + wire.slice(at + length);
    else wire = wire.slice(0, at) + String.fromCharCode(below(256)) + wire.slice(at + 1);
  }
  return Buffer.from(wire, 'latin1');
}

test('10,000 malformed responses: no throw, no hang, nothing beyond maxBytes, the same in one piece and in many', () => {
  const next = random(20261115);
  const seen = { more: 0, done: 0, cut: 0, bad: 0 };
  for (let i = 0; i < 10_000; i++) {
    const wire = damage(next);
    const maxBytes = next() < 0.2 ? 3 : 10_000;
    const once = read(wire, wire.length + 1, maxBytes);
    const pieces = read(wire, 1 + Math.floor(next() * 20), maxBytes);
    seen[once.verdict]++;
    assert.ok(once.reader.bodySize <= maxBytes);
    assert.ok(once.reader.body().buffer.byteLength <= Math.max(8192, 2 * maxBytes), 'allocated beyond the limit');
    assert.equal(pieces.verdict, once.verdict, `${i}: ${JSON.stringify(wire.toString('latin1'))}`);
    assert.equal(pieces.final, once.final);
    if (once.verdict !== 'bad') assert.equal(body(pieces.reader), body(once.reader));
  }
  for (const [verdict, count] of Object.entries(seen)) assert.ok(count > 100, `${verdict}: only ${count}`);
});

test('a head is read the same whatever was read before it', () => {
  const lines = [
    'A: 1\r\n',
    'A: 2\r\n',
    'a:1\n',
    'A : 3\r\n',
    ' folded\r\n',
    'no header\r\n',
    ':\r\n',
    'AB: 1\r\n',
    'A:\r\n',
  ];
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % below;
  };
  const used = new HeadReader();
  for (let i = 0; i < 2000; i++) {
    const text = Array.from({ length: random(6) }, () => lines[random(lines.length)]).join('');
    const head = `HTTP/1.${random(2)} 200 OK\r\n${text}\r\n`;
    assert.deepEqual(used.read(head), new HeadReader().read(head), JSON.stringify(head));
  }
});
