/**
 * What another machine may say, at most. A parcel is decoded (wire-visit-codec.ts) and then held against its errand here,
 * before anybody else sees it: numbers are finite and in range, words are of their lists, URLs have their one form, and
 * a visit says what its outcome allows and nothing else. What does not fit ends the parcel with 'bad-frame'; behind this
 * there are only records that every part of home can take as they are.
 *
 * Of what can be found out at home nothing is taken over: facts, links, notes and validators of a page are read from the
 * body that came; of a page that is the same, they are what home knew before.
 */
import { isIP } from 'node:net';
import { DAY } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { LONGEST_URL, normalise, originOf } from '../../base/url.ts';
import type { Errand, RobotsCopy } from '../../errand/errand.ts';
import { bareFacts, MAX_FACTS_BYTES, packFacts, unpackFacts } from '../../errand/facts.ts';
import type { Known } from '../../errand/known.ts';
import type { ServerNews } from '../../errand/parcel.ts';
import { reasons } from '../../errand/reasons.ts';
import type { Cost, Links, PageNotes, Visit } from '../../errand/visit.ts';
import { parseHttp } from '../../errand/warc/warc.ts';
import { type SentPage, type SentVisit, validatorsOf, withoutDerived } from './wire-visit.ts';

/** Milliseconds by which two clocks may differ before one of them is a lie. */
const CLOCKS = DAY;
/** Seconds: what the crawler takes from Retry-After at most. */
const LONGEST_WAIT = DAY / 1000;
const MOST_DEPTH = 1_000_000;
/** Bytes that one visit sends, and that it may cost besides its body: heads, a second look, a robots.txt. */
const MOST_UP = 1 << 20;
const BESIDES = 16 << 20;
const LONGEST_HEAD = 1 << 20;
const LONGEST_REQUEST = 1 << 16;
const LONGEST_ROBOTS = 500 << 10;
const MOST_SITEMAPS = 1000;
const MOST_LINKS = 1_000_000;
const MOST_BLOCKS = 4096;
/** Milliseconds: other dates in sitemaps are nonsense. */
const EARLIEST_DATE = Date.UTC(1000, 0);
const LATEST_DATE = Date.UTC(2200, 0);
const LONGEST = { title: 300, mediaType: 255, charset: 64, tag: 1024, date: 128, anchor: 1024 } as const;
const LINK_FLAGS = 127;
const PROTOCOLS: ReadonlySet<string> = new Set(['', 'http/1.0', 'http/1.1', 'h2']);
const CUTS: ReadonlySet<string> = new Set(['', 'length', 'time', 'disconnect']);

/** The visit as home may take it. `known`: what the errand says of its page; undefined = the outpost found it itself. */
export function checkVisit({ visit: said, page }: SentVisit, known: Known | undefined, errand: Errand): SentVisit {
  if (!known) checkFound(said.url, errand);
  checkNumbers(said, errand);
  need(Object.hasOwn(reasons, said.reason), 'its reason is unknown');
  need(said.verdict === undefined || errand.code !== undefined, 'it has a decision, but its errand has no decider');
  // Before its errand was issued nobody had a reason to visit it.
  const time = Math.floor(Math.max(said.time, issuedAt(errand)));
  const visit: Visit = { ...said, time, depth: known?.depth ?? said.depth };
  if (page) return { visit: withBody(visit, known), page: checkPage(page, visit, errand) };
  if (visit.outcome === 'same') return { visit: unchanged(visit, known) };
  if (visit.outcome === 'fetched') return { visit: withoutBody(visit, errand) };
  const { facts, links, page: notes, verdict, where, location, ...bare } = visit;
  need(!facts && !links && !notes, 'it describes a page that it did not fetch');
  if (visit.outcome !== 'moved') return { visit: bare };
  need(isUrl(location), 'it redirects to something that is not a URL');
  return { visit: { ...bare, location: location! } };
}

export function issuedAt({ deadline, limits }: Errand): number {
  return deadline - limits.time;
}

/** Only pages of the errand's own server can be found on the way. */
function checkFound(url: string, errand: Errand): void {
  need(isUrl(url) && originOf(url) === errand.server.origin, 'it is about another server');
}

function checkNumbers({ time, status, retryAfter, depth, cost, where }: Visit, errand: Errand): void {
  need(within(time, issuedAt(errand) - CLOCKS, errand.deadline + CLOCKS), 'its time is outside its errand');
  need(status === 0 || within(status, 100, 999), 'its status is out of range');
  need(within(retryAfter, 0, LONGEST_WAIT), 'its Retry-After is too long');
  need(within(depth, 0, MOST_DEPTH), 'its depth is out of range');
  need(
    !where || (where.length <= MOST_BLOCKS && where.every(each => within(each, 0, 0xffff))),
    'its list of changed blocks is malformed',
  );
  checkCost(cost, errand, 1);
}

/** What `count` visits may have cost together. */
export function checkCost({ up, down, ms }: Omit<Cost, 'cause'>, errand: Errand, count: number): void {
  need(within(up, 0, MOST_UP * count), 'its bytes are out of range');
  need(within(down, 0, (2 * errand.limits.bodyBytes + BESIDES) * count), 'its bytes are out of range');
  need(within(ms, 0, DAY * count), 'its duration is out of range');
}

/** Facts, links and notes are for home to read; of an image its look and code are taken over, which say how much changed. */
function withBody(visit: Visit, known: Known | undefined): Visit {
  need(visit.outcome === 'fetched' && within(visit.status, 200, 299), 'it has a page without a successful fetch');
  const image = visit.cost.cause === 'image';
  need(!known || image === (known.role === 'image'), 'it has an image for a page, or a page for an image');
  need(visit.cost.cause !== 'sitemap', 'it has a page for a sitemap');
  need(visit.cost.cause !== 'delta', 'it claims to come from a site in bulk');
  need(visit.cost.cause !== 'dictionary', 'it claims a delta against a version that only home has');
  const bare = { ...withoutDerived(visit), stage: known?.facts ? visit.stage : 'first' } as Visit;
  const look = image && visit.facts ? unpackFacts(visit.facts) : undefined;
  return look ? { ...bare, facts: packFacts(look) } : bare;
}

function checkPage(page: SentPage, { status }: Visit, errand: Errand): SentPage {
  const { protocol, address, truncated, requestHead, head, body } = page;
  need(PROTOCOLS.has(protocol) && CUTS.has(truncated), 'the protocol of a page is unknown');
  need(address === '' || isIP(address) !== 0, 'the address of a page is malformed');
  need(requestHead.length <= LONGEST_REQUEST && isHead(requestHead, 0), 'the request of a page is malformed');
  need(head.length <= LONGEST_HEAD && isHead(head, status), 'the header of a page is malformed');
  need(body.length <= errand.limits.bodyBytes, 'a page is longer than the limit');
  return page;
}

/** A whole header and nothing behind it. `status`: 0 for a request. */
function isHead(head: Uint8Array, status: number): boolean {
  const message = parseHttp(head);
  return message !== undefined && message.status === status && message.body.length === 0;
}

/** Of a page that is the same home knows everything; of an image that it has not seen, what its headers say. */
function unchanged(visit: Visit, known: Known | undefined): Visit {
  const { facts, links, page, where, location, verdict, etag, lastModified, ...bare } = visit;
  need(known !== undefined && !links && !page, 'it is unchanged, but there is no earlier visit');
  need(bare.status === 304 || within(bare.status, 200, 299), 'it is unchanged, but its status is neither 304 nor 2xx');
  if (bare.status === 304) return bare;
  if (known!.facts) return { ...bare, facts: known!.facts, ...validatorsOf(known!) };
  const length = facts && unpackFacts(facts)?.words;
  need(known!.role === 'image' && length !== undefined, 'it is unchanged, but there is no earlier visit');
  return { ...bare, facts: packFacts({ ...bareFacts(UNSEEN, UNSEEN), words: length! }), ...tags(visit) };
}

/** In the place of hashes while nobody has seen the bytes. */
const UNSEEN = new Uint8Array(16);

/** What came and is not kept: a sitemap, which is its entries, or a page that the filter or the page itself leaves out. */
function withoutBody(visit: Visit, errand: Errand): Visit {
  const { location, ...rest } = visit;
  const { facts, links, page, cost } = rest;
  need(within(visit.status, 200, 299), 'it was fetched, but its status is not 2xx');
  need(facts !== undefined && facts.length <= MAX_FACTS_BYTES, 'its facts are missing or too long');
  const found = unpackFacts(facts!);
  need(found !== undefined, 'its facts are malformed');
  if (links) checkLinks(links);
  if (cost.cause === 'sitemap') {
    need(page === undefined, 'it describes a sitemap as a page');
    return { ...rest, facts: packFacts(bareFacts(found!.content, found!.content)), ...tags(visit) };
  }
  need(page !== undefined && links !== undefined, 'a page came without its notes or links');
  need(page!.noarchive || (page!.filtered && mayFilter(errand)), 'a page came without its body');
  return { ...rest, page: checkNotes(page!, errand), facts: packFacts(found!), ...tags(visit) };
}

function mayFilter({ scope, code }: Errand): boolean {
  const { minBytes, maxBytes, ...lists } = scope.keep;
  return code !== undefined || minBytes > 0 || maxBytes > 0 || Object.values(lists).some(list => list.length > 0);
}

function checkNotes(notes: PageNotes, errand: Errand): PageNotes {
  const { title, mediaType, charset, language, canonical, bytes } = notes;
  need(
    title.length <= LONGEST.title && mediaType.length <= LONGEST.mediaType,
    'the title or media type of a page is too long',
  );
  need(
    /^[\w!#$&^.+/-]*$/.test(mediaType) && /^[\w.:+-]*$/.test(charset),
    'the media type or charset of a page is malformed',
  );
  need(
    charset.length <= LONGEST.charset && /^([a-z]{2,8})?$/.test(language),
    'the charset or language of a page is malformed',
  );
  need(canonical === undefined || isUrl(canonical), 'the canonical URL of a page is not a URL');
  need(within(bytes, 0, errand.limits.bodyBytes), 'a page is longer than the limit');
  return { ...notes, title: title.replace(/[\0-\x1f\x7f-\x9f]+/g, ' ') };
}

/** Validators as a server may write them: they go back to it in a request. */
function tags({ etag, lastModified }: Visit): Pick<Visit, 'etag' | 'lastModified'> {
  need(etag === undefined || (etag.length <= LONGEST.tag && isLine(etag)), 'an ETag is malformed');
  need(
    lastModified === undefined || (lastModified.length <= LONGEST.date && isLine(lastModified)),
    'a Last-Modified is malformed',
  );
  return { ...(etag && { etag }), ...(lastModified && { lastModified }) };
}

function isLine(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

function checkLinks({ count, flags, urls, anchors, lastmod }: Links): void {
  need(count <= MOST_LINKS, 'it has too many links');
  const texts = count === 0 ? [] : Buffer.from(urls).toString().split('\n');
  const names = count === 0 ? [] : Buffer.from(anchors).toString().split('\n');
  need(texts.length === count && texts.every(isUrl), 'a link is not a URL');
  need(names.length === count || anchors.length === 0, 'its links have too few anchor texts');
  need(
    names.every(name => name.length <= LONGEST.anchor),
    'the anchor text of a link is too long',
  );
  need(
    flags.every(each => each <= LINK_FLAGS),
    'the kind of a link is unknown',
  );
  need(
    lastmod.every(each => within(each, EARLIEST_DATE, LATEST_DATE)),
    'a date in a sitemap is out of range',
  );
}

export function checkNews(news: ServerNews, errand: Errand): ServerNews {
  const { origin, address, robots, sitemaps, crawlDelay, latency, robotsBytes, missing } = news;
  need(origin === errand.server.origin, 'it is about another server');
  need(address === '' || isIP(address) !== 0, 'the address of a server is malformed');
  need(sitemaps.length <= MOST_SITEMAPS && sitemaps.every(isUrl), 'a sitemap is not a URL');
  need(within(crawlDelay, 0, DAY) && within(latency, 0, DAY), 'the delay or latency of a server is out of range');
  need(within(robotsBytes, 0, BESIDES), 'its bytes are out of range');
  need(
    missing === undefined || missing.length === 0 || missing.length === 16,
    'the print of a not-found page is malformed',
  );
  if (robots) checkRobots(robots, errand);
  return { ...news, notBefore: 0 };
}

function checkRobots({ status, body, unreachableSince, time }: RobotsCopy, errand: Errand): void {
  need(status === 0 || within(status, 100, 999), 'the status of a robots.txt is out of range');
  need(body.length <= LONGEST_ROBOTS, 'a robots.txt is too long');
  const latest = errand.deadline + CLOCKS;
  need(within(time, 0, latest) && within(unreachableSince, 0, latest), 'the time of a robots.txt is out of range');
}

function isUrl(text: string | undefined): boolean {
  return text !== undefined && text.length <= LONGEST_URL && normalise(text) === text;
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most; // false for what is not a number
}

function need(fits: boolean, what: string): void {
  if (!fits) throw new SkeinError('bad-frame', `A parcel is refused: ${what}.`);
}
