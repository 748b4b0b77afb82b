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

/** A body whose bytes the archive has under another URL is kept as a reference to them. */
function arrivalOf({ ledger, frontier }: Parts, visit: Visit): Arrival {
  const place = visit.record!;
  const twin = frontier.duplicate(visit);
  if (twin === 0) return { place };
  const page = ledger.pages.get(twin)!;
  const known = ledger.pages.known(twin)!;
  return { place, sameAs: { url: page.url, time: known.changed_time } };
}
