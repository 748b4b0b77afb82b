/** Takes one parcel in: its records go to the archive, then each visit goes to the frontier, which writes the ledger. */
import type { Archive, Arrival } from '../archive/archive.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Visit } from '../errand/visit.ts';
import type { Brought } from '../frontier/brought.ts';
import type { Anyone } from '../frontier/errands/elsewhere.ts';
import type { Frontier } from '../frontier/frontier.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Findings } from './judging/judging.ts';
import type { Settled, Verdicts } from './judging/verdicts.ts';
import type { Progress } from './progress.ts';

interface ReceiveParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly frontier: Frontier;
  /** Absent where pages are not compared with stored copies. */
  readonly verdicts?: Verdicts;
}

/** A parcel, and what the comparison of its pages with their stored copies has found. */
export interface Judged {
  readonly parcel: Parcel;
  readonly findings?: Findings | undefined;
}

export function receive(parts: ReceiveParts, { parcel, findings }: Judged, outpost: string, progress: Progress): void {
  const { archive, frontier } = parts;
  if (parcel.server) frontier.errands.news(parcel.server);
  const settled = parcel.visits.map(visit => settle(parts, visit, findings));
  const kept = settled.filter(({ stored }) => stored);
  const whole = kept.length === parcel.visits.filter(({ record }) => record).length;
  const members = whole ? parcel.members : joined(parcel.members, kept);
  const arrivals = (whole ? kept : packed(kept)).map(({ visit }) => arrivalOf(parts, visit));
  const places = kept.length === 0 ? [] : archive.appendParcel(members, arrivals);
  let next = 0;
  for (const each of settled) {
    learn(parts, parcel.errand, each, { outpost, stored: each.stored ? places[next++] : undefined });
    progress.visit(each.visit);
  }
  if (parcel.done) frontier.errands.finish(parcel.errand);
}

/** Decides whether a visit brought news, and whether its record is stored. */
function settle({ verdicts }: ReceiveParts, visit: Visit, findings: Findings | undefined): Settled {
  const stored = visit.record !== undefined;
  return verdicts?.settle(visit, findings?.found.get(visit.url)) ?? { visit, stored, brought: {} };
}

function learn({ frontier, verdicts }: ReceiveParts, errand: string, settled: Settled, brought: Brought): void {
  const looks = verdicts?.looks;
  const second = looks !== undefined && looks.size > 0 && looks.has(frontier.admission.find(settled.visit.url));
  const learned = frontier.errands.learn(errand, settled.visit, { ...settled.brought, ...brought, second });
  verdicts?.learned(settled, learned);
}

/** The members of these visits only, one after the other. */
function joined(members: Uint8Array, kept: readonly Settled[]): Uint8Array {
  return Buffer.concat(
    kept.map(({ visit: { record } }) => members.subarray(record!.offset, record!.offset + record!.length)),
  );
}

/** The visits, with their places in what joined() returns. */
function packed(kept: readonly Settled[]): Settled[] {
  let offset = 0;
  return kept.map(each => {
    const record = { ...each.visit.record!, offset };
    offset += record.length;
    return { ...each, visit: { ...each.visit, record } };
  });
}

/**
 * Does the same for a parcel from another machine, which may hold anything. It takes one visit after the other, because a page
 * that the outpost found by itself becomes known only when the page that links to it has been learned. Visits that nobody
 * asked for are neither kept nor counted; it returns how many there were.
 */
export function receiveWarily(
  parts: ReceiveParts,
  { parcel, findings }: Judged,
  from: ParcelSender,
  progress: Progress,
): number {
  const { archive, frontier } = parts;
  if (parcel.server?.origin === from.origin) frontier.errands.news(parcel.server, from.machine);
  let unwanted = 0;
  for (const visit of parcel.visits) {
    if (!frontier.errands.wants(parcel.errand, visit)) {
      unwanted++;
      continue;
    }
    // Another machine may reach a page that this one cannot.
    if (frontier.errands.sendElsewhere(parcel.errand, visit, from, from.anyone)) continue;
    const settled = settle(parts, visit, findings);
    const stored = settled.stored ? appendOne(parts, archive, parcel.members, settled.visit) : undefined;
    learn(parts, parcel.errand, settled, { outpost: from.outpost, stored });
    progress.visit(settled.visit);
  }
  if (parcel.done) frontier.errands.finish(parcel.errand);
  return unwanted;
}

export interface ParcelSender {
  readonly outpost: string;
  /** Our own outpost that delivered the parcel; `outpost` may be one below it. */
  readonly machine: string;
  /** The server that the errand is about. */
  readonly origin: string;
  readonly anyone: Anyone;
}

function appendOne(parts: ReceiveParts, archive: Archive, members: Uint8Array, visit: Visit) {
  const { offset, length, requestLength } = visit.record!;
  const { sameAs } = arrivalOf(parts, visit);
  const arrival: Arrival = { place: { offset: 0, length, requestLength }, ...(sameAs && { sameAs }) };
  return archive.appendParcel(members.subarray(offset, offset + length), [arrival])[0];
}

/** If the archive has the same body under another URL, the record becomes a reference to it. */
function arrivalOf({ ledger, frontier }: ReceiveParts, visit: Visit): Arrival {
  const place = visit.record!;
  const twin = frontier.learning.duplicate(visit);
  if (twin === 0) return { place };
  const page = ledger.pages.get(twin)!;
  const known = ledger.pages.known(twin)!;
  return { place, sameAs: { url: page.url, time: known.changed_time } };
}
