/**
 * Turns an answer into a visit: what the status means, what the body says, whether anything has changed, and whether the page
 * is stored. Every branch ends in one Visit; none throws on purpose.
 */

import type { Draft } from '../base/draft.ts';
import type { Errand } from '../errand/errand.ts';
import { bareFacts, type Facts, packFacts, unpackFacts } from '../errand/facts.ts';
import { type Known, MOST_HOPS } from '../errand/known.ts';
import { type ReasonCode, reasons } from '../errand/reasons.ts';
import type { compileKeep } from '../errand/scope/scope.ts';
import type { Cost, Outcome, PageNotes, Visit } from '../errand/visit.ts';
import { type Decoded, type DecodedBody, decodeBody, decodeLargeBody, largeBody } from '../errand/warc/decode.ts';
import { payloadDigest } from '../errand/warc/warc.ts';
import { analyse } from './analysis/analyse.ts';
import { withImages } from './analysis/image-links.ts';
import { locationOf } from './analysis/location.ts';
import { bodyLimit, readSitemap } from './analysis/sitemaps.ts';
import type { PageQuestion } from './decider.ts';
import { compare, usesImageCodes } from './detect/compare.ts';
import { imageFacts, ivalOf, withImage } from './detect/image.ts';
import type { MissingPages } from './detect/missing-page.ts';
import { glance, imageChanged, isWatched, knowsNoHead, lengthOf, type Manner } from './detect/watched-image.ts';
import { retryAfter } from './pace/answer-effect.ts';
import type { Kept } from './pack/pack.ts';
import { questionOf } from './question.ts';
import type { Answer, Change, Page, Response } from './stages.ts';
import type { Tools } from './tools.ts';

const PARTIAL_CONTENT = 206;

/** What a page is concluded for. */
export interface Job {
  readonly errand: Errand;
  readonly tools: Tools;
  readonly keep: ReturnType<typeof compileKeep>;
  /** The server's not-found page, as far as known. */
  readonly missing: MissingPages;
}

export interface Concluded {
  readonly visit: Visit;
  /** What the archive stores of it. */
  readonly kept?: Kept;
  /** The page, where one came. */
  readonly page?: Page;
  /** It may be the server's not-found page, which nobody has looked for yet. */
  readonly suspect?: boolean;
  /** The headers of an image say that it has changed: its bytes are needed. */
  readonly resized?: boolean;
  /** What the errand's decider has to answer before anything is done with the page. */
  readonly question?: PageQuestion;
}

export function conclude(job: Job, known: Known, answer: Answer, manner: Manner): Concluded | Promise<Concluded> {
  const time = job.tools.clock.now();
  if (answer.kind === 'failure') {
    const outcome: Outcome = answer.reason === 'private-address' || answer.reason === 'bad-url' ? 'refused' : 'failed';
    return ended(known, time, answer, { outcome, reason: answer.reason });
  }
  const { status } = answer;
  // Without a validator there was nothing to be the same as.
  if (status === 304 && (known.etag !== undefined || known.lastModified !== undefined)) {
    return ended(known, time, answer, { outcome: 'same', reason: 'not-modified', stage: 'validator' });
  }
  if (status >= 300 && status < 400) return moved(known, time, answer);
  if (status === 404 || status === 410) {
    return ended(known, time, answer, { outcome: 'gone', reason: status === 404 ? 'http-404' : 'http-410' });
  }
  if (manner === 'head' && knowsNoHead(status)) {
    return ended(known, time, answer, { outcome: 'refused', reason: 'unwatchable' });
  }
  if (status >= 400) return ended(known, time, answer, { outcome: 'failed', reason: errorReason(status) });
  if (status < 200 || status === 204 || status === 205) {
    return ended(known, time, answer, { outcome: 'failed', reason: 'http-odd' });
  }
  return manner === 'head' ? glanced(known, time, answer) : read(job, known, answer, time);
}

/** Headers came, as asked for. */
function glanced(known: Known, time: number, response: Response): Concluded {
  const found = glance(known, response);
  if (!found) return { ...ended(known, time, response, { outcome: 'same', reason: 'watched' }), resized: true };
  // A length makes validators unnecessary, and these cost the most on the way home from another machine.
  const told = found.outcome === 'same' && lengthOf(response.headers) === 0;
  return ended(known, time, response, { ...found, ...(told && validators(response)) });
}

/** Adds the cost of an earlier request to that of the visit. */
export function withCost(concluded: Concluded, { up, down, ms }: Cost): Concluded {
  const { cost } = concluded.visit;
  const both = { ...cost, up: cost.up + up, down: cost.down + down, ms: cost.ms + ms };
  return { ...concluded, visit: { ...concluded.visit, cost: both } };
}

/** We did not ask. */
export function refuse(known: Known, reason: ReasonCode, time: number): Concluded {
  const visit: Visit = {
    url: known.url,
    time,
    outcome: 'refused',
    reason,
    status: 0,
    depth: known.depth,
    retryAfter: 0,
    cost: { up: 0, down: 0, cause: 'none', ms: 0 },
  };
  return { visit };
}

/** We did not ask, because the code that is asked before a request failed. */
export function unasked(known: Known, time: number): Concluded {
  return { visit: { ...refuse(known, 'decider', time).visit, outcome: 'failed' } };
}

/** An answer came, and analysis failed on it. */
export function unusable(known: Known, time: number, answer: Answer): Concluded {
  return ended(known, time, answer, { outcome: 'failed', reason: 'crashed' });
}

/** The page turned out to be the server's not-found page. */
export function missingInstead(known: Known, { visit }: Concluded): Concluded {
  const { time, status, depth, cost } = visit;
  const gone = { outcome: 'gone', reason: 'soft-404', retryAfter: 0 } as const;
  return { visit: { url: known.url, time, status, depth, cost: { ...cost, cause: 'error' }, ...gone } };
}

/**
 * A 304 was held against the whole page. The visit costs both; when the page had changed although its validator is the
 * same, the validator lied.
 */
export function audited(known: Known, first: Concluded, second: Concluded): Concluded {
  const { visit } = second;
  if (visit.outcome !== 'fetched' && visit.outcome !== 'same') return first;
  const { up, down, ms } = first.visit.cost;
  const tag = visit.etag ?? visit.lastModified;
  const stale = tag !== undefined && (known.etag?.includes(tag) || tag === known.lastModified);
  const reason = visit.outcome === 'same' ? 'not-modified' : stale ? 'validator-lied' : 'ok';
  const cost: Cost = { up: visit.cost.up + up, down: visit.cost.down + down, ms: visit.cost.ms + ms, cause: 'audit' };
  return { ...second, visit: { ...visit, reason, cost } };
}

/** The page was read, and packing failed on it. */
export function crashed(known: Known, concluded: Concluded): Concluded {
  return failedLate(known, concluded, 'crashed');
}

/** The page was read, and the code that was to decide about it failed. */
export function undecided(known: Known, concluded: Concluded): Concluded {
  return failedLate(known, concluded, 'decider');
}

function failedLate(known: Known, { visit }: Concluded, reason: ReasonCode): Concluded {
  const { time, status, depth, cost } = visit;
  return { visit: { url: known.url, time, status, depth, cost, outcome: 'failed', reason, retryAfter: 0 } };
}

type VisitEnding = Pick<Visit, 'outcome'> & { reason: string } & Partial<Omit<Visit, 'outcome' | 'reason'>>;

function ended(known: Known, time: number, answer: Answer, ending: VisitEnding): Concluded {
  const { up, down, total } = answer.wire;
  const response = answer.kind === 'response' ? answer : undefined;
  const wait = response ? retryAfter(response, time) : 0;
  const visit: Visit = {
    url: known.url,
    time,
    status: response?.status ?? 0,
    depth: known.depth,
    retryAfter: Math.round(wait / 1000),
    cost: { up, down, cause: causeOf(known, ending.outcome, response?.status ?? 0), ms: total },
    ...ending,
  };
  return { visit };
}

function causeOf(known: Known, outcome: Outcome, status: number): Cost['cause'] {
  if (known.role !== 'page') return known.role;
  if (status === 304) return 'not-modified';
  return outcome === 'fetched' || outcome === 'same' ? 'page' : 'error';
}

function errorReason(status: number): ReasonCode {
  if (status === 429) return 'http-429';
  if (status === 503) return 'http-503';
  return status >= 500 ? 'http-5xx' : 'http-4xx';
}

function moved(known: Known, time: number, response: Response): Concluded {
  const location = locationOf(response.headers, known.url);
  if (location === undefined) {
    return ended(known, time, response, { outcome: 'failed', reason: 'http-odd' });
  }
  if (known.hops >= MOST_HOPS || location === known.url) {
    return ended(known, time, response, { outcome: 'failed', reason: 'redirect-loop' });
  }
  return ended(known, time, response, { outcome: 'moved', reason: 'redirect', location });
}

/** A body that came. */
interface ReceivedBody {
  readonly job: Job;
  readonly known: Known;
  readonly response: Response;
  readonly time: number;
  /** Why it is not whole. */
  readonly broken: 'body-timeout' | 'reset' | undefined;
}

/** Decodes it. A promise only where the work is done elsewhere: for most pages one more turn of the queue is dear. */
function read(job: Job, known: Known, response: Response, time: number): Concluded | Promise<Concluded> {
  const broken = brokenBy(response);
  if (broken && known.tries < reasons[broken].retries) {
    return ended(known, time, response, { outcome: 'failed', reason: broken });
  }
  const reading: ReceivedBody = { job, known, response, time, broken };
  const coding = response.headers.get('content-encoding');
  const limits = { bodyBytes: bodyLimit(known, job.errand.limits) };
  if (response.body.length <= largeBody) return understand(reading, decodeBody(response.body, coding, limits));
  return decodeLargeBody(response.body, coding, limits).then(decoded => understand(reading, decoded));
}

/** Analyses what was decoded. */
function understand(reading: ReceivedBody, decoded: Decoded): Concluded | Promise<Concluded> {
  const { job, known, response, time } = reading;
  if (decoded.kind === 'failed') return ended(known, time, response, { outcome: 'failed', reason: decoded.reason });
  const { bytes } = decoded;
  if (known.role === 'sitemap') return sitemap(known, time, response, bytes);
  const digest = payloadDigest(response.body);
  const page = analyse(
    { url: known.url, headers: response.headers, body: bytes, raw: digest },
    { focus: job.errand.scope.focus, agentToken: job.tools.agentToken },
  );
  if (known.role === 'page' && job.missing.has(page)) {
    return ended(known, time, response, { outcome: 'gone', reason: 'soft-404' });
  }
  const understood = { page, digest, decoded, facts: page.facts };
  if (known.role !== 'image') return decide(reading, understood);
  return lookedAt(page, response, bytes).then(facts => decide(reading, { ...understood, facts }));
}

interface Understood {
  readonly page: Page;
  readonly digest: Uint8Array;
  readonly decoded: DecodedBody;
  readonly facts: Uint8Array;
}

/** Compares with what was known, and decides what is kept. */
function decide({ job, known, response, time, broken }: ReceivedBody, found: Understood): Concluded {
  const { page, digest, decoded, facts } = found;
  // Nobody asked for a part, so what a 206 brings is all there will be, and not the whole.
  const truncated =
    response.truncated !== undefined || decoded.truncated !== undefined || response.status === PARTIAL_CONTENT;
  const { change, before } = judge(job, known, facts, response);
  const notes = notesOf(page, truncated, !job.keep({ url: known.url, page }));
  const { up, down, total } = response.wire;
  const { stage, where } = change;
  // Stamps are no news, but the stored copy is to be as the page is.
  const changed = change.changed || stage === 'stamp';
  const outcome = changed ? 'fetched' : 'same';
  // Field by field, and others only where they are: objects spread into one another took 5 us of every page.
  const visit: Draft<Visit> = {
    url: known.url,
    time,
    outcome,
    reason: changed ? 'ok' : 'unchanged',
    status: response.status,
    depth: known.depth,
    retryAfter: 0,
    cost: {
      up,
      down,
      cause: differenceOf(response) ?? causeOf(known, outcome, response.status),
      ms: total,
    },
    stage,
    where,
    facts,
    page: notes,
    links: job.errand.scope.images ? withImages(page.links, page.images) : page.links,
  };
  if (!broken && (changed || !isWatched(job.errand, known))) addValidators(visit, response);
  const concluded: Draft<Concluded> = {
    visit,
    page,
    suspect: known.role === 'page' && job.missing.suspects(page, before),
  };
  if (!changed) return concluded;
  if (known.role === 'page' && job.tools.decider) {
    concluded.question = questionOf(job.tools.decider, visit, page, { body: decoded.bytes, headers: response.headers });
  }
  if (!notes.filtered && !notes.noarchive) {
    concluded.kept = { url: known.url, time, digest, response, parts: response.parts };
  }
  return concluded;
}

/** How it came, where that was not as a whole page. */
function differenceOf({ protocol, difference }: Response): 'delta' | 'dictionary' | undefined {
  if (protocol === 'site') return 'delta';
  return difference && 'dictionary';
}

interface Judgement {
  readonly change: Change;
  readonly before?: Facts;
}

/** Whether it changed, as far as facts can say: what differs is brought home, where the old copy is. An image is its bytes, or its code. */
function judge(job: Job, known: Known, packed: Uint8Array, response: Response): Judgement {
  const before = known.facts ? unpackFacts(known.facts) : undefined;
  if (!before) return { change: { changed: true, stage: 'first', where: [] } };
  const facts = unpackFacts(packed)!;
  if (known.role === 'image') {
    const coded = usesImageCodes(job.errand.detector) && ivalOf(before) !== 0n && ivalOf(facts) !== 0n;
    const changed = coded ? ivalOf(before) !== ivalOf(facts) : imageChanged(known, before, facts, response);
    return { change: { changed, stage: changed ? 'image' : 'raw', where: [] } };
  }
  const lastModified = { before: known.lastModified, after: response.headers.get('last-modified') };
  return { change: compare(job.errand.detector, before, facts, { lastModified }), before };
}

/** Facts of an image, with its look and code in the place of the text that it has not. */
async function lookedAt(page: Page, response: Response, bytes: Uint8Array): Promise<Uint8Array> {
  const words = lengthOf(response.headers) || response.body.length;
  return packFacts(withImage({ ...unpackFacts(page.facts)!, words }, await imageFacts(bytes)));
}

/** A sitemap is its entries; one that did not change is not read again. */
function sitemap(known: Known, time: number, response: Response, bytes: Uint8Array): Concluded {
  const content = new Uint8Array(payloadDigest(bytes).subarray(0, 16));
  const before = known.facts ? unpackFacts(known.facts) : undefined;
  const same = before !== undefined && Buffer.compare(before.content, content) === 0;
  const facts = packFacts(bareFacts(content, content));
  const found: VisitEnding = same
    ? { outcome: 'same', reason: 'unchanged', stage: 'raw' }
    : { outcome: 'fetched', reason: 'ok', stage: before ? 'raw' : 'first', links: readSitemap(known.url, bytes) };
  return ended(known, time, response, { ...found, facts, ...validators(response) });
}

/** Why only a part of the body came. It is asked for again; what the last allowed try brings is kept and marked. */
function brokenBy({ truncated }: Response): 'body-timeout' | 'reset' | undefined {
  if (truncated === undefined || truncated === 'length') return undefined;
  return truncated === 'time' ? 'body-timeout' : 'reset';
}

export function validators(response: Pick<Response, 'headers'>): Pick<Visit, 'etag' | 'lastModified'> {
  return addValidators({}, response);
}

type VisitValidators = Draft<Pick<Visit, 'etag' | 'lastModified'>>;

function addValidators(to: VisitValidators, { headers }: Pick<Response, 'headers'>): VisitValidators {
  const etag = headers.get('etag');
  const lastModified = headers.get('last-modified');
  if (etag !== undefined) to.etag = etag;
  if (lastModified !== undefined) to.lastModified = lastModified;
  return to;
}

export function notesOf(page: Page, truncated: boolean, filtered: boolean): PageNotes {
  const { title, mediaType, charset, language, bytes, canonical, noindex, nofollow, noarchive } = page;
  const notes: Draft<PageNotes> = {
    title,
    mediaType,
    charset,
    language,
    bytes,
    noindex,
    nofollow,
    noarchive,
    truncated,
    filtered,
  };
  if (canonical !== undefined) notes.canonical = canonical;
  return notes;
}
