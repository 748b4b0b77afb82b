/**
 * Removes from the ledger what the archive has lost, so that the collection can go on. Pages whose newest copy is lost are due
 * at once, and are fetched whatever else is known of them. What is left of a segment that was cut short stays. Repair never
 * invents anything, and never touches a record that can be read.
 */
import { join } from 'node:path';
import { dropParts } from '../../archive/cdxj.ts';
import { listSegments } from '../../archive/segments.ts';
import { committedEnds } from '../../archive/store/segment-store.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { segmentsOf } from '../copies/segments-of.ts';
import { type CollectionReport, WRITTEN_OFF } from './verify.ts';

export interface Repaired {
  /** Copies that the ledger no longer names. */
  readonly copies: number;
  /** Pages that will be fetched again, because they lost their newest copy. */
  readonly pages: number;
}

export function repair(ledger: Ledger, report: CollectionReport, now: number): Repaired {
  using opened = new DisposableStack();
  const archive = opened.adopt(segmentsOf(ledger), each => each.close());
  ledger.begin();
  const pages = report.lost.map(copy => ledger.storage.copies.lose(copy, now)).filter(newest => newest).length;
  noteSealed(ledger);
  for (const { id, length } of ledger.storage.segments.all()) {
    const bytes = report.lengths.get(id);
    if (bytes !== undefined && bytes >= length) continue;
    dropParts(join(ledger.directory, 'archive'), id);
    if (bytes === undefined) {
      ledger.storage.segments.remove(id);
      continue;
    }
    const end = report.ends.get(id) ?? 0;
    archive.cut(id, end);
    ledger.storage.segments.setLength(id, end);
  }
  ledger.settings.set(WRITTEN_OFF, stillThere(ledger, report.damaged));
  ledger.commit();
  return { copies: report.lost.length, pages };
}

/** Segments that were left before their last bytes were noted: the file is right. */
export function noteSealed(ledger: Ledger): void {
  const noted = ledger.storage.segments.all();
  const ends = committedEnds(listSegments(join(ledger.directory, 'archive')), noted);
  for (const { id, length } of noted) if (ends.get(id)! > length) ledger.storage.segments.setLength(id, ends.get(id)!);
}

/** Only damage before the end of its segment is remembered: what is beyond will be written again, and checked then. */
function stillThere(ledger: Ledger, places: readonly string[]): string[] {
  const ends = new Map(ledger.storage.segments.all().map(({ id, length }) => [id, length]));
  return [...new Set(places)].filter(place => {
    const [segment, offset] = place.split(' ').map(Number);
    return offset! < (ends.get(segment!) ?? 0);
  });
}
