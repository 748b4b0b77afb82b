import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { WARCParser } from 'warcio';
import { type Effort, growing, readMember } from '../../src/errand/warc/gzip.ts';
import { appendPage, type KeptPage } from '../../src/errand/warc/page-records.ts';
import type { KeptResponse } from '../../src/errand/warc/part-records.ts';
import { type ParsedRecord, parseRecord, payloadDigest } from '../../src/errand/warc/warc.ts';

const url = 'https://example.org/a?b=c';
const requestHead = Buffer.from('GET /a?b=c HTTP/1.1\r\nHost: example.org\r\n\r\n');
const head = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Odd: caf\xe9\r\n\r\n', 'latin1');
const body = Buffer.from('<p>grüße</p>');
const response: KeptResponse = { address: '192.0.2.7', protocol: 'http/1.1', requestHead, head, body };

function pageOf(changes: Partial<KeptResponse> = {}, address = url): KeptPage {
  const answer = { ...response, ...changes };
  const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  return { url: address, time, digest: payloadDigest(answer.body), response: answer };
}

function recordOf(member: Uint8Array): ParsedRecord {
  const read = readMember(member, 1 << 24);
  if (read.kind !== 'member') throw new Error(read.kind);
  const record = parseRecord(read.data);
  if (record.kind !== 'record') throw new Error(record.problem);
  return record;
}

function written(page: KeptPage, effort: Effort = 'stored') {
  const target = growing(64);
  const { offset, length, requestLength } = appendPage(target, page, effort);
  assert.equal(offset, 0);
  assert.equal(length, target.length);
  const request = recordOf(target.bytes.subarray(0, requestLength));
  return { request, answer: recordOf(target.bytes.subarray(requestLength, length)) };
}

test('request and response come back as they went in, page after page', () => {
  const ids = new Set<string | undefined>();
  for (let length = 0; length < 400; length++) {
    const plain = Buffer.alloc(length ** 2, 'page ');
    const { request, answer } = written(pageOf({ body: plain }), length % 2 === 0 ? 'stored' : 'fast');
    for (const { headers, version } of [request, answer]) {
      assert.equal(version, '1.1');
      assert.equal(headers.get('warc-date'), '2026-01-02T03:04:05.678Z');
      assert.equal(headers.get('warc-target-uri'), url);
      assert.equal(headers.get('warc-ip-address'), '192.0.2.7');
      const id = headers.get('warc-record-id');
      assert.match(id!, /^<urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}>$/);
      assert.match(id!, /^.{24}4.{4}[89ab]/, 'a UUID of version 4');
      ids.add(id);
    }
    assert.equal(request.headers.get('warc-type'), 'request');
    assert.equal(request.headers.get('content-type'), 'application/http; msgtype=request');
    assert.equal(request.headers.get('warc-concurrent-to'), answer.headers.get('warc-record-id'));
    assert.equal(request.headers.get('warc-protocol'), undefined);
    assert.ok(requestHead.equals(request.block));
    assert.equal(answer.headers.get('warc-type'), 'response');
    assert.equal(answer.headers.get('content-type'), 'application/http; msgtype=response');
    assert.equal(answer.headers.get('warc-protocol'), 'http/1.1');
    assert.equal(answer.headers.get('warc-truncated'), undefined);
    const sum = createHash('sha256').update(plain).digest('hex');
    assert.equal(answer.headers.get('warc-payload-digest'), `sha256:${sum}`);
    assert.ok(Buffer.concat([head, plain]).equals(answer.block), 'bytes are as received');
  }
  assert.equal(ids.size, 800, 'no id comes twice');
});

test('lines that not every page has', () => {
  const { answer } = written(pageOf({ protocol: 'h2', truncated: 'length' }));
  assert.equal(answer.headers.get('warc-protocol'), 'h2');
  assert.equal(answer.headers.get('warc-truncated'), 'length');
  const { request, answer: bare } = written(pageOf({ protocol: '', address: '' }));
  assert.equal(bare.headers.get('warc-protocol'), undefined);
  assert.equal(bare.headers.get('warc-truncated'), undefined);
  assert.equal(request.headers.get('warc-ip-address'), undefined);
});

test('values with line breaks cannot forge a header, and long or foreign ones are whole', () => {
  const forged = '\r\nWARC-Type: warcinfo';
  const { answer } = written(pageOf({ address: forged, protocol: `x${forged}` }, `http://a/${forged}`));
  assert.equal(answer.headers.get('warc-type'), 'response');
  assert.equal(answer.headers.get('warc-target-uri'), 'http://a/ WARC-Type: warcinfo');
  assert.equal(answer.headers.get('warc-protocol'), 'x WARC-Type: warcinfo');
  const long = `http://a/${'grüße/'.repeat(3000)}`;
  assert.equal(written(pageOf({}, long)).request.headers.get('warc-target-uri'), long);
  assert.equal(written(pageOf()).request.headers.get('warc-target-uri'), url, 'and leave nothing behind');
});

test('what the header says of the length is kept only where it holds', () => {
  const lines = (text: string) => {
    const named = [...text.matchAll(/^([\w-]+): (.*)\r$/gm)].map(
      match => [match[1]!.toLowerCase(), match[2]!] as const,
    );
    return { head: Buffer.from(`HTTP/1.1 200 OK\r\n${text}\r\n`), headers: new Map(named) };
  };
  const kept = (text: string) => Buffer.from(written(pageOf(lines(text))).answer.block).toString('latin1');
  const honest = `Content-Length: ${body.length}\r\n`;
  assert.ok(kept(honest).startsWith(`HTTP/1.1 200 OK\r\n${honest}\r\n<p>`));
  assert.match(kept('Content-Length: 7\r\n'), /\nX-Archive-Orig-Content-Length: 7\r\nContent-Length: 14\r\n\r\n<p>/);
  assert.match(kept('Transfer-Encoding: chunked\r\n'), /\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n<p>/);
  const unread = pageOf({ head: lines('Content-Length: 7\r\n').head });
  assert.match(Buffer.from(written(unread).answer.block).toString('latin1'), /X-Archive-Orig-Content-Length: 7\r/);
});

test('warcio reads the same records', async () => {
  const target = growing();
  for (const effort of ['stored', 'fast', 'small'] as const) appendPage(target, pageOf(), effort);
  const seen: string[] = [];
  for await (const record of new WARCParser([target.bytes.subarray(0, target.length)])) {
    seen.push(record.warcType!);
    assert.equal(record.warcTargetURI, url);
    if (record.warcType === 'response') assert.ok(body.equals(await record.readFully(false)));
  }
  assert.deepEqual(seen, ['request', 'response', 'request', 'response', 'request', 'response']);
});

test('exchanges that are parts of a page stand before its request, and name its response', async () => {
  const target = growing(64);
  const part = (path: string, more: Partial<KeptResponse> = {}) => ({
    url: `https://example.org${path}`,
    time: Date.UTC(2026, 0, 2),
    response: { ...response, ...more },
  });
  const place = appendPage(target, { ...pageOf(), parts: [part('/hop'), part('/a.js', { protocol: '' })] }, 'small');
  assert.deepEqual([place.offset, place.length], [0, target.length]);
  const bytes = target.bytes.subarray(0, target.length);
  const records: ParsedRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    records.push(recordOf(bytes.subarray(at)));
    const member = readMember(bytes.subarray(at), 1 << 24);
    at += member.kind === 'member' ? member.length : bytes.length;
  }
  assert.deepEqual(
    records.map(({ headers }) => `${headers.get('warc-type')} ${headers.get('warc-target-uri')}`),
    ['/hop', '/a.js', '/a?b=c'].flatMap(path =>
      ['request', 'response'].map(kind => `${kind} https://example.org${path}`),
    ),
  );
  const main = records[5]!.headers.get('warc-record-id');
  assert.deepEqual(
    records.map(({ headers }) => headers.get('skein-part-of')),
    [undefined, main, undefined, main, undefined, undefined],
  );
  assert.deepEqual(recordOf(bytes.subarray(place.requestLength)), records[5], 'the response is where the place says');
  for (const i of [0, 2, 4])
    assert.equal(records[i]!.headers.get('warc-concurrent-to'), records[i + 1]!.headers.get('warc-record-id'));
  assert.ok(records.every(({ headers }) => !/[\r\n]/.test([...headers.values()].join(''))));
});
