/**
 * Journeys run over collections of one partition. With SKEIN_TEST_PARTITIONS=16 in the environment every collection that they
 * make has sixteen, and what they find must be the same (partitions-main.test.ts).
 */
import { partitionOfUrl } from '../../src/base/partition.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { readCollection } from '../../src/ledger/collection/collection.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

const wanted = process.env['SKEIN_TEST_PARTITIONS'];

/** Options of an engine that makes a collection; a test that names a number itself keeps it. */
export function withPartitions<T extends Record<string, unknown>>(given: T): T {
  const set = (given['set'] ?? []) as readonly string[];
  const named = given['partitions'] !== undefined || set.some(each => each.startsWith('partitions='));
  return wanted === undefined || named ? given : { ...given, partitions: Number(wanted) };
}

/** The same for a command line. */
export function withPartitionsSet(args: readonly string[]): readonly string[] {
  const named = args.some(each => each.startsWith('partitions=')) || args.includes('--help');
  return wanted === undefined || named || args[0] !== 'crawl' ? args : [...args, '--set', `partitions=${wanted}`];
}

/** The ledger that knows a URL. */
export function ledgerOf(directory: string, url: string): Ledger {
  const { here, partitions } = readCollection(directory);
  const place = here.find(({ id }) => id === partitionOfUrl(url, partitions));
  return openLedger(place?.directory ?? directory);
}

/** The directories that have a ledger and an archive. */
export function partitionsOf(directory: string): string[] {
  return readCollection(directory).here.map(place => place.directory);
}

/** What `look` finds in each ledger. */
export async function inEach<T>(directory: string, look: (ledger: Ledger) => T | Promise<T>): Promise<Awaited<T>[]> {
  const found: Awaited<T>[] = [];
  for (const place of partitionsOf(directory)) {
    const ledger = openLedger(place);
    try {
      found.push(await look(ledger));
    } finally {
      ledger.close();
    }
  }
  return found;
}

/** The ledger of a collection whose pages are all in one partition. */
export function onlyLedger(directory: string): Ledger {
  const { here } = readCollection(directory);
  if (here.length < 2) return openLedger(directory);
  const used = here.filter(place => {
    using ledger = opened(place.directory);
    return ledger.ledger.pages.own > 0;
  });
  if (used.length > 1) throw new Error(`${used.length} partitions have pages: which of them is meant?`);
  return openLedger((used[0] ?? here[0]!).directory);
}

function opened(directory: string): Disposable & { readonly ledger: Ledger } {
  const ledger = openLedger(directory);
  return { ledger, [Symbol.dispose]: () => ledger.close() };
}
