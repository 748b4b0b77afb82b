/**
 * From an answer to a visit: what the status means, what the body says, whether anything changed, and whether it is
 * kept. Every branch ends in one Visit; none throws on purpose.
 */

import { normalise } from '../base/url.ts';
import type { Errand } from '../errand/errand.ts';
import { packFacts, unpackFacts } from '../errand/facts.ts';
import type { Known } from '../errand/known.ts';
import type { ReasonCode } from '../errand/reasons.ts';
import type { compileKeep } from '../errand/scope.ts';
import type { Cost, Outcome, PageNotes, Visit } from '../errand/visit.ts';
import { payloadDigest } from '../errand/warc.ts';
import { analyse } from './analyse.ts';
import { compare } from './compare.ts';
import { decodeBody, decodeLargeBody, largeBody } from './fetch/decode.ts';
import { type Effect, retryAfter } from './pace.ts';
import type { Kept } from './pack.ts';
import { readSitemap } from './sitemaps.ts';
import type { Answer, Page, Response } from './stages.ts';
import type { Tools } from './tools.ts';

/** Redirects in a row that are followed before it is called a loop. */
const MAX_HOPS = 10;

/** What a page is concluded for. */
export interface Job {
  readonly errand: Errand;
  readonly tools: Tools;
  readonly keep: ReturnType<typeof compileKeep>;
}

export interface Concluded {
  readonly visit: Visit;
  /** What is to be archived of it. */
  readonly kept?: Kept;
  /** What the visit tells about the server's health. */
  readonly effect: Effect;
}

export async function conclude(job: Job, known: Known, answer: Answer): Promise<Concluded> {
  const time = job.tools.clock.now();
  if (answer.kind === 'failure') {
    const outcome: Outcome = answer.reason === 'private-address' || answer.reason === 'bad-url' ? 'refused' : 'failed';
    return ended(known, time, answer, { outcome, reason: answer.reason });
  }
  const { status } = answer;
  if (status === 304)
    return ended(known, time, answer, { outcome: 'same', reason: 'not-modified', stage: 'validator' });
  if (status >= 300 && status < 400) return moved(known, time, answer);
  if (status === 404 || status === 410) {
    return ended(known, time, answer, { outcome: 'gone', reason: status === 404 ? 'http-404' : 'http-410' });
  }
  if (status >= 400) return ended(known, time, answer, { outcome: 'failed', reason: errorReason(status) });
  if (status < 200 || status === 204 || status === 205) {
    return ended(known, time, answer, { outcome: 'failed', reason: 'http-odd' });
  }
  return read(job, known, answer, time);
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
  return { visit, effect: { status: 0, failed: false, firstByteMs: 0, retryAfterMs: 0, address: '' } };
}

/** An answer came, and analysis failed on it. */
export function unusable(known: Known, time: number, answer: Answer): Concluded {
  return ended(known, time, answer, { outcome: 'failed', reason: 'crashed' });
}

/** The page was read, and packing failed on it. */
export function crashed(known: Known, { visit, effect }: Concluded): Concluded {
  const { time, status, depth, cost } = visit;
  return {
    visit: { url: known.url, time, status, depth, cost, outcome: 'failed', reason: 'crashed', retryAfter: 0 },
    effect,
  };
}

type Ending = Pick<Visit, 'outcome'> & { reason: string } & Partial<Omit<Visit, 'outcome' | 'reason'>>;

function ended(known: Known, time: number, answer: Answer, ending: Ending): Concluded {
  const { up, down, total, firstByte } = answer.wire;
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
  const failed = ending.outcome === 'failed';
  return {
    visit,
    effect: {
      status: visit.status,
      failed,
      firstByteMs: firstByte,
      retryAfterMs: wait,
      address: response?.address ?? '',
    },
  };
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
  const location = normalise(response.headers.get('location') ?? '', known.url);
  if (!response.headers.has('location') || location === undefined) {
    return ended(known, time, response, { outcome: 'failed', reason: 'http-odd' });
  }
  if (known.hops >= MAX_HOPS || location === known.url) {
    return ended(known, time, response, { outcome: 'failed', reason: 'redirect-loop' });
  }
  return ended(known, time, response, { outcome: 'moved', reason: 'redirect', location });
}

/** A body came: decode, analyse, compare, decide what is kept. */
async function read(job: Job, known: Known, response: Response, time: number): Promise<Concluded> {
  const coding = response.headers.get('content-encoding');
  const { bodyBytes } = job.errand.limits;
  const decode = response.body.length > largeBody ? decodeLargeBody : decodeBody;
  const decoded = await decode(response.body, coding, { bodyBytes });
  if (decoded.kind === 'failed') return ended(known, time, response, { outcome: 'failed', reason: decoded.reason });
  if (known.role === 'sitemap') {
    return ended(known, time, response, {
      outcome: 'fetched',
      reason: 'ok',
      links: readSitemap(known.url, decoded.bytes),
    });
  }
  const digest = payloadDigest(response.body);
  const page = analyse(
    { url: known.url, headers: response.headers, body: decoded.bytes, raw: digest.subarray(0, 16) },
    { focus: job.errand.scope.focus, agentToken: job.tools.agentToken },
  );
  const truncated = response.truncated !== undefined || decoded.truncated !== undefined;
  const before = known.facts ? unpackFacts(known.facts) : undefined;
  const change = compare(job.errand.detector, before, page.facts);
  const notes = notesOf(page, truncated, !job.keep({ url: known.url, page }));
  const ending: Ending = {
    outcome: change.changed ? 'fetched' : 'same',
    reason: change.changed ? 'ok' : 'unchanged',
    stage: change.stage,
    where: change.where,
    facts: packFacts(page.facts),
    page: notes,
    links: page.links,
    ...validators(response),
  };
  const concluded = ended(known, time, response, ending);
  if (!change.changed || notes.filtered || notes.noarchive) return concluded;
  return { ...concluded, kept: { url: known.url, time, digest, response } };
}

function validators(response: Response): Pick<Visit, 'etag' | 'lastModified'> {
  const etag = response.headers.get('etag');
  const lastModified = response.headers.get('last-modified');
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

function notesOf(page: Page, truncated: boolean, filtered: boolean): PageNotes {
  const { title, mediaType, charset, language, bytes, canonical, noindex, nofollow, noarchive } = page;
  return {
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
    ...(canonical !== undefined && { canonical }),
  };
}
