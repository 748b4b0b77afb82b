/**
 * A parcel as it travels home from another machine: what a visit says beyond what home knows or can find out by itself.
 * An unchanged page is a bit. A page that is kept travels as header and body without content coding, so that zstd can
 * hold it against an older version; its facts, links and notes are always read from the body at home, so that an outpost
 * cannot lie about them.
 */
import type { Errand } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import type { ServerNews } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';

/** What home needs to write the records of a page again. */
export interface SentPage {
  readonly protocol: string;
  readonly address: string;
  readonly truncated: string;
  readonly requestHead: Uint8Array;
  /** As the archive keeps it. */
  readonly head: Uint8Array;
  readonly body: Uint8Array;
}

export interface SentVisit {
  /** Without `record`; where there is a page also without what is derived from it. */
  readonly visit: Visit;
  readonly page?: SentPage;
}

export interface Sent {
  readonly visits: readonly SentVisit[];
  readonly server?: ServerNews;
}

/** The visit with nothing in it that is derived. */
export function withoutDerived({ facts, links, page, etag, lastModified, record, ...rest }: Visit): Visit {
  return rest;
}

/** Pages of an errand by URL. */
export function indexOf(errand: Errand): ReadonlyMap<string, number> {
  return new Map(errand.pages.map((known, index) => [known.url, index]));
}

/**
 * What the visit of an unchanged page says that is not known of it; undefined for other visits. A validator that the
 * server no longer sends is written as an empty one.
 */
export function unchanged(visit: Visit, known: Known): Visit | undefined {
  if (visit.outcome !== 'same') return undefined;
  const { url, time, outcome, reason, status, stage, depth, retryAfter, cost, facts } = visit;
  const silent = status === 304; // nothing of validators is said, and nothing changes
  const etag = silent ? undefined : news(visit.etag, tagOf(known));
  const lastModified = silent ? undefined : news(visit.lastModified, known.lastModified);
  return {
    ...{ url, time, outcome, reason, status, depth, retryAfter, cost },
    ...(stage && { stage }),
    ...(facts && !equal(facts, known.facts) && { facts }),
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  };
}

function news(said: string | undefined, before: string | undefined): string | undefined {
  return said === before ? undefined : (said ?? '');
}

/** What the server said of the version that is known. */
export function validatorsOf(known: Known): Pick<Visit, 'etag' | 'lastModified'> {
  const etag = tagOf(known);
  const { lastModified } = known;
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

/** Home lists the newest tag of a content first. */
function tagOf(known: Known): string | undefined {
  return known.etag?.split(', ')[0];
}

/** Whether a visit that went through `unchanged` says nothing more than its place, time and cost. */
export function isBare(visit: Visit, known: Known): boolean {
  const { facts, etag, lastModified, depth, retryAfter } = visit;
  const said = facts ?? etag ?? lastModified;
  return visit.outcome === 'same' && said === undefined && depth === known.depth && retryAfter === 0;
}

/** The opposite of `unchanged`: the visit as the crawler wrote it, but for links and notes, which home has. */
export function restored(visit: Visit, known: Known): Visit {
  if (visit.outcome !== 'same' || visit.status === 304) return visit;
  const { facts = known.facts, etag = tagOf(known), lastModified = known.lastModified, ...rest } = visit;
  return {
    ...rest,
    ...(facts && { facts }),
    ...(etag && { etag }),
    ...(lastModified && { lastModified }),
  };
}

function equal(one: Uint8Array, other: Uint8Array | undefined): boolean {
  return other !== undefined && Buffer.compare(one, other) === 0;
}
