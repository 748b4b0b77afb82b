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
import { openCopies } from '../../src/home/copies/copies.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openBlobs } from '../histories.ts';
import { asServed, isSameForReaders } from '../truth/copies.ts';
import { dayOf, type Fresh, type Freshness, pagesOf, type Replay, type Traffic, timeOf } from './replay.ts';

type Chosen = Parameters<typeof keepFresh>[1];

export interface DayCost {
  readonly traffic: Traffic;
  /** By host, by the labels. */
  readonly fresh: ReadonlyMap<string, Fresh>;
  /** Copies that were inferred, those of them that a reader could not tell from the day's page, and those that were right before. */
  readonly inferred: { readonly pages: number; readonly right: number; readonly spoiled: number };
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
    const cost = { traffic: await replay.traffic(), ...(await freshnessOf(replay, truth, directory, day)), said };
    costs.push(cost);
    plan.onDay(day, cost);
  }
  rmSync(directory, { recursive: true });
  return costs;
}

/** A page is fresh when the copy that Skein would hand out, fetched or inferred, is that of the day. */
async function freshnessOf(
  replay: Replay,
  truth: Freshness,
  directory: string,
  day: number,
): Promise<Pick<DayCost, 'fresh' | 'inferred'>> {
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
  const guesses = await inferredCopies(ledger);
  ledger.close();
  const urls = replay.urlsOf(day);
  const blob = openBlobs();
  let [right, spoiled] = [0, 0];
  pagesOf(day).forEach((page, index) => {
    const url = urls[index]!;
    const guess = guesses.get(url);
    if (!guess) return;
    if (isSameForReaders(guess, asServed(blob(page.b), replay.origins))) {
      right++;
      copies.set(url, day);
    } else if (truth.changesOf(page).every(change => change.day > day || change.day <= copies.get(url)!)) {
      // What was fetched was right: the guess is no copy of any day.
      spoiled++;
      copies.set(url, -1);
    }
  });
  const fresh = truth.on(day, index => copies.get(urls[index]!));
  return { fresh, inferred: { pages: guesses.size, right, spoiled } };
}

async function inferredCopies(ledger: Ledger): Promise<Map<string, Uint8Array>> {
  const stored = openCopies(ledger);
  const found = new Map<string, Uint8Array>();
  for (const row of ledger['database'].prepare('SELECT page FROM inferred').all()) {
    const known = ledger.pages.known(row['page'] as number);
    const current = known && (await stored.current(known));
    if (current?.inferred) found.set(ledger.pages.get(known!.page)!.url, current.copy.decoded().bytes);
  }
  stored.close();
  return found;
}
