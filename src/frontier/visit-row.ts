/** What is known of a page after a visit, as the ledger keeps it. */
import { countsOf, isHashOnly } from '../errand/facts.ts';
import { type Reason, type ReasonCode, reasons } from '../errand/reasons.ts';
import type { Stage, Visit } from '../errand/visit.ts';
import {
  FLAG_CHANGED,
  FLAG_FILTERED,
  FLAG_NOARCHIVE,
  FLAG_NOFOLLOW,
  FLAG_NOINDEX,
  FLAG_SHOWN,
  FLAG_TOLD,
  FLAG_TRUNCATED,
  FLAG_UNSPOKEN,
  type KnownRow,
} from '../ledger/pages/known-row.ts';
import type { Brought } from './brought.ts';
import type { Lane } from './lanes/lane.ts';
import { answered } from './schedule/aliases.ts';
import { wireOf } from './schedule/importance.ts';
import type { Planned } from './schedule/lesson.ts';

const MINUTE = 60_000;

export interface Lesson extends Brought {
  readonly id: number;
  readonly lane: Lane;
  readonly visit: Visit;
  /** What was known before; undefined = first visit. */
  readonly before: KnownRow | undefined;
}

/** What learning found out besides the visit itself. */
interface VisitFindings {
  readonly planned: Planned;
  readonly movedTo: number | null;
  readonly near: number;
  readonly twin: number;
  readonly alias: boolean;
}

export function knownRow(lesson: Lesson, found: VisitFindings): KnownRow {
  const { id, visit, before, stored } = lesson;
  const { page, time } = visit;
  const changed = visit.outcome === 'fetched';
  // If the errand carried only a hash, the outpost has only that hash of an unchanged page, and home knows more.
  const said = visit.facts && before?.facts && isHashOnly(visit.facts) ? undefined : visit.facts;
  const facts = said ?? before?.facts ?? null;
  const counts = said && countsOf(said);
  const retry = retryTime(visit, before);
  return {
    page: id,
    time,
    seen_time: changed || visit.outcome === 'same' ? time : (before?.seen_time ?? null),
    first_time: before?.first_time ?? time,
    changed_time: changed ? time : (before?.changed_time ?? time),
    outcome: visit.outcome,
    reason: visit.reason,
    status: visit.status,
    tries: isSetback(visit) ? (before?.tries ?? 0) + 1 : 0,
    retry_at: retry,
    // A failed visit does not settle the notices.
    pings: visit.outcome === 'failed' ? (before?.pings ?? 0) : 0,
    due: found.planned.due,
    etag: etagsOf(visit, before),
    last_modified: visit.lastModified ?? (visit.status === 304 ? (before?.last_modified ?? null) : null),
    title: page?.title ?? before?.title ?? null,
    media_type: page?.mediaType ?? before?.media_type ?? null,
    charset: page?.charset ?? before?.charset ?? null,
    language: page?.language ?? before?.language ?? null,
    canonical: page ? (page.canonical ?? null) : (before?.canonical ?? null),
    bytes: page?.bytes ?? before?.bytes ?? null,
    wire: wireOf(visit, before),
    flags:
      answered(page ? flagsOf(visit) | shownStill(visit, before) : (before?.flags ?? 0) & ~FLAG_UNSPOKEN, found.alias) |
      changedEver(visit, before) |
      (found.planned.unspoken ? FLAG_UNSPOKEN : 0) |
      toldOf(visit, before),
    ascii_sum: counts?.asciiSum ?? before?.ascii_sum ?? null,
    urls: counts?.urls ?? before?.urls ?? null,
    keywords: counts?.keywords ?? before?.keywords ?? null,
    facts,
    change: found.planned.change,
    moved_to: found.movedTo,
    same_as: changed ? found.twin || null : (before?.same_as ?? null),
    near: changed ? found.near || null : (before?.near ?? null),
    segment: stored?.segment ?? before?.segment ?? null,
    place: stored?.offset ?? before?.place ?? null,
    length: stored?.length ?? before?.length ?? null,
    request_length: stored?.requestLength ?? before?.request_length ?? null,
  };
}

const followedStages: ReadonlySet<Stage | undefined> = new Set(['template', 'noise', 'stamp']);
/** Most entity tags to keep for one content, and most characters of all together, because they travel in a header. */
const MOST_TAGS = 3;
const MOST_TAG_LENGTH = 200;

/** Machines behind one name may each send their own tag for the same content; a request may list them all. */
function etagsOf(visit: Visit, before: KnownRow | undefined): string | null {
  if (visit.etag === undefined) return visit.status === 304 ? (before?.etag ?? null) : null;
  // Older tags stand for other content if a reader sees a difference, even one that is no news.
  const alike = visit.outcome === 'same' && !followedStages.has(visit.stage);
  if (!alike || !before?.etag) return visit.etag;
  const older = before.etag.split(', ').filter(tag => tag !== visit.etag);
  const all = [visit.etag, ...older].slice(0, MOST_TAGS).join(', ');
  return all.length <= MOST_TAG_LENGTH ? all : visit.etag;
}

function flagsOf({ page }: Visit): number {
  if (!page) return 0;
  return (
    (page.noindex ? FLAG_NOINDEX : 0) |
    (page.nofollow ? FLAG_NOFOLLOW : 0) |
    (page.noarchive ? FLAG_NOARCHIVE : 0) |
    (page.truncated ? FLAG_TRUNCATED : 0) |
    (page.filtered ? FLAG_FILTERED : 0)
  );
}

/** The images of a page stay known as long as its stored links are up to date. */
function shownStill({ outcome, stage }: Visit, before: KnownRow | undefined): number {
  return outcome === 'same' && stage !== 'template' && stage !== 'noise' ? (before?.flags ?? 0) & FLAG_SHOWN : 0;
}

function changedEver({ outcome, stage }: Visit, before: KnownRow | undefined): number {
  const changed = before?.seen_time != null && (outcome === 'fetched' || stage === 'template');
  return changed ? FLAG_CHANGED : (before?.flags ?? 0) & FLAG_CHANGED;
}

/** Visits that find nothing new leave it unchanged. */
function toldOf({ outcome, stage }: Visit, before: KnownRow | undefined): number {
  const isNews = outcome === 'same' ? stage === 'template' : outcome !== 'failed' && outcome !== 'refused';
  if (!isNews) return (before?.flags ?? 0) & FLAG_TOLD;
  return before !== undefined && before.pings > 0 ? FLAG_TOLD : 0;
}

/** The visit counts as a failed try. A page that was refused because robots.txt is unreachable is retried, but not for ever. */
function isSetback({ outcome, reason }: Visit): boolean {
  return outcome === 'failed' || outcome === 'gone' || (reasons[reason as ReasonCode]?.retries ?? 0) > 0;
}

/** When to try again, by the table of reasons; null = it is settled. */
function retryTime(visit: Visit, before: KnownRow | undefined): number | null {
  const reason: Reason | undefined = reasons[visit.reason as ReasonCode];
  const tries = before?.tries ?? 0;
  if (!reason || tries >= reason.retries) return null;
  // If the server names a time (Retry-After), we keep to it at every retry.
  const wait = visit.retryAfter > 0 ? visit.retryAfter * 1000 : reason.after * MINUTE * 2 ** tries;
  return visit.time + wait;
}
