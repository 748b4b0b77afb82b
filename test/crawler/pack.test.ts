import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { cameCompressed, packer } from '../../src/crawler/pack/pack.ts';
import type { Response } from '../../src/crawler/stages.ts';
import type { RecordPlace } from '../../src/errand/visit.ts';
import { readMember } from '../../src/errand/warc/gzip.ts';
import { parseHttp, parseRecord, payloadDigest } from '../../src/errand/warc/warc.ts';

const page = Buffer.from('<p>one line of a page that compresses well</p>\n'.repeat(900));

function response(body: Uint8Array, headers: Record<string, string> = {}): Response {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    kind: 'response',
    status: 200,
    head: Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`),
    requestHead: Buffer.from('GET /page HTTP/1.1\r\nHost: example.org\r\n\r\n'),
    headers: new Map(Object.entries(headers)),
    body,
    protocol: 'http/1.1',
    address: '192.0.2.1',
    wire: { up: 0, down: 0, firstByte: 0, total: 0 },
  };
}

const kept = (answer: Response) => ({
  url: 'http://example.org/page',
  time: 1_700_000_000_000,
  digest: payloadDigest(answer.body),
  response: answer,
});

/** The record of a member, and the bytes that the member takes. */
function recordAt(members: Uint8Array, offset: number) {
  const member = readMember(members.subarray(offset), 1 << 24);
  assert.equal(member.kind, 'member');
  if (member.kind !== 'member') throw new Error('unreachable');
  const record = parseRecord(member.data);
  assert.equal(record.kind, 'record');
  if (record.kind !== 'record') throw new Error('unreachable');
  return { record, length: member.length };
}

function check(members: Uint8Array, place: RecordPlace, body: Uint8Array): void {
  const request = recordAt(members, place.offset);
  assert.equal(request.length, place.requestLength);
  assert.equal(request.record.headers.get('warc-type'), 'request');
  const answer = recordAt(members, place.offset + place.requestLength);
  assert.equal(request.length + answer.length, place.length);
  assert.equal(request.record.headers.get('warc-concurrent-to'), answer.record.headers.get('warc-record-id'));
  assert.ok(Buffer.from(body).equals(parseHttp(answer.record.block)!.body));
}

test('places point at request and response, parcel after parcel', () => {
  const pack = packer({ firstBytes: 64 });
  for (let round = 0; round < 3; round++) {
    const bodies = [page, Buffer.alloc(0), gzipSync(page), Buffer.alloc(200_000, round)];
    const places = bodies.map((body, i) => pack.add(kept(response(body)), i % 2 === 0));
    const length = pack.length;
    const members = pack.take();
    assert.equal(members.length, length);
    assert.equal(pack.length, 0);
    for (const [i, place] of places.entries()) check(members, place, bodies[i]!);
    if (round === 0) pack.reuse(members);
    else structuredClone(members, { transfer: [members.buffer] }); // must not disturb the next parcel
  }
});

test('effort follows the load, and what came compressed is left alone', () => {
  const lengthOf = (answer: Response, busy: boolean) => {
    const pack = packer();
    const place = pack.add(kept(answer), busy);
    return place.length - place.requestLength;
  };
  const plain = response(page, { 'content-type': 'text/html' });
  assert.ok(lengthOf(plain, false) < page.length / 5, 'idle packs small');
  assert.ok(lengthOf(plain, true) > page.length, 'busy does not pack at all');
  const fast = packer({ whenBusy: 'fast' }).add(kept(plain), true);
  assert.ok(fast.length - fast.requestLength < page.length / 5);
  const image = response(page, { 'content-type': 'image/png' });
  assert.ok(lengthOf(image, false) > page.length);
  for (const [headers, compressed] of [
    [{ 'content-encoding': 'br' }, true],
    [{ 'content-encoding': 'Identity' }, false],
    [{ 'content-type': 'image/svg+xml' }, false],
    [{ 'content-type': 'application/pdf' }, true],
    [{}, false],
  ] as const) {
    assert.equal(cameCompressed(response(page, headers)), compressed, JSON.stringify(headers));
  }
});
