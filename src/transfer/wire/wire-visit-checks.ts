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
  need(Object.hasOwn(reasons, said.reason), 'its reason is none');
  need(said.verdict === undefined || errand.code !== undefined, 'nothing was to be decided about it');
  // Before its errand was issued nobody had a reason to visit it.
  const time = Math.floor(Math.max(said.time, issuedAt(errand)));
  const visit: Visit = { ...said, time, depth: known?.depth ?? said.depth };
  if (page) return { visit: withBody(visit, known), page: checkPage(page, visit, errand) };
  if (visit.outcome === 'same') return { visit: unchanged(visit, known) };
  if (visit.outcome === 'fetched') return { visit: withoutBody(visit, errand) };
  const { facts, links, page: notes, verdict, where, location, ...bare } = visit;
  need(!facts && !links && !notes, 'it says more of a page than it saw');
  if (visit.outcome !== 'moved') return { visit: bare };
  need(isUrl(location), 'it leads to what is no URL');
  return { visit: { ...bare, location: location! } };
}

export function issuedAt({ deadline, limits }: Errand): number {
  return deadline - limits.time;
}

/** Only pages of the errand's own server can be found on the way. */
function checkFound(url: string, errand: Errand): void {
  need(isUrl(url) && originOf(url) === errand.server.origin, 'it speaks of another server');
}

function checkNumbers({ time, status, retryAfter, depth, cost, where }: Visit, errand: Errand): void {
  need(within(time, issuedAt(errand) - CLOCKS, errand.deadline + CLOCKS), 'its time is not one');
  need(status === 0 || within(status, 100, 999), 'its status is none');
  need(within(retryAfter, 0, LONGEST_WAIT), 'it asks for too long a wait');
  need(within(depth, 0, MOST_DEPTH), 'it is too deep');
  need(!where || (where.length <= MOST_BLOCKS && where.every(each => within(each, 0, 0xffff))), 'it differs nowhere');
  checkCost(cost, errand, 1);
}

/** What `count` visits may have cost together. */
export function checkCost({ up, down, ms }: Omit<Cost, 'cause'>, errand: Errand, count: number): void {
  need(within(up, 0, MOST_UP * count), 'it costs more than it can');
  need(within(down, 0, (2 * errand.limits.bodyBytes + BESIDES) * count), 'it costs more than it can');
  need(within(ms, 0, DAY * count), 'it took longer than it can');
}

/** Facts, links and notes are for home to read; of an image its look and code are taken over, which say how much changed. */
function withBody(visit: Visit, known: Known | undefined): Visit {
  need(visit.outcome === 'fetched' && within(visit.status, 200, 299), 'it brings a page that did not come');
  const image = visit.cost.cause === 'image';
  need(!known || image === (known.role === 'image'), 'it is not what was asked for');
  need(visit.cost.cause !== 'sitemap', 'a sitemap brings no page');
  need(visit.cost.cause !== 'delta', 'only a site gives pages in bulk');
  need(visit.cost.cause !== 'dictionary', 'only home holds the version that a difference is made from');
  const bare = { ...withoutDerived(visit), stage: known?.facts ? visit.stage : 'first' } as Visit;
  const look = image && visit.facts ? unpackFacts(visit.facts) : undefined;
  return look ? { ...bare, facts: packFacts(look) } : bare;
}

function checkPage(page: SentPage, { status }: Visit, errand: Errand): SentPage {
  const { protocol, address, truncated, requestHead, head, body } = page;
  need(PROTOCOLS.has(protocol) && CUTS.has(truncated), 'a page came in no known way');
  need(address === '' || isIP(address) !== 0, 'a page came from no address');
  need(requestHead.length <= LONGEST_REQUEST && isHead(requestHead, 0), 'a page was not asked for');
  need(head.length <= LONGEST_HEAD && isHead(head, status), 'a page has no header');
  need(body.length <= errand.limits.bodyBytes, 'a page is longer than it may be');
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
  need(known !== undefined && !links && !page, 'it is the same as nothing');
  need(bare.status === 304 || within(bare.status, 200, 299), 'it is the same without an answer');
  if (bare.status === 304) return bare;
  if (known!.facts) return { ...bare, facts: known!.facts, ...validatorsOf(known!) };
  const length = facts && unpackFacts(facts)?.words;
  need(known!.role === 'image' && length !== undefined, 'it is the same as nothing');
  return { ...bare, facts: packFacts({ ...bareFacts(UNSEEN, UNSEEN), words: length! }), ...tags(visit) };
}

/** In the place of hashes while nobody has seen the bytes. */
const UNSEEN = new Uint8Array(16);

/** What came and is not kept: a sitemap, which is its entries, or a page that the filter or the page itself leaves out. */
function withoutBody(visit: Visit, errand: Errand): Visit {
  const { location, ...rest } = visit;
  const { facts, links, page, cost } = rest;
  need(within(visit.status, 200, 299), 'it came without an answer');
  need(facts !== undefined && facts.length <= MAX_FACTS_BYTES, 'nothing is known of it');
  const found = unpackFacts(facts!);
  need(found !== undefined, 'its facts are none');
  if (links) checkLinks(links);
  if (cost.cause === 'sitemap') {
    need(page === undefined, 'a sitemap is no page');
    return { ...rest, facts: packFacts(bareFacts(found!.content, found!.content)), ...tags(visit) };
  }
  need(page !== undefined && links !== undefined, 'a page came without what it says');
  need(page!.noarchive || (page!.filtered && mayFilter(errand)), 'a page came without its body');
  return { ...rest, page: checkNotes(page!, errand), facts: packFacts(found!), ...tags(visit) };
}

function mayFilter({ scope, code }: Errand): boolean {
  const { minBytes, maxBytes, ...lists } = scope.keep;
  return code !== undefined || minBytes > 0 || maxBytes > 0 || Object.values(lists).some(list => list.length > 0);
}

function checkNotes(notes: PageNotes, errand: Errand): PageNotes {
  const { title, mediaType, charset, language, canonical, bytes } = notes;
  need(title.length <= LONGEST.title && mediaType.length <= LONGEST.mediaType, 'a page says too much of itself');
  need(/^[\w!#$&^.+/-]*$/.test(mediaType) && /^[\w.:+-]*$/.test(charset), 'a page is of no known type');
  need(charset.length <= LONGEST.charset && /^([a-z]{2,8})?$/.test(language), 'a page is in no language');
  need(canonical === undefined || isUrl(canonical), 'a page names what is no URL');
  need(within(bytes, 0, errand.limits.bodyBytes), 'a page is longer than it may be');
  return { ...notes, title: title.replace(/[\0-\x1f\x7f-\x9f]+/g, ' ') };
}

/** Validators as a server may write them: they go back to it in a request. */
function tags({ etag, lastModified }: Visit): Pick<Visit, 'etag' | 'lastModified'> {
  need(etag === undefined || (etag.length <= LONGEST.tag && isLine(etag)), 'a tag is none');
  need(lastModified === undefined || (lastModified.length <= LONGEST.date && isLine(lastModified)), 'a date is none');
  return { ...(etag && { etag }), ...(lastModified && { lastModified }) };
}

function isLine(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

function checkLinks({ count, flags, urls, anchors, lastmod }: Links): void {
  need(count <= MOST_LINKS, 'it has too many links');
  const texts = count === 0 ? [] : Buffer.from(urls).toString().split('\n');
  const names = count === 0 ? [] : Buffer.from(anchors).toString().split('\n');
  need(texts.length === count && texts.every(isUrl), 'a link is no URL');
  need(names.length === count || anchors.length === 0, 'its links have too few names');
  need(
    names.every(name => name.length <= LONGEST.anchor),
    'the name of a link is too long',
  );
  need(
    flags.every(each => each <= LINK_FLAGS),
    'a link is of no known kind',
  );
  need(
    lastmod.every(each => within(each, EARLIEST_DATE, LATEST_DATE)),
    'a date in a sitemap is none',
  );
}

export function checkNews(news: ServerNews, errand: Errand): ServerNews {
  const { origin, address, robots, sitemaps, crawlDelay, latency, robotsBytes, missing } = news;
  need(origin === errand.server.origin, 'it speaks of another server');
  need(address === '' || isIP(address) !== 0, 'a server has no address');
  need(sitemaps.length <= MOST_SITEMAPS && sitemaps.every(isUrl), 'a sitemap is no URL');
  need(within(crawlDelay, 0, DAY) && within(latency, 0, DAY), 'a server is slower than it can be');
  need(within(robotsBytes, 0, BESIDES), 'it costs more than it can');
  need(missing === undefined || missing.length === 0 || missing.length === 16, 'a print is none');
  if (robots) checkRobots(robots, errand);
  return { ...news, notBefore: 0 };
}

function checkRobots({ status, body, unreachableSince, time }: RobotsCopy, errand: Errand): void {
  need(status === 0 || within(status, 100, 999), 'the status of a robots.txt is none');
  need(body.length <= LONGEST_ROBOTS, 'a robots.txt is too long');
  const latest = errand.deadline + CLOCKS;
  need(within(time, 0, latest) && within(unreachableSince, 0, latest), 'the time of a robots.txt is not one');
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
