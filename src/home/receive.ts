/** Unpacks one parcel at home: records to the archive, then each visit to the frontier, which writes the ledger. */
import type { Archive, Arrival } from '../archive/archive.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Visit } from '../errand/visit.ts';
import type { Frontier } from '../frontier/frontier.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Progress } from './progress.ts';

interface Parts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly frontier: Frontier;
}

export function receive(parts: Parts, parcel: Parcel, outpost: string, progress: Progress): void {
  const { archive, frontier } = parts;
  if (parcel.server) frontier.news(parcel.server);
  const kept = parcel.visits.filter(visit => visit.record !== undefined);
  const arrivals = kept.map(visit => arrivalOf(parts, visit));
  const places = kept.length === 0 ? [] : archive.appendParcel(parcel.members, arrivals);
  let next = 0;
  for (const visit of parcel.visits) {
    frontier.learn(parcel.errand, visit, visit.record ? places[next++] : undefined, outpost);
    progress.visit(visit);
  }
  if (parcel.done) frontier.finish(parcel.errand);
}

/**
 * The same for a parcel from another machine, which may hold anything: one visit after the other, because a page that
 * the outpost found by itself is known only once the page that links to it was learned. What was not asked for is not
 * kept, and not counted. Returns how many such visits there were.
 */
export function receiveWarily(parts: Parts, parcel: Parcel, from: Sender, progress: Progress): number {
  const { archive, frontier } = parts;
  if (parcel.server?.origin === from.origin) frontier.news(parcel.server);
  let unwanted = 0;
  for (const visit of parcel.visits) {
    if (!frontier.wants(parcel.errand, visit)) {
      unwanted++;
      continue;
    }
    const place = visit.record && appendOne(parts, archive, parcel.members, visit);
    frontier.learn(parcel.errand, visit, place, from.outpost);
    progress.visit(visit);
  }
  if (parcel.done) frontier.finish(parcel.errand);
  return unwanted;
}

export interface Sender {
  readonly outpost: string;
  /** The server that the errand is about. */
  readonly origin: string;
}

function appendOne(parts: Parts, archive: Archive, members: Uint8Array, visit: Visit) {
  const { offset, length, requestLength } = visit.record!;
  const { sameAs } = arrivalOf(parts, visit);
  const arrival: Arrival = { place: { offset: 0, length, requestLength }, ...(sameAs && { sameAs }) };
  return archive.appendParcel(members.subarray(offset, offset + length), [arrival])[0];
}

/** A body whose bytes the archive has under another URL is kept as a reference to them. */
function arrivalOf({ ledger, frontier }: Parts, visit: Visit): Arrival {
  const place = visit.record!;
  const twin = frontier.duplicate(visit);
  if (twin === 0) return { place };
  const page = ledger.pages.get(twin)!;
  const known = ledger.pages.known(twin)!;
  return { place, sameAs: { url: page.url, time: known.changed_time } };
}
