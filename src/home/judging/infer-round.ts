/** When copies are inferred (inference.ts): at the end of a round, and now and then while watching. */
import { type Clock, HOUR } from '../../base/clock.ts';
import type { Home } from '../home.ts';
import type { Partition } from '../partitions/partition.ts';
import type { Supply } from '../supply.ts';

interface InferParts {
  readonly home: Home;
  readonly clock: Pick<Clock, 'ticks'>;
}

/** Milliseconds between two inferences of a watch. */
const WATCHING = HOUR / 6;

/** The round, and what follows from it for pages that it did not fetch. */
export function withInference(supply: Supply, parts: InferParts, kind: 'refresh' | 'watch'): Supply {
  let state: 'open' | 'busy' | 'done' = 'open';
  let last = parts.clock.ticks();
  const begin = () => {
    state = 'busy';
    infer(parts).finally(() => {
      state = 'done';
    });
  };
  return {
    get left() {
      return supply.left;
    },
    fill() {
      // It is the last act of a round: pages that are due again by then belong to the next.
      if (kind === 'watch' || state === 'open') supply.fill();
      if (kind !== 'watch' || state === 'busy' || parts.clock.ticks() - last < WATCHING) return;
      last = parts.clock.ticks();
      begin();
    },
    worthWaiting() {
      if (kind === 'refresh' && state !== 'open') return state === 'busy';
      if (supply.worthWaiting()) return true;
      if (kind === 'refresh') begin();
      return state === 'busy';
    },
  };
}

async function infer({ home }: InferParts): Promise<void> {
  try {
    await home.order(() => {}); // the judge reads what is committed
    for (const partition of [...home.partitions]) await inferIn(home, partition);
  } catch {
    // The run has ended: what would have been inferred is fetched in its time.
  }
}

async function inferIn(home: Home, partition: Partition): Promise<void> {
  const { id, ledger, judging } = partition;
  const isHere = () => home.partitions.of(id) === partition;
  const rows = isHere() ? await judging.infer() : [];
  if (rows.length === 0) return;
  await home.order(() => {
    if (!isHere()) return; // another machine infers by what it has seen itself
    for (const row of rows) {
      const known = ledger.pages.known(row.page);
      // It may have been looked at meanwhile.
      if (known?.segment === row.segment && known.place === row.place && known.seen_time! < row.time)
        ledger.storage.inferred.put(row);
    }
  });
}
