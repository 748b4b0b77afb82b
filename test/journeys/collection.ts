/**
 * A collection in a temporary directory, with time that passes for it and for a synthetic web alike: crawled once, then
 * kept fresh day after day. Everything runs as it does for a user: threads, sockets, ledger and archive on disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, DAY, shiftedClock } from '../../src/base/clock.ts';
import { fingerprint } from '../../src/base/url.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { defaults } from '../../src/cli/options/options.ts';
import type { FreshSummary } from '../../src/engine/keep-fresh.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { VisitRow } from '../../src/ledger/visits.ts';
import { ledgerOf, onlyLedger, withPartitions } from './how-many-partitions.ts';

export type Chosen = Parameters<typeof keepFresh>[1];

/** The defaults of every option, and what a test on loopback needs. */
export function chosen(data: string, more: Record<string, unknown> = {}): Chosen {
  const loopback = { pace: 0, connections: 4, threads: 1, allowPrivate: true, secondLook: 0 };
  return withPartitions({ ...defaults(), data, ...loopback, ...more }) as Chosen;
}

export interface Collection extends Disposable {
  readonly directory: string;
  readonly clock: Clock;
  /** For a home that a test opens itself. */
  readonly clockShift: SharedArrayBuffer;
  /** Lets days pass, for the web too when it has this clock. */
  pass(days: number): void;
  crawl(seeds: readonly string[], more?: Record<string, unknown>): Promise<void>;
  /** One round of refresh. */
  refresh(more?: Record<string, unknown>): Promise<FreshSummary>;
  /** Looks into the ledger of the partition that has the pages. */
  look<T>(at: (ledger: Ledger) => T): T;
  visits(url: string): VisitRow[];
}

export function makeCollection(): Collection {
  const directory = mkdtempSync(join(tmpdir(), 'skein-journey-'));
  const clockShift = new SharedArrayBuffer(8);
  const shift = new Float64Array(clockShift);
  const look = <T>(at: (ledger: Ledger) => T, ledger = onlyLedger(directory)): T => {
    try {
      return at(ledger);
    } finally {
      ledger.close();
    }
  };
  return {
    directory,
    clock: shiftedClock(clockShift),
    clockShift,
    pass(days) {
      shift[0]! += days * DAY;
    },
    async crawl(seeds, more = {}) {
      const opened = await openHome(chosen(directory, more), seeds, { clockShift });
      try {
        await opened.run(crawlSupply(opened, 0));
      } finally {
        await opened.close();
      }
    },
    refresh: (more = {}) => keepFresh('refresh', chosen(directory, more), { clockShift }),
    look: at => look(at),
    visits: url =>
      look(
        ledger => {
          const { high, low } = fingerprint(url, { high: 0, low: 0 });
          const page = ledger.pages.find(high, low);
          return page ? ledger.visits.of(page.id) : [];
        },
        ledgerOf(directory, url),
      ),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
