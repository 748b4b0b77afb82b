/**
 * The encoding of a parcel, both directions side by side; see errand-codec.ts. Members are not copied on decoding, and
 * the links of a visit stay packed: home opens only what it does not know yet.
 */
import type { Draft } from '../../base/draft.ts';
import { SkeinError } from '../../base/errors.ts';
import type { Parcel, ServerNews } from '../parcel.ts';
import type { Cost, Links, LinkVerdict, Outcome, PageNotes, Stage, Visit } from '../visit.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import {
  pick,
  readList,
  readOptional,
  readRobots,
  readTexts,
  readWhere,
  writeOptional,
  writeRobots,
  writeTexts,
  writeWhere,
} from './codec-parts.ts';

export const outcomes: readonly Outcome[] = ['fetched', 'same', 'moved', 'gone', 'refused', 'failed'];
export const stages: readonly Stage[] = [
  'first',
  'validator',
  'raw',
  'last-modified',
  'url-count',
  'ascii-sum',
  'structure',
  'text',
  'links',
  'content',
  'image',
  'template',
  'keyword-count',
  'direct',
  'stamp',
  'noise',
];
export const causes: readonly Cost['cause'][] = [
  'page',
  'not-modified',
  'robots',
  'sitemap',
  'image',
  'audit',
  'error',
  'none',
  'delta',
  'dictionary',
];

/** Room for a visit with a hundred links; growing a parcel of megabytes would copy it. */
const VISIT_BYTES = 16_384;
/** Only sitemaps have dates. */
const NO_DATES = new Float64Array(0);

export function encodeParcel(parcel: Parcel): Uint8Array {
  const out = new ByteWriter(parcel.members.length + roomFor(parcel));
  writeVisits(out, parcel);
  out.bytes(parcel.members);
  return out.finish();
}

/** All but the members, which stand at the end: where memory is handed over they need not be copied. */
export function encodeVisits(parcel: Parcel, memory?: Uint8Array): Uint8Array {
  const out = new ByteWriter(roomFor(parcel), memory);
  writeVisits(out, parcel);
  return out.finish();
}

function roomFor({ visits }: Parcel): number {
  return VISIT_BYTES * (visits.length + 1);
}

function writeVisits(out: ByteWriter, parcel: Parcel): void {
  out.text(parcel.errand);
  out.varint(parcel.sequence);
  out.byte(parcel.done ? 1 : 0);
  out.byte(parcel.server ? 1 : 0);
  if (parcel.server) writeNews(out, parcel.server);
  out.varint(parcel.visits.length);
  for (const visit of parcel.visits) writeVisit(out, visit);
}

/** `apart`: the members, where they came by themselves. */
export function decodeParcel(bytes: Uint8Array, apart?: Uint8Array): Parcel {
  const from = new ByteReader(bytes);
  const errand = from.text();
  const sequence = from.varint();
  const done = from.byte() === 1;
  const server = from.byte() === 1 ? readNews(from) : undefined;
  const visits = readList(from, 20, readVisit);
  const members = apart ?? from.bytes();
  from.end();
  for (const { record } of visits) {
    if (record && (record.offset + record.length > members.length || record.requestLength > record.length)) {
      throw new SkeinError('bad-frame', 'A parcel refers to a record that is not in it.');
    }
  }
  return { errand, sequence, done, visits, members, ...(server && { server }) };
}

export function writeNews(out: ByteWriter, news: ServerNews): void {
  out.text(news.origin);
  out.text(news.address);
  writeRobots(out, news.robots);
  writeTexts(out, news.sitemaps);
  out.varint(Math.round(news.crawlDelay));
  out.double(news.notBefore);
  out.double(news.latency);
  out.varint(news.robotsBytes);
  out.byte(news.missing ? 1 : 0);
  if (news.missing) out.bytes(news.missing);
}

export function readNews(from: ByteReader): ServerNews {
  const origin = from.text();
  const address = from.text();
  const robots = readRobots(from);
  return {
    origin,
    address,
    sitemaps: readTexts(from),
    crawlDelay: from.varint(),
    notBefore: from.double(),
    latency: from.double(),
    robotsBytes: from.varint(),
    ...(robots && { robots }),
    // A copy: news of a server outlives the parcel.
    ...(from.byte() === 1 && { missing: Buffer.from(from.bytes()) }),
  };
}

function writeVisit(out: ByteWriter, visit: Visit): void {
  out.text(visit.url);
  out.double(visit.time);
  out.byte(outcomes.indexOf(visit.outcome));
  out.text(visit.reason);
  out.varint(visit.status);
  out.byte(visit.stage ? stages.indexOf(visit.stage) + 1 : 0);
  out.varint(visit.depth);
  out.varint(visit.retryAfter);
  out.varint(visit.cost.up);
  out.varint(visit.cost.down);
  out.byte(causes.indexOf(visit.cost.cause));
  out.varint(Math.max(0, Math.round(visit.cost.ms)));
  writeOptional(out, visit);
  out.byte(
    (visit.where ? 1 : 0) |
      (visit.page ? 2 : 0) |
      (visit.location === undefined ? 0 : 4) |
      (visit.links ? 8 : 0) |
      (visit.record ? 16 : 0) |
      (visit.verdict ? 32 : 0) |
      (visit.data === undefined ? 0 : 64),
  );
  if (visit.where) writeWhere(out, visit.where);
  if (visit.page) writeNotes(out, visit.page);
  if (visit.location !== undefined) out.text(visit.location);
  if (visit.links) writeLinks(out, visit.links);
  if (visit.record) {
    out.varint(visit.record.offset);
    out.varint(visit.record.length);
    out.varint(visit.record.requestLength);
  }
  if (visit.verdict) writeVerdict(out, visit.verdict);
  if (visit.data !== undefined) out.text(visit.data);
}

function readVisit(from: ByteReader): Visit {
  const url = from.text();
  const time = from.double();
  const outcome = pick(outcomes, from.byte());
  const reason = from.text();
  const status = from.varint();
  const stage = from.byte();
  const depth = from.varint();
  const retryAfter = from.varint();
  const cost: Cost = { up: from.varint(), down: from.varint(), cause: pick(causes, from.byte()), ms: from.varint() };
  const visit: Draft<Visit> = { url, time, outcome, reason, status, depth, retryAfter, cost };
  if (stage > 0) visit.stage = pick(stages, stage - 1);
  readOptional(from, visit);
  const bits = from.byte();
  if (bits & 1) visit.where = readWhere(from);
  if (bits & 2) visit.page = readNotes(from);
  if (bits & 4) visit.location = from.text();
  if (bits & 8) visit.links = readLinks(from);
  if (bits & 16) visit.record = { offset: from.varint(), length: from.varint(), requestLength: from.varint() };
  if (bits & 32) visit.verdict = readVerdict(from);
  if (bits & 64) visit.data = from.text();
  return visit;
}

export function writeVerdict(out: ByteWriter, { follow, relevance }: LinkVerdict): void {
  out.byte(follow ? 1 : 0);
  out.byte(relevance);
}

export function readVerdict(from: ByteReader): LinkVerdict {
  return { follow: from.byte() === 1, relevance: from.byte() };
}

export function writeNotes(out: ByteWriter, notes: PageNotes): void {
  out.text(notes.title);
  out.text(notes.mediaType);
  out.text(notes.charset);
  out.text(notes.language);
  out.text(notes.canonical ?? '');
  out.varint(notes.bytes);
  out.byte(
    (notes.noindex ? 1 : 0) |
      (notes.nofollow ? 2 : 0) |
      (notes.noarchive ? 4 : 0) |
      (notes.truncated ? 8 : 0) |
      (notes.filtered ? 16 : 0),
  );
}

export function readNotes(from: ByteReader): PageNotes {
  const title = from.text();
  const mediaType = from.text();
  const charset = from.text();
  const language = from.text();
  const canonical = from.text();
  const bytes = from.varint();
  const bits = from.byte();
  const notes: Draft<PageNotes> = {
    title,
    mediaType,
    charset,
    language,
    bytes,
    noindex: (bits & 1) !== 0,
    nofollow: (bits & 2) !== 0,
    noarchive: (bits & 4) !== 0,
    truncated: (bits & 8) !== 0,
    filtered: (bits & 16) !== 0,
  };
  if (canonical !== '') notes.canonical = canonical;
  return notes;
}

function writeLinks(out: ByteWriter, links: Links): void {
  out.varint(links.count);
  out.words(links.fingerprints);
  out.bytes(links.flags);
  out.bytes(links.relevance);
  out.bytes(links.urls);
  out.bytes(links.anchors);
  out.bytes(new Uint8Array(links.lastmod.buffer, links.lastmod.byteOffset, links.lastmod.byteLength));
}

function readLinks(from: ByteReader): Links {
  const count = from.varint();
  const fingerprints = from.words();
  const flags = from.bytes();
  const relevance = from.bytes();
  const urls = from.bytes();
  const anchors = from.bytes();
  const dates = from.bytes();
  const lastmod = dates.length === 0 ? NO_DATES : datesOf(dates);
  const fits = fingerprints.length === count * 2 && flags.length === count && relevance.length === count;
  if (!fits || (lastmod.length !== 0 && lastmod.length !== count)) {
    throw new SkeinError('bad-frame', 'The link lists of a visit differ in length.');
  }
  return { count, fingerprints, flags, relevance, urls, anchors, lastmod };
}

/** A copy whose memory starts at 0: inside a message they are not aligned to their size. */
function datesOf(bytes: Uint8Array): Float64Array {
  if (bytes.length % 8 !== 0) throw new SkeinError('bad-frame', 'The link lists of a visit differ in length.');
  return new Float64Array(bytes.slice().buffer);
}
