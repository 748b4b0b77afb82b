/**
 * The one way that every notice takes into the schedule, whatever told it: what we have already is no news, what we do not
 * know waits like any page that a sitemap names, and what we know moves forward by what such notices have been worth.
 */
import { unpackFacts } from '../../errand/facts.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isUnspoken, type KnownRow } from '../../ledger/pages/known-row.ts';
import type { Notice, NoticeKind } from '../../notices/notice.ts';

/** Milliseconds by which a site's clock and ours may differ. */
const CLOCKS = 60_000;

interface Applied {
  /** Pages that are looked at sooner, and those that wait for their first visit. */
  readonly moved: number;
  readonly added: number;
  /** Notices of what we have already. */
  readonly known: number;
}

/** Kinds of faces that name every page of which they tell. */
const naming: ReadonlySet<NoticeKind> = new Set(['cursor', 'resourcesync']);

/** `notices`: believable ones (src/notices/notice.ts). In a batch. */
export function applyNotices(
  { ledger, frontier }: { readonly ledger: Ledger; readonly frontier: Frontier },
  notices: readonly Notice[],
  now: number,
): Applied {
  const counts = { moved: 0, added: 0, known: 0 };
  for (const notice of notices) {
    const id = frontier.admission.find(notice.url);
    const known = id === 0 ? undefined : ledger.pages.known(id);
    if (id !== 0 && notice.hidden) ledger.links.hidden.add(id, notice.hidden);
    if (known && naming.has(notice.kind)) heed(ledger, known, notice.change !== 'deleted');
    if (id === 0) counts.added += take(ledger, frontier, notice, now);
    else if (!known) counts.added += expected(ledger, id, { kind: notice.kind, time: now });
    else if (isHeld(notice, known)) counts.known++;
    else if (frontier.schedule.ping(id, now, notice.kind, notice.content !== undefined || notice.sha256 !== undefined))
      counts.moved++;
  }
  return counts;
}

/** A site that tells of its pages tells of these not at all. In a batch. */
export function noteUnspoken(
  { ledger, frontier }: { readonly ledger: Ledger; readonly frontier: Frontier },
  urls: readonly string[],
): void {
  for (const url of urls) {
    const known = ledger.pages.known(frontier.admission.find(url));
    if (known) heed(ledger, known, false);
  }
}

function heed(ledger: Ledger, known: KnownRow, spoken: boolean): void {
  if (isUnspoken(known) === spoken) ledger.schedule.told.setSpoken(known.page, spoken);
}

function take(ledger: Ledger, frontier: Frontier, { url, change, hidden, kind }: Notice, time: number): number {
  if (change === 'deleted') return 0;
  const id = frontier.admission.one(url, { page: 0, depth: 1, hops: 0, time, nofollow: false });
  if (id === 0) return 0;
  if (hidden) ledger.links.hidden.add(id, hidden);
  return expected(ledger, id, { kind, time });
}

/** 1 for a page that is named for the first time and waits for its first visit, as one does that a link led to before it was there. */
function expected(ledger: Ledger, id: number, { kind, time }: Pick<Notice, 'kind' | 'time'>): number {
  if (ledger.pages.get(id)?.refused !== null) return 0;
  const before = ledger.schedule.told.of(id);
  if (before[kind] === undefined) ledger.schedule.told.put(id, { ...before, [kind]: 1 }, time);
  return Object.keys(before).length === 0 ? 1 : 0;
}

/** The version that the notice speaks of is the one we have, or an older one. */
function isHeld({ change, content, sha256, time }: Notice, known: KnownRow): boolean {
  if (change === 'deleted') return known.outcome === 'gone';
  if (known.outcome === 'gone') return false;
  const facts = known.facts ? unpackFacts(known.facts) : undefined;
  if (facts && content !== undefined) return hex(facts.content).startsWith(content);
  if (facts && sha256?.startsWith(hex(facts.raw))) return true;
  return time > 0 && known.seen_time !== null && time < known.seen_time - CLOCKS;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
