/** The segments of a partition, wherever they lie. */
import { join } from 'node:path';
import { openDisk } from '../../archive/store/disk-segments.ts';
import type { SegmentStore } from '../../archive/store/segment-store.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { copiesAt, offsiteOf } from '../offsite/offsite.ts';
import { OffsiteSegments } from '../offsite/offsite-segments.ts';

export function segmentsOf(ledger: Pick<Ledger, 'directory' | 'settings' | 'storage'>): SegmentStore {
  const { directory } = ledger;
  const offsite = offsiteOf(ledger);
  if (!offsite) return openDisk(join(directory, 'archive'));
  return new OffsiteSegments({
    ...{ directory, open: copiesAt(offsite) },
    named: () => ledger.storage.segments.all().map(({ id }) => id),
  });
}
