/**
 * Errands, parcels, frames, WARC records and orders, made up field by field: what comes out of a decoder is in range, or it
 * is one error for people, and nothing else ever happens. SKEIN_FUZZ=100000 runs that many cases of each.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { normalise } from '../../src/base/url.ts';
import { checkErrand } from '../../src/errand/codec/errand-checks.ts';
import { decodeErrand, encodeErrand } from '../../src/errand/codec/errand-codec.ts';
import { decodeParcel, encodeParcel } from '../../src/errand/codec/parcel-codec.ts';
import type { Errand } from '../../src/errand/errand.ts';
import { bareFacts, packFacts } from '../../src/errand/facts.ts';
import { reasons } from '../../src/errand/reasons.ts';
import { readMember } from '../../src/errand/warc/gzip.ts';
import { parseHttp, parseRecord } from '../../src/errand/warc/warc.ts';
import { orderSchema } from '../../src/home/orders.ts';
import { restoreParcel } from '../../src/home/unpack/unpack-parcel.ts';
import { encodeFrame, type Frame, FrameReader } from '../../src/transfer/wire/frames.ts';
import { decodeSent, encodeSent } from '../../src/transfer/wire/wire-visit-codec.ts';
import { plainErrand, plainPage } from '../errand/plain-errand.ts';
import { type Draw, fuzz } from './fuzz-cases.ts';
import { sentOf } from './fuzz-parcels.ts';

const ORIGIN = 'http://geese.example';
const NOW = 1_760_000_000_000;
const facts = packFacts(bareFacts(Buffer.alloc(16, 1), Buffer.alloc(16, 2)));

function errandOf(draw: Draw): Errand {
  const { number, whole, text, bytes, maybe } = draw;
  const plain = plainErrand('k3-1', ORIGIN);
  const robots = { status: whole(200), body: text('User-agent: *'), unreachableSince: number(0), time: number(NOW) };
  const words = (usual: readonly string[]) => draw.list(usual, () => text('word'));
  const page = (n: number) => {
    const [etag, seen, mask] = [maybe(text('"x"')), maybe(bytes(facts)), maybe(bytes(Buffer.alloc(6)))];
    return {
      ...{ ...plainPage(text(`${ORIGIN}/${n}`)), depth: whole(1), hops: whole(0), tries: whole(0) },
      ...(etag !== undefined && { etag }),
      ...(seen && { facts: seen }),
      ...(mask && { mask }),
    };
  };
  const code = maybe(text('ab'.repeat(32)));
  const seen = bytes(new Uint8Array(16));
  return {
    ...{ id: text('k3-1'), kind: draw.random.pick(['explore', 'refresh'] as const), levels: whole(1) },
    server: {
      ...{ ...plain.server, origin: text(ORIGIN), pace: whole(1000), connections: whole(2), notBefore: number(0) },
      ...{ auditShare: number(0.02), allowPrivate: draw.flag(false), trustValidators: draw.flag(true) },
      ...(maybe(1) && { robots }),
      ...(maybe(1) && { missing: bytes(new Uint8Array(16)) }),
    },
    pages: draw.list([page(0), page(1)], () => page(2)),
    scope: {
      ...{ domains: words(['geese.example']), include: words(['/a/**']), exclude: words([]), focus: words([]) },
      keep: { ...plain.scope.keep, types: words(['text/*']), minBytes: whole(0), maxBytes: whole(0) },
    },
    limits: { pages: whole(64), follow: whole(0), depth: whole(100), bodyBytes: whole(1e6), time: whole(1e6) },
    detector: text('content'),
    deadline: number(NOW + 1e6),
    ...(seen.length > 0 && { seen }),
    ...(code !== undefined && code !== '' && { code }),
  };
}

test('errands', context => {
  return fuzz(context, draw => {
    const errand = checkErrand(decodeErrand(encodeErrand(errandOf(draw))));
    for (const { url } of errand.pages) assert.equal(normalise(url), url);
    for (const each of [errand.deadline, errand.server.notBefore, errand.server.auditShare, errand.server.pace]) {
      assert.ok(Number.isFinite(each) && each >= 0);
    }
    return true;
  });
});

const errand: Errand = {
  ...plainErrand('k3-1', ORIGIN, { deadline: NOW + 1e6 }),
  limits: { pages: 100, follow: 9, depth: 100, bodyBytes: 1 << 16, time: 1e6 },
  pages: [
    plainPage(`${ORIGIN}/0`),
    { ...plainPage(`${ORIGIN}/1`), facts, etag: '"a"' },
    { ...plainPage(`${ORIGIN}/2`), role: 'sitemap' },
    { ...plainPage(`${ORIGIN}/3`), role: 'image' },
  ],
};
const html = Buffer.from('<!doctype html><title>Geese</title><p>They fly. <a href="/next">next</a>');

test('parcels', context => {
  return fuzz(context, draw => {
    const sent = decodeSent(encodeSent(sentOf(draw, errand), errand), errand);
    const restored = restoreParcel(sent, errand, { sequence: 0, done: true }, 'skein');
    const { visits, members, server } = decodeParcel(encodeParcel(restored));
    for (const visit of visits) {
      assert.equal(normalise(visit.url), visit.url);
      assert.ok(Object.hasOwn(reasons, visit.reason));
      const { up, down, ms } = visit.cost;
      for (const each of [visit.time, visit.status, visit.depth, visit.retryAfter, up, down, ms]) {
        assert.ok(Number.isFinite(each) && each >= 0 && each < 1e14);
      }
      if (visit.links)
        assert.equal(
          visit.links.count === 0 ? 0 : Buffer.from(visit.links.urls).toString().split('\n').length,
          visit.links.count,
        );
      if (visit.location !== undefined) assert.equal(normalise(visit.location), visit.location);
      if (!visit.record) continue;
      const { offset, length, requestLength } = visit.record;
      const response = readMember(members.subarray(offset + requestLength, offset + length), 1 << 20);
      const record = response.kind === 'member' ? parseRecord(response.data) : undefined;
      assert.ok(record?.kind === 'record' && record.headers.get('warc-target-uri') === visit.url);
    }
    if (server) assert.ok(server.origin === ORIGIN && Number.isFinite(server.latency) && server.notBefore === 0);
    return true;
  });
});

function frameOf({ random, whole, text, bytes, flag }: Draw): Frame {
  const id = text('k3-1');
  const hello = {
    ...{ protocol: whole(3), software: text('1'), name: text('near'), time: whole(NOW), key: text('k'), challenge: '' },
    ...{ proof: text(''), token: text(''), cores: whole(1), room: whole(1), platform: text('linux') },
    ...{ servers: [text('geese.example')], holding: [text('k3-1')] },
  };
  const news = { state: text('working') as 'working', trouble: text(''), room: whole(1), rate: whole(1), outposts: [] };
  return random.pick<Frame>([
    { kind: 'hello', hello },
    {
      kind: 'welcome',
      welcome: {
        home: text('k'),
        contact: text('me'),
        servers: [text('a')],
        pagesADay: whole(1),
        bytesADay: whole(0),
        level: whole(1),
      },
    },
    { kind: 'errand', errand: id, warrant: bytes(new Uint8Array(80)), bytes: bytes(new Uint8Array(9)) },
    {
      kind: 'parcel',
      errand: id,
      sequence: whole(1),
      done: flag(true),
      visits: whole(1),
      by: text('a/b'),
      bytes: bytes(html),
    },
    { kind: 'acknowledge', errand: id, sequence: whole(1) },
    { kind: 'forget', errand: id },
    { kind: 'give-up', errand: id, why: text('no') },
    { kind: 'want-code', code: text('ab') },
    { kind: 'code', code: text('ab'), terms: bytes(html), bytes: bytes(html) },
    { kind: 'want-pass', by: text('a'), key: text('k') },
    { kind: 'pass', by: text('a'), pass: text('pass1.x') },
    { kind: 'claim', errand: id, digest: text('ab'), warrant: bytes(html) },
    { kind: 'status', news },
    { kind: 'bye', code: random.pick(['done', 'later', 'refused'] as const), why: text('so') },
  ]);
}

test('frames', context => {
  return fuzz(context, draw => {
    const frames = Array.from({ length: 1 + draw.random.below(3) }, () => encodeFrame(frameOf(draw)));
    const whole = Buffer.concat(frames);
    // One length or kind within, and now and then a cut.
    if (draw.random.below(4) === 0) whole[draw.random.below(Math.min(12, whole.length))] = draw.random.below(256);
    const reader = new FrameReader(1 << 20);
    for (let at = 0; at < whole.length; ) {
      const end = at + 1 + draw.random.below(whole.length);
      for (const frame of reader.push(whole.subarray(at, end))) {
        if ('why' in frame) assert.doesNotMatch(frame.why, /[\0-\x1f\x7f\u202e]/);
        if (frame.kind === 'parcel') assert.doesNotMatch(frame.by, /[\0-\x1f\x7f]/);
      }
      at = end;
    }
    return true;
  });
});

test('WARC records', context => {
  return fuzz(context, draw => {
    const block = `${draw.text('HTTP/1.1')} ${draw.whole(200)} OK\r\n${draw.text('A: b')}\r\n\r\n${draw.text('body')}`;
    const lines = [`WARC/${draw.text('1.1')}`, `WARC-Type: ${draw.text('response')}`, draw.text('X: y')];
    const head = `${lines.join('\r\n')}\r\nContent-Length: ${draw.number(Buffer.byteLength(block))}\r\n\r\n`;
    const member = gzipSync(`${head}${block}${draw.text('\r\n\r\n')}`, { level: 1 });
    if (draw.random.below(6) === 0) member[draw.random.below(member.length)] = draw.random.below(256);
    const read = readMember(
      draw.random.below(8) === 0 ? member.subarray(0, draw.random.below(member.length)) : member,
      1 << 16,
    );
    if (read.kind !== 'member') return false;
    const record = parseRecord(read.data);
    if (record.kind !== 'record') return false;
    assert.ok(record.block.length <= read.data.length);
    const message = parseHttp(record.block);
    if (message) assert.equal(message.head.length + message.body.length, record.block.length);
    return true;
  });
});

test('orders', context => {
  return fuzz(context, draw => {
    const { text, number, list, random } = draw;
    const order = random.pick<Record<string, unknown>>([
      { kind: 'add', urls: list([ORIGIN], () => text(ORIGIN)) },
      { kind: text('pause') },
      { kind: 'pace', seconds: number(1) },
      { kind: 'limit', pages: draw.maybe(number(10)) ?? null },
      { kind: 'budget', amount: text('100MB') },
      { kind: 'filters', scope: text('*'), keep: text('') },
      { kind: 'server', origin: text(ORIGIN), action: text('pause'), seconds: draw.maybe(number(1)) },
      { kind: 'retry', url: text(ORIGIN) },
      JSON.parse(`{"kind":"ping","url":${JSON.stringify(text(ORIGIN))},"__proto__":{"polluted":true}}`),
    ]);
    const read = orderSchema.safeParse(JSON.parse(JSON.stringify(order)));
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    if (!read.success) return false;
    const { data } = read;
    if (data.kind === 'pace') assert.ok(data.seconds >= 0 && data.seconds <= 86_400);
    if (data.kind === 'limit') assert.ok(data.pages === null || (Number.isSafeInteger(data.pages) && data.pages > 0));
    return true;
  });
});
