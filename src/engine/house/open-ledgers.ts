/** All ledgers of a collection on this disk, for commands that read them, or write while no run works there. */
import { isBegun, readCollection } from '../../ledger/collection/collection.ts';
import { Ledger, lockCollection } from '../../ledger/ledger.ts';
import { openLedger, requireCollection } from '../open-ledger.ts';

/** Calls `look` with each ledger, partition after partition. */
export function eachLedger<T>(data: string, look: (ledger: Ledger) => T): T[] {
  requireCollection(data);
  const places = readCollection(data).here.filter(isBegun);
  return places.map(({ directory }) => {
    const ledger = openLedger(directory);
    try {
      return look(ledger);
    } finally {
      ledger.close();
    }
  });
}

/** Writes to all of them: `work` runs in a batch of each; then all are committed, or none. */
export function changeLedgers<T>(data: string, work: (ledgers: readonly Ledger[]) => T): T {
  requireCollection(data); // a directory without a collection is an error, not a new collection
  const { here, partitions } = readCollection(data);
  using opened = new DisposableStack();
  if (partitions > 1) opened.adopt(lockCollection(data), lock => lock.close());
  const ledgers = here
    .filter(isBegun)
    .map(({ directory }) => opened.adopt(new Ledger(directory, 'write'), ledger => ledger.close()));
  try {
    for (const ledger of ledgers) ledger.begin();
    const result = work(ledgers);
    for (const ledger of ledgers) ledger.commit();
    return result;
  } catch (error) {
    for (const ledger of ledgers) ledger.abandon();
    throw error;
  }
}
