/** Parcels made up field by field for an errand: what an honest outpost could send, with something odd in some of them. */
import type { Errand } from '../../src/errand/errand.ts';
import { bareFacts, packFacts } from '../../src/errand/facts.ts';
import { reasons } from '../../src/errand/reasons.ts';
import type { Links, Visit } from '../../src/errand/visit.ts';
import type { Sent, SentPage, SentVisit } from '../../src/transfer/wire/wire-visit.ts';
import { plainPage } from '../errand/plain-errand.ts';
import type { Draw } from './fuzz-cases.ts';

const html = Buffer.from('<!doctype html><title>Geese</title><p>They fly. <a href="/next">next</a>');
const facts = packFacts(bareFacts(Buffer.alloc(16, 1), Buffer.alloc(16, 2)));

/** A moment at which its outpost may have visited a page. */
const timeOf = ({ deadline, limits }: Errand) => deadline - limits.time;

function linksOf(draw: Draw, origin: string): Links {
  const urls = draw
    .list([`${origin}/a`, `${origin}/b`], () => draw.text(`${origin}/c`))
    .map(each => each.replaceAll('\n', ''));
  const count = draw.whole(urls.length) % 1000;
  return {
    count,
    fingerprints: new Uint32Array(0),
    flags: draw.bytes(new Uint8Array(count)),
    relevance: draw.bytes(new Uint8Array(count)),
    urls: Buffer.from(urls.join('\n')),
    anchors: draw.bytes(Buffer.from('\n'.repeat(Math.max(0, count - 1)))),
    lastmod:
      draw.random.below(3) > 0
        ? new Float64Array(0)
        : Float64Array.from({ length: count }, () => draw.number(Date.UTC(2026, 0))),
  };
}

function sentPageOf(draw: Draw): SentPage {
  const head = `HTTP/1.1 ${draw.whole(200)} OK\r\nContent-Type: ${draw.text('text/html')}\r\n${draw.text('ETag: "1"')}\r\n\r\n`;
  return {
    ...{ protocol: draw.text('http/1.1'), address: draw.text('127.0.0.1'), truncated: draw.text('') },
    requestHead: draw.bytes(Buffer.from(`GET ${draw.text('/')} HTTP/1.1\r\n\r\n`)),
    head: draw.bytes(Buffer.from(head, 'latin1')),
    body: draw.bytes(draw.random.below(20) === 0 ? Buffer.alloc(1 << 17, 32) : html),
  };
}

function sentVisitOf(draw: Draw, errand: Errand): SentVisit {
  const { origin } = errand.server;
  const { number, whole, text, bytes, maybe, random } = draw;
  const outcome = random.pick(['fetched', 'fetched', 'same', 'moved', 'gone', 'refused', 'failed'] as const);
  // One field in a few is what no honest outpost would put beside the others.
  const rash = random.below(6) === 0;
  const pages =
    rash || outcome !== 'same'
      ? [...errand.pages, plainPage(text(`${origin}/found`))]
      : errand.pages.slice(0, 2).slice(-1);
  const known = random.pick(pages);
  const cause = known.role === 'page' ? 'page' : known.role;
  const saw = outcome === 'fetched';
  const [etag, found, mask, location] = [
    maybe(text('"1"')),
    maybe(bytes(facts)),
    maybe(bytes(Buffer.alloc(6))),
    maybe(text(`${origin}/x`)),
  ];
  const notes = {
    ...{
      title: text('Geese'),
      mediaType: text('text/html'),
      charset: text('utf-8'),
      language: text('en'),
      bytes: whole(10),
    },
    ...{ noindex: false, nofollow: false, noarchive: draw.flag(true), truncated: false, filtered: draw.flag(false) },
  };
  const visit: Visit = {
    ...{
      url: known.url,
      time: number(timeOf(errand)),
      outcome,
      reason: text(random.pick(Object.keys(reasons))),
      depth: whole(1),
    },
    ...{ status: whole(saw ? 200 : outcome === 'same' ? 304 : 0), retryAfter: whole(0) },
    cost: {
      up: whole(100),
      down: whole(1000),
      cause: rash ? random.pick(['page', 'sitemap', 'image', 'none'] as const) : cause,
      ms: whole(9),
    },
    ...(etag !== undefined && { etag }),
    ...(found && (rash || saw) && { facts: found }),
    ...(mask && { mask }),
    ...((rash ? location !== undefined : true) && outcome === 'moved' && { location: location ?? `${origin}/x` }),
    ...(random.below(8) === 0 && { where: draw.list([1], () => whole(2)) }),
    ...(rash && random.below(2) === 0 && { verdict: { follow: false, relevance: 3 } }),
    ...(rash && random.below(2) === 0 && { page: notes }),
    ...(rash && random.below(2) === 0 && { links: linksOf(draw, origin) }),
  };
  return saw && (!rash || random.below(3) > 0) ? { visit, page: sentPageOf(draw) } : { visit };
}

/** A parcel for the errand. */
export function sentOf(draw: Draw, errand: Errand): Sent {
  const { origin } = errand.server;
  const { number, whole, text } = draw;
  const one = sentVisitOf(draw, errand);
  // The writer counts times from the first: only by itself can one be beyond all numbers.
  const bounded = Number.isFinite(one.visit.time) && Math.abs(one.visit.time) < 2 ** 50;
  const other = sentVisitOf(draw, errand);
  const visits =
    bounded && draw.random.below(2) > 0 ? [one, { ...other, visit: { ...other.visit, time: timeOf(errand) } }] : [one];
  if (draw.random.below(4) > 0) return { visits };
  const robots = { status: whole(200), body: text(''), unreachableSince: number(0), time: number(timeOf(errand)) };
  const server = {
    ...{ origin: text(origin), address: text('127.0.0.1'), sitemaps: draw.list([], () => text(`${origin}/s`)), robots },
    ...{ crawlDelay: whole(0), notBefore: number(0), latency: number(1), robotsBytes: whole(1) },
    ...(draw.maybe(1) && { missing: Buffer.from(draw.bytes(new Uint8Array(16))) }),
  };
  return { visits, server };
}
