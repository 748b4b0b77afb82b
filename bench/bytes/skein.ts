/** Skein over the recorded days: one crawl of day 0, then a round of refresh a day, with the sites' own clock. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOUR } from '../../src/base/clock.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { defaults } from '../../src/cli/options/options.ts';
import type { FreshSummary } from '../../src/engine/keep-fresh.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { dayOf, type Fresh, type Freshness, type Replay, type Traffic, timeOf } from './replay.ts';

type Chosen = Parameters<typeof keepFresh>[1];

export interface DayCost {
  readonly traffic: Traffic;
  /** By host, by the labels. */
  readonly fresh: ReadonlyMap<string, Fresh>;
  /** What Skein says of the round. */
  readonly said: FreshSummary;
}

/** What a user asks for. */
export type Aim = { readonly budget: string } | { readonly freshness: number };

const clockShift = new SharedArrayBuffer(8);

function chosen(data: string, more: Record<string, unknown> = {}): Chosen {
  const loopback = { data, pace: 0, connections: 4, threads: 1, allowPrivate: true };
  return { ...defaults(), ...loopback, ...more } as unknown as Chosen;
}

/** An hour after the day's end, so that what happened on the day has happened. */
function setClock(day: number): void {
  new Float64Array(clockShift)[0] = timeOf(day) + HOUR - Date.now();
}

/** Crawls day 0 and `more`; the directory serves as the start of every way to go on. */
export async function firstCrawl(replay: Replay, more: readonly string[] = []): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-bytes-'));
  await replay.setDay(0);
  setClock(0);
  const opened = await openHome(chosen(directory), [...replay.urlsOf(0), ...more], { clockShift });
  try {
    await opened.run(crawlSupply(opened, 0));
  } finally {
    await opened.close();
  }
  return directory;
}

export async function skeinDays(
  replay: Replay,
  truth: Freshness,
  start: string,
  plan: { readonly days: number; readonly aim: Aim; readonly onDay: (day: number, cost: DayCost) => void },
): Promise<DayCost[]> {
  const directory = `${start}-${JSON.stringify(plan.aim).replace(/\W/g, '')}`;
  cpSync(start, directory, { recursive: true });
  const costs: DayCost[] = [];
  for (let day = 1; day <= plan.days; day++) {
    await replay.setDay(day);
    setClock(day);
    const said = await keepFresh('refresh', chosen(directory, { ...plan.aim }), { clockShift });
    const cost = { traffic: await replay.traffic(), fresh: freshnessOf(replay, truth, directory, day), said };
    costs.push(cost);
    plan.onDay(day, cost);
  }
  rmSync(directory, { recursive: true });
  return costs;
}

/** A page is fresh when the copy that Skein would hand out is that of the day. */
function freshnessOf(replay: Replay, truth: Freshness, directory: string, day: number): Map<string, Fresh> {
  const ledger = openLedger(directory);
  const copies = new Map<string, number>();
  for (const row of ledger['database']
    .prepare(
      // The newest copy is a stored version, or what differs from it by no news.
      `SELECT p.url, max(coalesce((SELECT v.time FROM visits v WHERE v.page = k.page AND v.segment = k.segment
           AND v.place = k.place), k.changed_time),
         coalesce((SELECT f.time FROM followed f WHERE f.page = k.page), 0)) AS time
       FROM known k JOIN pages p ON p.id = k.page WHERE k.segment IS NOT NULL`,
    )
    .iterate()) {
    copies.set(row['url'] as string, dayOf(row['time'] as number));
  }
  ledger.close();
  const urls = replay.urlsOf(day);
  return truth.on(day, index => copies.get(urls[index]!));
}
