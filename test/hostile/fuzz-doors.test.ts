/**
 * What sites, peers, the engine and strangers at public ports say, made up field by field: what comes out of a decoder is in
 * range, or it is refused, and nothing else ever happens. SKEIN_FUZZ=100000 runs that many cases of each.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { fingerprint, normalise } from '../../src/base/url.ts';
import { budgetForm, settle } from '../../src/cluster/budget/shared-budget.ts';
import { decodeEntry, encodeEntry } from '../../src/cluster/changelog/entry.ts';
import { decodeClaim } from '../../src/cluster/claims.ts';
import { decodeLinks, encodeLinks } from '../../src/cluster/exchange/link-message.ts';
import { AddressLeases } from '../../src/cluster/leases/address-leases.ts';
import { decodeHeartbeat, idle } from '../../src/cluster/members/heartbeat.ts';
import { decodeSegmentsList, decodeSegmentsQuestion } from '../../src/cluster/peer/moving-segments.ts';
import { decodeFrame, decodeQuestion, encodeFrame } from '../../src/cluster/rpc/frames.ts';
import { SharedRecord } from '../../src/cluster/shared-record.ts';
import { decodeNote } from '../../src/cluster/snapshots/nats-snapshots.ts';
import type { WatchedBucket } from '../../src/cluster/watched-bucket.ts';
import { runForm } from '../../src/engine/cluster/runs.ts';
import { steeringForm } from '../../src/engine/cluster/steering.ts';
import { submittedInJson, submittedInQuery } from '../../src/home/notices/reading/indexnow.ts';
import { type Crossing, decodeCrossings, encodeCrossings } from '../../src/ledger/outbox/crossing.ts';
import { parseFeed } from '../../src/notices/feed.ts';
import { believable, type Notice } from '../../src/notices/notice.ts';
import { parseSync } from '../../src/notices/resourcesync.ts';
import { decodeChanges, encodeChanges } from '../../src/notices/site/changes.ts';
import { decodeDiscovery, decodeFailure } from '../../src/notices/site/discovery.ts';
import { decodeEntries, decodeSummary, encodeEntries, encodeSummary } from '../../src/notices/site/manifest.ts';
import { bodyHash, decodePages, decodeWanted, encodePages, encodeWanted } from '../../src/notices/site/pages.ts';
import { byPathHash } from '../../src/notices/site/paths.ts';
import { decodeTerms } from '../../src/notices/site/terms.ts';
import { parseSitemap } from '../../src/notices/sitemap.ts';
import { ruleOf } from '../../src/notify/rule.ts';
import { type Draw, damaged, fuzz, misshapen } from './fuzz-cases.ts';

const ORIGIN = 'http://geese.example';
const SITE = `${ORIGIN}/`;
const NOW = 1_760_000_000_000;
const LAST = 8.64e15;
const cursor = `7-${'ab'.repeat(8)}`;
const hash = new Uint8Array(8).fill(7);

function inRange(urls: readonly string[], times: readonly number[]): void {
  for (const url of urls) assert.equal(normalise(url), url);
  for (const time of times) assert.ok(time >= 0 && time <= LAST, String(time));
}

const discovery = {
  ...{ protocol: 1, software: 'skein 1', site: SITE, detector: 'content-1', journal: { first: 0, cursor }, pages: 3 },
  ...{ access: 'open', changes: '/c', manifest: '/m', pagesAt: '/p', sitemap: '/s', hub: 'http://hub.example/' },
  ...{ topics: ['/t'], limits: { requestsAMinute: 9, wanted: 9, wait: 9 } },
};

test('where a cooperating site has its faces, and what it says when it fails', context =>
  fuzz(context, draw => {
    const { code, message } = decodeFailure(
      draw.whole(409),
      draw.text(JSON.stringify(misshapen({ error: 'x' }, draw))),
    );
    assert.ok(typeof code === 'string' && !/[\0-\x1f]/.test(message));
    const found = decodeDiscovery(JSON.stringify(misshapen(discovery, draw)), SITE);
    inRange([found.site, found.changes, found.manifest, found.pagesAt, ...(found.topics ?? [])], []);
    for (const { term, count, url } of decodeTerms(
      JSON.stringify(misshapen({ terms: [{ term: 'tide', count: 3, url: '/a' }] }, draw)),
      SITE,
    ))
      assert.ok(!/[\0-\x1f]/.test(term) && count > 0 && (url === undefined || url.startsWith(SITE)));
    return true;
  }));

const pageOf = (draw: Draw) => ({
  ...{ url: ORIGIN + draw.text('/a'), time: draw.number(NOW), content: hash },
  kind: draw.random.pick(['page', 'record', 'unlisted'] as const),
  operation: draw.random.pick(['create', 'update', 'delete'] as const),
});

/** What the reader of an answer holds. */
const held = byPathHash(() => [`${ORIGIN}/a`, 'https://evil.example/a']);

/** One answer of a site, written and read. */
const answers: readonly ((draw: Draw) => void | Promise<void>)[] = [
  draw => {
    const changes = draw.list([pageOf(draw), pageOf(draw)], () => pageOf(draw));
    const bytes = damaged(encodeChanges({ cursor: draw.text(cursor), more: true, changes }), draw);
    const told = decodeChanges(bytes, SITE, held);
    for (const { url, time } of told.changes) inRange([url], [time]);
  },
  draw => {
    const bytes = encodeEntries(draw.list([pageOf(draw), pageOf(draw)], () => pageOf(draw)));
    for (const { url, time } of decodeEntries(damaged(bytes, draw), SITE, held)) inRange([url], [time]);
  },
  draw => {
    const digests = draw.list([hash, hash], () => hash);
    const { pages } = decodeSummary(damaged(encodeSummary({ cursor, pages: draw.whole(2), digests }), draw));
    assert.ok(pages <= 1_000_000);
  },
  async draw => {
    const wanted = decodeWanted(damaged(encodeWanted([{ url: `${ORIGIN}/a`, have: bodyHash(hash) }]), draw), SITE);
    const [type, title, body] = [draw.text('text/html'), draw.text('A'), draw.bytes(new Uint8Array(300).fill(65))];
    const page = { state: 'page' as const, kind: 'page' as const, type, title, time: draw.number(NOW), body };
    const sent = await encodePages([{ page, base: draw.maybe(hash) }]);
    for (const given of decodePages(damaged(sent, draw), wanted, () => hash)) {
      if (given.state !== 'page') continue;
      assert.ok(!/[\0-\x1f]/.test(given.type + given.title));
      inRange([], [given.time]);
    }
  },
];

test('changes, manifest and pages of a cooperating site', context =>
  fuzz(context, async draw => {
    await draw.random.pick(answers)(draw);
    return true;
  }));

const xml = (draw: Draw, tag: string, inside: string) =>
  draw.random.below(9) === 0 ? `<${tag}>${inside}` : `<${tag}>${inside}</${tag}>`;

test('feeds, sitemaps and ResourceSync', context =>
  fuzz(context, draw => {
    const { text, random } = draw;
    const date = text(
      random.pick(['2025-01-02T03:04:05Z', '2025-13-41', '-271821-04-20', '+275760-09-13', 'Mon, 01 Jan 0001']),
    );
    const link = text(`${ORIGIN}/a`);
    const entry = xml(draw, 'entry', `<link href="${link}"/>${xml(draw, 'updated', date)}`);
    const item = xml(
      draw,
      'item',
      `${xml(draw, 'link', link)}${xml(draw, 'pubDate', date)}${xml(draw, 'ttl', text('60'))}`,
    );
    const md = `<rs:md capability="${text('changelist')}" change="${text('updated')}" datetime="${date}" hash="${text('sha-256:00')}"/>`;
    const url = xml(
      draw,
      'url',
      `${xml(draw, 'loc', link)}${xml(draw, 'lastmod', date)}${xml(draw, 'priority', text('0.5'))}${md}`,
    );
    const document = random.pick([
      xml(draw, 'feed', entry),
      xml(draw, 'rss', xml(draw, 'channel', item)),
      xml(draw, 'urlset', md + url),
    ]);
    const bytes = damaged(Buffer.from(`<?xml version="1.0"?>${document}`), draw);
    const feed = parseFeed(bytes, SITE);
    const sync = parseSync(bytes, SITE);
    const sitemap = parseSitemap(bytes, SITE);
    const told = [...feed.entries, ...sync.entries].map(({ url, time = 0 }) => ({ url, time }));
    const notices = believable(
      told.map((each): Notice => ({ kind: 'feed', change: 'updated', ...each })),
      ORIGIN,
      NOW,
    );
    inRange(
      notices.map(({ url }) => url),
      notices.map(({ time }) => time),
    );
    inRange([...sitemap.entries.map(({ url }) => url), ...feed.hubs], []);
    for (const { time } of notices) assert.ok(time <= NOW, 'nobody knows what will be');
    return notices.length > 0 || sitemap.entries.length > 0;
  }));

function crossingOf(draw: Draw): Crossing {
  const print = { high: 0, low: 0 };
  const url = draw.text(`${ORIGIN}/a`);
  fingerprint(normalise(url) ?? SITE, print);
  return {
    kind: draw.random.pick(['link', 'unlink', 'reach', 'listed', 'unlisted', 'target'] as const),
    ...{ high: draw.whole(print.high), low: draw.whole(print.low), url, source: draw.text(SITE), seed: draw.text('') },
    ...{ flags: draw.random.below(256), relevance: 9, depth: draw.whole(1), hops: draw.whole(0) },
    ...{ lastmod: draw.number(0), time: draw.number(NOW) },
  };
}

test('links between partitions', context =>
  fuzz(context, async draw => {
    const batch = () => encodeCrossings(draw.list([crossingOf(draw), crossingOf(draw)], () => crossingOf(draw)));
    const message = { from: draw.whole(3), first: draw.number(7), batches: [batch(), draw.bytes(batch())] };
    const { from, first, batches } = await decodeLinks(
      damaged(await encodeLinks({ ...message, from: message.from >>> 0 }), draw),
      64,
    );
    assert.ok(from < 64 && Number.isSafeInteger(first) && first > 0);
    for (const crossing of batches.flatMap(each => decodeCrossings(each))) {
      inRange([crossing.url, crossing.source].filter(Boolean), [crossing.time, crossing.lastmod]);
      assert.ok(crossing.depth <= 1_000_000 && crossing.hops <= 1_000_000);
    }
    return true;
  }));

test('entries of a changelog', context =>
  fuzz(context, draw => {
    const writer = { peer: draw.text('near').slice(0, 200), epoch: draw.number(3) };
    const [part, parts] = [draw.whole(0) & 0xffff, draw.whole(1) & 0xffff];
    const entry = { writer, number: draw.number(9), part, parts, time: draw.number(NOW), bytes: draw.bytes(hash) };
    const read = decodeEntry(damaged(encodeEntry(entry), draw));
    assert.match(read.writer.peer, /^[\w-]{1,63}$/);
    for (const each of [read.writer.epoch, read.number, read.time]) assert.ok(Number.isSafeInteger(each) && each >= 0);
    assert.ok(read.part < read.parts || read.parts === 0);
    return true;
  }));

const beat = {
  ...{ ...idle, name: 'near', session: 'ab'.repeat(8), beat: 3, protocol: 1, skein: '1', phase: 'working' },
  exchanged: [['far', 1, 2]],
};

/** One message of a peer; false = it is refused. */
const messages: readonly ((draw: Draw) => boolean)[] = [
  draw => {
    const heard = decodeHeartbeat(damaged(Buffer.from(JSON.stringify(misshapen(beat, draw))), draw));
    if (!heard) return false;
    assert.match(heard.name, /^[\w-]{1,63}$/);
    return heard.capacity >= 0 && heard.capacity <= 1000 && heard.pages >= 0;
  },
  draw => {
    const text = JSON.stringify(misshapen({ name: 'status', args: {} }, draw));
    const question = decodeQuestion(damaged(Buffer.from(text), draw));
    if (question) assert.match(question.name, /^[a-z][a-z0-9-]{0,63}$/);
    return question !== undefined;
  },
  draw => {
    const frame = { kind: draw.whole(1) & 255, number: draw.whole(0) >>> 0, bytes: hash };
    return decodeFrame(damaged(encodeFrame(frame), draw)) !== undefined;
  },
];

test('heartbeats, questions and parts of answers', context =>
  fuzz(context, draw => {
    const taken = draw.random.pick(messages)(draw);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    return taken;
  }));

const whole = (...values: readonly number[]) => {
  for (const each of values) assert.ok(Number.isSafeInteger(each + 2) && each >= 0, String(each));
};

const wrong = (value: unknown, draw: Draw) => damaged(Buffer.from(JSON.stringify(misshapen(value, draw))), draw);

function recordOf<T>(form: z.ZodType<T>, value: unknown, draw: Draw): T {
  const text = wrong(value, draw).toString();
  return new SharedRecord({ get: () => ({ text, revision: 1 }) } as unknown as WatchedBucket, 'run', form).value!;
}

const segment = { file: 'segment-000001.warc.gz', bytes: 9 };
const note = { object: 'p3/1-2', before: 'p3/1-1', number: 2, sequence: 9, epoch: 1, schema: 4, bytes: 100, time: NOW };
const slices = { near: { left: 3, settled: 'a-1' }, far: { left: 4, settled: 'b-1' } };
const orders = { pace: { number: 3, run: null, order: { kind: 'pace', seconds: 2 } } };
const lease = { address: '192.0.2.1', pace: 1000, held: 20, busy: true };

/** One record of the engine, or a word of another peer about what it has; false = it is refused. */
const records: readonly ((draw: Draw) => boolean)[] = [
  draw => {
    const claim = decodeClaim(wrong({ peer: 'near', session: 'ab', epoch: 3 }, draw).toString());
    if (claim) whole(claim.epoch);
    return claim !== undefined;
  },
  draw => {
    const { begun, before, live } = recordOf(runForm, run, draw).terms ?? { begun: 0, before: 0, live: 0 };
    inRange([], [begun, before]);
    assert.ok(live <= Number.MAX_SAFE_INTEGER);
    return true;
  },
  draw => {
    const { last, orders: given } = recordOf(steeringForm, { last: 3, orders }, draw);
    whole(last, ...Object.values(given).map(({ number }) => number));
    return true;
  },
  draw => {
    const budget = recordOf(budgetForm, { limit: 100, spent: 10, slices, time: NOW }, draw);
    const growth = { perDay: 500, now: NOW };
    const asked = { peer: 'near', id: 'a-2', limit: 100, used: 1, keep: 1, want: 5, living: ['near', 'far'], growth };
    const { limit, spent, slices: after } = budgetForm.parse(settle(budget, asked));
    assert.ok(after['near']!.left <= Math.max(limit - spent, 0), 'no more than there is');
    return true;
  },
  draw => {
    const read = decodeNote(wrong(note, draw).toString(), 3);
    whole(read.number, read.sequence, read.epoch, read.bytes);
    inRange([], [read.time]);
    for (const object of [read.object, read.before ?? 'p0/0-0']) assert.match(object, /^p\d+\/\d+-\d+$/);
    return true;
  },
  draw => {
    const list = decodeSegmentsList(wrong([segment, segment], draw));
    for (const { file, bytes } of list) assert.ok(/^segment-\d+\.warc\.gz$/.test(file) && bytes >= 0);
    const question = decodeSegmentsQuestion(wrong({ ask: 'piece', partition: 3, file: segment.file, offset: 9 }, draw));
    if (question?.ask === 'piece') assert.match(question.file, /^segment-\d+\.warc\.gz$/);
    if (question) assert.ok(question.partition <= 4096);
    return question !== undefined;
  },
  draw => {
    const leases = new AddressLeases({ ...desk, clock: { ...systemClock, ticks: () => 20_000 } });
    leases.openDesk(0, 'new');
    for (let i = 0; i < 2; i++) {
      const given = misshapen({ peer: 'near', asks: [lease, lease], back: [['192.0.2.1', 5]] }, draw);
      try {
        for (const answer of leases.answer(given)) {
          const time = 'granted' in answer ? answer.granted : answer.wait;
          assert.ok(time >= 0 && time <= 4_000_000, String(time));
        }
      } catch (error) {
        if (!(error instanceof z.ZodError)) throw error;
        return false;
      }
    }
    return true;
  },
];
const run = { number: 3, over: false, kind: 'refresh', terms: { begun: NOW, before: NOW, live: 30 } };
const desk = { me: 'far', partitionOf: () => 0, holderOf: () => 'far', ask: () => Promise.resolve(undefined) };

test('claims, runs, orders, budgets, snapshots, segments and leases of a cluster', context =>
  fuzz(context, draw => {
    const taken = draw.random.pick(records)(draw);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    return taken;
  }));

test('submissions of strangers, and rules that somebody wrote into a file', context =>
  fuzz(context, draw => {
    const key = draw.text('0123456789abcdef');
    const told = submittedInJson(JSON.stringify(misshapen({ key, urlList: [`${ORIGIN}/a`, `${ORIGIN}/b`] }, draw)));
    const query = new URLSearchParams({ url: draw.text(`${ORIGIN}/a`), key, keyLocation: draw.text('') });
    for (const each of [told, submittedInQuery(query)]) {
      if (!each) continue;
      inRange([each.location, ...each.urls], []);
      assert.ok([each.location, ...each.urls].every(url => url.startsWith(`${each.origin}/`)));
      assert.match(each.key, /^[a-zA-Z0-9-]{8,128}$/);
    }
    const rule = { name: 'prices', include: ['.price'], ignoreText: ['\\d+'], channel: { kind: 'webhook', url: SITE } };
    const { name, channel } = ruleOf(misshapen(rule, draw));
    assert.match(name, /^[a-z0-9-]+$/);
    if (channel.kind === 'webhook') assert.match(new URL(channel.url).protocol, /^https?:$/);
    return told !== undefined;
  }));
