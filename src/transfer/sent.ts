/**
 * A parcel as it travels home from another machine: what a visit says beyond what home knows or can find out by itself.
 * An unchanged page is a bit. A page that is kept travels as header and body without content coding, so that zstd can
 * hold it against an older version; its facts, links and notes are read from the body again at home, which also means
 * that an outpost cannot lie about them.
 */
import { crc32 } from 'node:zlib';
import { ByteWriter } from '../errand/bytes.ts';
import type { Errand } from '../errand/errand.ts';
import type { Known } from '../errand/known.ts';
import type { ServerNews } from '../errand/parcel.ts';
import { writeLinks, writeNotes } from '../errand/parcel-codec.ts';
import type { Visit } from '../errand/visit.ts';

/** What home needs to write the records of a page again. */
export interface SentPage {
  readonly protocol: string;
  readonly address: string;
  readonly truncated: string;
  readonly requestHead: Uint8Array;
  /** As the archive keeps it. */
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  /** Digest of the body as it came, 16 bytes, where `body` has lost its content coding; else empty. */
  readonly raw: Uint8Array;
}

export interface SentVisit {
  /** Without `record`; without facts, links, notes and validators where they are to be derived. */
  readonly visit: Visit;
  readonly page?: SentPage;
  /** Checksum of what is to be derived from the page; absent = the visit is complete. */
  readonly derive?: number;
}

export interface Sent {
  readonly visits: readonly SentVisit[];
  readonly server?: ServerNews;
}

export type Derived = Pick<Visit, 'facts' | 'links' | 'page' | 'etag' | 'lastModified'>;

/** Over everything that is derived, so that two versions of the analysis cannot disagree unnoticed. */
export function derivedCheck(derived: Derived): number {
  const out = new ByteWriter(1 << 14);
  out.bytes(derived.facts ?? new Uint8Array());
  if (derived.page) writeNotes(out, derived.page);
  if (derived.links) writeLinks(out, derived.links);
  out.text(derived.etag ?? '');
  out.text(derived.lastModified ?? '');
  return crc32(out.finish());
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
  const { url, time, outcome, reason, status, stage, depth, retryAfter, cost, facts, mask } = visit;
  const silent = status === 304; // nothing of validators is said, and nothing changes
  const etag = silent ? undefined : news(visit.etag, tagOf(known));
  const lastModified = silent ? undefined : news(visit.lastModified, known.lastModified);
  return {
    ...{ url, time, outcome, reason, status, depth, retryAfter, cost },
    ...(stage && { stage }),
    ...(facts && !equal(facts, known.facts) && { facts }),
    ...(mask && !equal(mask, known.mask) && { mask }),
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
  const { facts, mask, etag, lastModified, depth, retryAfter } = visit;
  const said = facts ?? mask ?? etag ?? lastModified;
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
