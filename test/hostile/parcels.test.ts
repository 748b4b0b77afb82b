/**
 * Parcels that no honest outpost makes, sent by a hostile one over the real protocol to a real home. Each ends its
 * errand and nothing else; afterwards an honest outpost brings what the servers show, and the collection is whole.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { encodeParcel } from '../../src/errand/codec/parcel-codec.ts';
import type { Errand } from '../../src/errand/errand.ts';
import { bareFacts, packFacts } from '../../src/errand/facts.ts';
import type { Parcel, ServerNews } from '../../src/errand/parcel.ts';
import type { Links, Visit } from '../../src/errand/visit.ts';
import type { SentPage, SentVisit } from '../../src/transfer/wire/wire-visit.ts';
import { collected, lookInto, pagesOf } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';
import { drawing, SEED } from './fuzz-cases.ts';
import { sentOf } from './fuzz-parcels.ts';
import { openTarget } from './home.ts';
import { FORGED, type Lie, pageOf, startLiar, visitOf } from './liar.ts';

const html = `<!doctype html><title>${FORGED}</title><p>${FORGED} <a href="/elsewhere">there</a>`;
const facts = packFacts(bareFacts(Buffer.alloc(16, 1), Buffer.alloc(16, 2)));
const notes = {
  ...{ title: FORGED, mediaType: 'text/html', charset: 'utf-8', language: 'en', bytes: 100 },
  ...{ noindex: false, nofollow: false, noarchive: true, truncated: false, filtered: false },
};

function linksTo(urls: string, count: number, more: Partial<Links> = {}): Links {
  const bytes = Buffer.from(urls);
  return {
    ...{
      count,
      fingerprints: new Uint32Array(count * 2),
      flags: new Uint8Array(count),
      relevance: new Uint8Array(count),
    },
    ...{ urls: bytes, anchors: Buffer.from('\n'.repeat(Math.max(0, count - 1))), lastmod: new Float64Array(0) },
    ...more,
  };
}

/** One visit of the first page that was asked for. */
const visit =
  (more: Partial<Visit>, page?: Partial<SentPage>): Lie =>
  ({ pages }, { parcel }) => {
    const sent: SentVisit = { visit: visitOf(pages[0]!, more), ...(page && { page: pageOf(html, page) }) };
    parcel({ visits: [sent] });
  };

const cost = (more: Partial<Visit['cost']>) => visit({ cost: { up: 1, down: 1, cause: 'page', ms: 1, ...more } }, {});

const news =
  (more: (errand: Errand) => Partial<ServerNews>): Lie =>
  (errand, { parcel }) => {
    const plain = {
      origin: errand.server.origin,
      address: '',
      sitemaps: [],
      crawlDelay: 0,
      notBefore: 0,
      latency: 0,
      robotsBytes: 0,
    };
    parcel({ visits: [], server: { ...plain, ...more(errand) } });
  };

/** The form that errands may have and parcels had once: records as they are to be stored. */
const plain =
  (make: (errand: Errand) => Partial<Parcel>): Lie =>
  (errand, { parcel }) => {
    const whole: Parcel = {
      errand: errand.id,
      sequence: 0,
      done: true,
      visits: [],
      members: new Uint8Array(),
      ...make(errand),
    };
    parcel(Buffer.concat([Uint8Array.of(0), zstdCompressSync(encodeParcel(whole))]));
  };

function member(url: string): Uint8Array {
  const block = `HTTP/1.1 200 OK\r\nContent-Length: ${FORGED.length}\r\n\r\n${FORGED}`;
  const head = `WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: ${url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: ${block.length}\r\n\r\n`;
  return gzipSync(`${head}${block}\r\n\r\n`);
}

const whole = ({ pages }: Errand, members: Uint8Array, requestLength: number): Partial<Parcel> => ({
  members,
  visits: [{ ...visitOf(pages[0]!, { facts }), record: { offset: 0, length: members.length, requestLength } }],
});

const garbage = Buffer.alloc(500, 7);
const broken: Record<string, Lie> = {
  'the plain form with true facts and a false body': plain(errand => whole(errand, member(errand.pages[0]!.url), 1)),
  'a member of another site': plain(errand => whole(errand, member('http://victim.example/'), 1)),
  'a member that is garbage': plain(errand => whole(errand, garbage, 100)),
  'a record of length zero': plain(errand => whole(errand, new Uint8Array(), 0)),
  'no form at all': (_, { parcel }) => parcel(garbage),
  'a time that is no number': visit({ time: Number.NaN }, {}),
  'a time before all': visit({ time: -1 }, {}),
  'a time without end': visit({ time: Number.POSITIVE_INFINITY }, {}),
  'a time in the year 3000': visit({ time: Date.UTC(3000, 0) }, {}),
  'a page without a body': visit({ facts }),
  'a page that is filtered though nothing filters': visit({
    facts,
    page: { ...notes, noarchive: false, filtered: true },
    links: linksTo('', 0),
  }),
  'a reason with an escape': visit({ reason: '\u001b]0;owned\u0007' }, {}),
  'a status of nobody': visit({ status: 70_000 }, {}),
  'a status other than the header says': visit({ status: 203 }, {}),
  'a header that is none': visit({}, { head: garbage }),
  'a header with a body behind it': visit({}, { head: Buffer.from('HTTP/1.1 200 OK\r\n\r\nmore') }),
  'a request that is none': visit({}, { requestHead: garbage }),
  'an address that forges a line': visit({}, { address: '127.0.0.1\r\nWARC-Target-URI: http://victim.example/' }),
  'a coding that nobody can read': visit(
    {},
    { head: Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n') },
  ),
  'a protocol that forges a line': visit({}, { protocol: 'x\r\nWARC-Type: metadata' }),
  'a page longer than it may be': visit({}, { body: Buffer.alloc(17_000_000, 32) }),
  'a redirect to nowhere': visit({ outcome: 'moved', reason: 'redirect', status: 301 }),
  'a redirect to what is no URL': visit({
    outcome: 'moved',
    reason: 'redirect',
    status: 301,
    location: 'http://exa mple',
  }),
  'a redirect to a file': visit({ outcome: 'moved', reason: 'redirect', status: 301, location: 'file:///etc/passwd' }),
  'a failure with facts': visit({ outcome: 'failed', reason: 'reset', status: 0, facts }),
  'a page that is the same as nothing': visit({ outcome: 'same', reason: 'unchanged', facts }),
  'too few links': visit({ facts, page: notes, links: linksTo('http://a.example/', 2) }),
  'links that are no URLs': visit({ facts, page: notes, links: linksTo('http://a.example/\nhttp://[', 2) }),
  'links of no kind': visit({
    facts,
    page: notes,
    links: linksTo('http://a.example/', 1, { flags: Uint8Array.of(255) }),
  }),
  'dates that are none': visit({
    facts,
    page: notes,
    links: linksTo('http://a.example/', 1, { lastmod: Float64Array.of(Number.NaN) }),
  }),
  'facts that are none': visit({ facts: garbage, page: notes, links: linksTo('', 0) }),
  '9007 TB on the wire': cost({ down: 9_007e12 }),
  'requests of a terabyte': cost({ up: 1e12 }),
  'a year for an answer': cost({ ms: 3.2e10 }),
  'a verdict that nobody asked for': visit({ verdict: { follow: false, relevance: 9 } }, {}),
  'news of another server': news(() => ({ origin: 'http://victim.example' })),
  'news that is no number': news(() => ({ latency: Number.NaN })),
  'a latency without end': news(() => ({ latency: Number.POSITIVE_INFINITY })),
  'a crawl delay of years': news(() => ({ crawlDelay: 1e12 })),
  'a sitemap that is no URL': news(() => ({ sitemaps: ['javascript:alert(1)'] })),
  'a robots.txt from the future': news(() => ({ robots: { status: 200, body: '', unreachableSince: 0, time: 1e18 } })),
  'a robots.txt of no time': news(() => ({ robots: { status: 200, body: '', unreachableSince: Number.NaN, time: 0 } })),
  'a robots.txt without end': news(() => ({
    robots: { status: 200, body: '#'.repeat(600_000), unreachableSince: 0, time: 0 },
  })),
  'a print that is none': news(() => ({ missing: Buffer.alloc(3) })),
  'an address that is none': news(() => ({ address: '\u001b[2J' })),
  'a page of another server': ({ pages }, { parcel }) =>
    parcel({
      visits: [{ visit: visitOf({ url: 'http://victim.example/', depth: pages[0]!.depth }), page: pageOf(html) }],
    }),
  'a page that is not spelled well': ({ server, pages }, { parcel }) =>
    parcel({
      visits: [{ visit: visitOf({ url: `${server.origin}/a b`, depth: pages[0]!.depth }), page: pageOf(html) }],
    }),
};

test('a bad parcel ends its errand and nothing else', { timeout: 200_000 }, async () => {
  await using web = await openWeb({ seed: 5, servers: 1, pagesPerServer: 12 });
  await using home = await openTarget(web.seeds);
  for (const [name, lie] of Object.entries(broken)) {
    await using liar = await startLiar('liar', home.token(), lie);
    const errand = await Promise.race([liar.forgotten(), home.ended.then(() => 'home has ended')]);
    assert.match(errand, /^\w+-\w+$/, `${name}: ${liar.ended ?? errand}`);
  }
  await using _ = await home.honest('honest');
  await home.ended;
  assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
  assert.deepEqual(await home.problems(), []);
  using look = lookInto(home.directory);
  for (const url of web.mustFind()) assert.ok(!Buffer.from(look.body(url)).toString().includes(FORGED), url);
});

test('three of them, and the outpost is quarantined', async () => {
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 4 });
  await using home = await openTarget(web.seeds);
  await using liar = await startLiar('liar', home.token(), broken['a time that is no number']!);
  for (let i = 0; i < 3; i++) assert.notEqual(await liar.forgotten(), '');
  const state = () => home.opened.home.dispatch.posts.carriers[0]?.status;
  for (let i = 0; i < 100 && state()?.state !== 'quarantined'; i++)
    await new Promise(resolve => setTimeout(resolve, 50));
  assert.equal(state()?.state, 'quarantined');
  assert.match(state()!.trouble, /it sent a malformed parcel \(A parcel is refused: its time is outside its errand\)/);
});

test('made-up parcels through a running home end their errands and nothing else', {
  timeout: 200_000,
}, async t => {
  await using web = await openWeb({ seed: 5, servers: 2, pagesPerServer: 12 });
  await using home = await openTarget(web.seeds);
  home.opened.home.pause();
  let sent = 0;
  for (let round = 0; round < 25; round++) {
    const lie: Lie = (errand, { parcel }) => {
      for (let i = 0; i < 40; i++, sent++) {
        try {
          parcel(sentOf(drawing(SEED * 1_000_003 + sent, 60), errand), false);
        } catch {
          // The writer itself takes no such record.
        }
      }
      parcel({ visits: [] });
    };
    await using liar = await startLiar('liar', home.token(), lie);
    home.opened.home.resume();
    // Once servers are said to be in trouble by all there are, nothing is asked for any more.
    const enough = new Promise<string>(resolve => setTimeout(resolve, 3000, 'enough'));
    const end = await Promise.race([liar.forgotten(), home.ended.then(() => 'over'), enough]);
    if (end === 'over' || end === 'enough') break;
    home.opened.home.pause();
  }
  t.diagnostic(`${sent} parcels, seed ${SEED}`);
  assert.ok(sent >= 40);
  assert.deepEqual(await home.problems(), []);
});
