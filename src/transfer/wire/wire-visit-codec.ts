/**
 * The bytes of a parcel on its way home, before compression; both directions side by side. Pages of the errand are named
 * by their place in it. Like things lie together, because that is what makes them compress.
 */
import { SkeinError } from '../../base/errors.ts';
import { fingerprint } from '../../base/url.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { pick, readList, readOptional, readWhere, writeOptional, writeWhere } from '../../errand/codec/codec-parts.ts';
import {
  causes,
  outcomes,
  readNews,
  readNotes,
  readVerdict,
  stages,
  writeNews,
  writeNotes,
  writeVerdict,
} from '../../errand/codec/parcel-codec.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import type { Links, Visit } from '../../errand/visit.ts';
import { indexOf, isBare, restored, type Sent, type SentPage, type SentVisit, unchanged } from './wire-visit.ts';
import { checkCost, checkNews, checkVisit } from './wire-visit-checks.ts';

const NO_BYTES = new Uint8Array(0);

export function encodeSent(sent: Sent, errand: Errand): Uint8Array {
  const out = new ByteWriter(1 << 16);
  const places = indexOf(errand);
  out.byte(sent.server ? 1 : 0);
  if (sent.server) writeNews(out, sent.server);
  const groups = new Map<string, Visit[]>();
  const others: SentVisit[] = [];
  for (const each of sent.visits) {
    const known = errand.pages[places.get(each.visit.url) ?? -1];
    const visit = known && unchanged(each.visit, known);
    if (!visit) others.push(each);
    else if (!isBare(visit, known)) others.push({ visit });
    else {
      const key = JSON.stringify([visit.status, visit.reason, visit.stage, visit.cost.cause]);
      const group = groups.get(key);
      if (group) group.push(visit);
      else groups.set(key, [visit]);
    }
  }
  out.varint(groups.size);
  for (const group of groups.values()) writeGroup(out, group, places);
  const since = Math.floor(Math.min(...others.map(({ visit }) => visit.time)));
  out.double(others.length > 0 ? since : 0);
  out.varint(others.length);
  for (const each of others) writeVisit(out, each, { places, errand, since });
  const pages = others.flatMap(each => (each.page ? [each.page] : []));
  for (const page of pages) writeTerms(out, page);
  for (const page of pages) out.bytes(page.body);
  return out.finish();
}

/** Everything that comes out fits the errand; see wire-visit-checks.ts. */
export function decodeSent(bytes: Uint8Array, errand: Errand): Sent {
  const from = new ByteReader(bytes);
  const server = from.byte() === 1 ? readNews(from) : undefined;
  const same = readList(from, 8, source => readGroup(source, errand)).flat();
  const since = from.double();
  const others = readList(from, 12, source => readVisit(source, errand, since));
  const terms = others.map(({ paged }) => (paged ? readTerms(from) : undefined));
  const visits: SentVisit[] = same;
  for (const [i, { visit, known }] of others.entries()) {
    const page = terms[i] && { ...terms[i], body: from.bytes() };
    visits.push(checkVisit({ visit, ...(page && { page }) }, known, errand));
  }
  from.end();
  return { visits, ...(server && { server: checkNews(server, errand) }) };
}

/** Pages that were looked at and are as they were: a bit each, and the sum of what they cost. */
function writeGroup(out: ByteWriter, visits: readonly Visit[], places: ReadonlyMap<string, number>): void {
  const { status, reason, stage, cost } = visits[0]!;
  const at = visits.map(visit => places.get(visit.url)!);
  const times = visits.map(visit => visit.time);
  const bits = new Uint8Array((Math.max(...at) >> 3) + 1);
  for (const place of at) bits[place >> 3]! |= 1 << (place & 7);
  const first = Math.min(...times);
  out.varint(status);
  out.text(reason);
  out.byte(stage ? stages.indexOf(stage) + 1 : 0);
  out.byte(causes.indexOf(cost.cause));
  out.bytes(bits);
  out.double(first);
  out.varint(Math.round(Math.max(...times) - first));
  for (const key of ['up', 'down', 'ms'] as const) {
    out.varint(visits.reduce((sum, visit) => sum + Math.max(0, Math.round(visit.cost[key])), 0));
  }
}

function readGroup(from: ByteReader, errand: Errand): SentVisit[] {
  const status = from.varint();
  const reason = from.text();
  const stage = from.byte();
  const cause = pick(causes, from.byte());
  const bits = from.bytes();
  const first = from.double();
  const span = from.varint();
  const [up, down, ms] = [from.varint(), from.varint(), from.varint()];
  const places: number[] = [];
  if (bits.length > (errand.pages.length >> 3) + 1) throw unknownPage();
  for (let i = 0; i < bits.length * 8; i++) if (bits[i >> 3]! & (1 << (i & 7))) places.push(i);
  checkCost({ up, down, ms }, errand, places.length);
  const share = (sum: number, i: number) =>
    Math.floor((sum * (i + 1)) / places.length) - Math.floor((sum * i) / places.length);
  return places.map((place, i) => {
    const known = pageAt(errand, place);
    const visit: Visit = {
      url: known.url,
      // In the order of the errand, evenly between the first and the last.
      time: first + Math.round((span * i) / Math.max(1, places.length - 1)),
      outcome: 'same',
      reason,
      status,
      depth: known.depth,
      retryAfter: 0,
      cost: { up: share(up, i), down: share(down, i), cause, ms: share(ms, i) },
      ...(stage > 0 && { stage: pick(stages, stage - 1) }),
    };
    return checkVisit({ visit: restored(visit, known) }, known, errand);
  });
}

const PAGE = 1;
const WHERE = 2;
const NOTES = 4;
const LOCATION = 8;
const LINKS = 16;
const VERDICT = 32;

interface VisitContext {
  readonly places: ReadonlyMap<string, number>;
  readonly errand: Errand;
  /** Of the first visit. */
  readonly since: number;
}

function writeVisit(out: ByteWriter, sent: SentVisit, { places, errand, since }: VisitContext): void {
  const { visit, page } = sent;
  const place = places.get(visit.url);
  out.varint(place === undefined ? 0 : place + 1);
  if (place === undefined) out.text(visit.url);
  out.varint(Math.round(visit.time - since));
  out.byte(outcomes.indexOf(visit.outcome));
  out.text(visit.reason);
  out.varint(visit.status);
  out.byte(visit.stage ? stages.indexOf(visit.stage) + 1 : 0);
  const depth = place === undefined ? 0 : errand.pages[place]!.depth;
  out.varint(visit.depth === depth ? 0 : visit.depth + 1);
  out.varint(visit.retryAfter);
  const { up, down, cause, ms } = visit.cost;
  for (const value of [up, down, ms]) out.varint(Math.max(0, Math.round(value)));
  out.byte(causes.indexOf(cause));
  writeOptional(out, visit);
  const flags: [unknown, number][] = [
    [page, PAGE],
    [visit.where, WHERE],
    [visit.page, NOTES],
    [visit.location !== undefined, LOCATION],
    [visit.links, LINKS],
    [visit.verdict, VERDICT],
  ];
  out.byte(flags.reduce((bits, [given, bit]) => bits | (given ? bit : 0), 0));
  if (visit.where) writeWhere(out, visit.where);
  if (visit.page) writeNotes(out, visit.page);
  if (visit.location !== undefined) out.text(visit.location);
  if (visit.links) writeBareLinks(out, visit.links);
  if (visit.verdict) writeVerdict(out, visit.verdict);
}

interface ReadVisit {
  readonly visit: Visit;
  readonly known: Known | undefined;
  readonly paged: boolean;
}

function readVisit(from: ByteReader, errand: Errand, since: number): ReadVisit {
  const place = from.varint() - 1;
  const known = place < 0 ? undefined : pageAt(errand, place);
  const url = known ? known.url : from.text();
  const time = since + from.varint();
  const outcome = pick(outcomes, from.byte());
  const reason = from.text();
  const status = from.varint();
  const stage = from.byte();
  const depth = from.varint();
  const retryAfter = from.varint();
  const [up, down, ms] = [from.varint(), from.varint(), from.varint()];
  const cause = pick(causes, from.byte());
  const optional = readOptional(from);
  const bits = from.byte();
  const visit: Visit = {
    ...{ url, time, outcome, reason, status, retryAfter, cost: { up, down, cause, ms } },
    depth: depth === 0 ? (known?.depth ?? 0) : depth - 1,
    ...optional,
    ...(stage > 0 && { stage: pick(stages, stage - 1) }),
    ...(bits & WHERE && { where: readWhere(from) }),
    ...(bits & NOTES && { page: readNotes(from) }),
    ...(bits & LOCATION && { location: from.text() }),
    ...(bits & LINKS && { links: readBareLinks(from) }),
    ...(bits & VERDICT && { verdict: readVerdict(from) }),
  };
  return {
    visit: known ? restored(visit, known) : visit,
    known,
    paged: (bits & PAGE) !== 0,
  };
}

function pageAt(errand: Errand, place: number): Errand['pages'][number] {
  const known = errand.pages[place];
  if (!known) throw unknownPage();
  return known;
}

function unknownPage(): SkeinError {
  return new SkeinError('bad-frame', 'A parcel is about a page that is not in its errand.');
}

function writeTerms(out: ByteWriter, page: SentPage): void {
  out.text(page.protocol);
  out.text(page.address);
  out.text(page.truncated);
  out.bytes(page.requestHead);
  out.bytes(page.head);
}

function readTerms(from: ByteReader): Omit<SentPage, 'body'> {
  return {
    protocol: from.text(),
    address: from.text(),
    truncated: from.text(),
    requestHead: from.bytes(),
    head: from.bytes(),
  };
}

/** Fingerprints are made again at the other end: they are eight bytes a link that nothing can compress. */
function writeBareLinks(out: ByteWriter, links: Links): void {
  out.varint(links.count);
  out.bytes(links.flags);
  out.bytes(links.relevance);
  out.bytes(links.urls);
  out.bytes(links.anchors);
  const { buffer, byteOffset, byteLength } = links.lastmod;
  out.bytes(byteLength === 0 ? NO_BYTES : new Uint8Array(buffer, byteOffset, byteLength));
}

function readBareLinks(from: ByteReader): Links {
  const count = from.varint();
  const flags = from.bytes();
  const relevance = from.bytes();
  const urls = from.bytes();
  const anchors = from.bytes();
  const dates = from.bytes();
  const texts = count === 0 ? [] : Buffer.from(urls).toString().split('\n');
  const fits = flags.length === count && relevance.length === count && texts.length === count;
  if (!fits || (dates.length !== 0 && dates.length !== count * 8)) {
    throw new SkeinError('bad-frame', 'The link lists of a visit differ in length.');
  }
  const fingerprints = new Uint32Array(count * 2);
  const print = { high: 0, low: 0 };
  for (const [i, url] of texts.entries()) {
    fingerprint(url, print);
    fingerprints[i * 2] = print.high;
    fingerprints[i * 2 + 1] = print.low;
  }
  const lastmod = new Float64Array(new Uint8Array(dates).buffer);
  return { count, fingerprints, flags, relevance, urls, anchors, lastmod };
}
