/** Crawls the recorded sites on day 0, then looks at every page every day, and holds what is told against the labels. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HOUR } from '../../src/base/clock.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { defaults } from '../../src/cli/options/options.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { openCopies } from '../../src/home/copies/copies.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { FLAG_NOARCHIVE } from '../../src/ledger/pages/known-row.ts';
import { dayOf, pagesOf, type Replay, timeOf } from '../bytes/replay.ts';
import { type Truth, truthOf } from '../histories.ts';
import { CopyTruth } from './copies.ts';
import { countCopy, countTelling, emptyScore, type Score } from './score.ts';

type Chosen = Parameters<typeof keepFresh>[1];

const door = fileURLToPath(new URL('../../bin/skein.js', import.meta.url));
const clockShift = new SharedArrayBuffer(8);

function chosen(data: string, more: Record<string, unknown> = {}): Chosen {
  const loopback = { data, pace: 0, connections: 4, threads: 1, allowPrivate: true };
  return { ...defaults(), ...loopback, ...more } as unknown as Chosen;
}

/** An hour after the day's end, so that what happened on the day has happened. */
function setClock(day: number): void {
  new Float64Array(clockShift)[0] = timeOf(day) + HOUR - Date.now();
}

export interface Plan {
  readonly days: number;
  /** Settings of the run beside the defaults. */
  readonly more: Record<string, unknown>;
  readonly onDay: (day: number, scores: ReadonlyMap<string, Score>) => void;
}

/** By host. */
export async function measure(replay: Replay, plan: Plan): Promise<Map<string, Score>> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-truth-'));
  const scores = new Map(pagesOf(0).map(({ s }) => [s, emptyScore()]));
  const copies = new CopyTruth(replay);
  try {
    await crawl(replay, directory);
    for (let day = 1; day <= plan.days; day++) {
      await replay.setDay(day);
      setClock(day);
      await keepFresh('refresh', chosen(directory, { budget: '1000%', ...plan.more }), { clockShift });
      copies.begin(day);
      await judgeCopies(replay, directory, { copies, scores, day });
      plan.onDay(day, scores);
    }
    const told = await toldOf(directory);
    for (let day = 1; day <= plan.days; day++) judgeTelling(replay, told, scores, day);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return scores;
}

async function crawl(replay: Replay, directory: string): Promise<void> {
  await replay.setDay(0);
  setClock(0);
  const opened = await openHome(chosen(directory), replay.urlsOf(0), { clockShift });
  try {
    await opened.ready();
    await opened.run(crawlSupply(opened, 0));
  } finally {
    await opened.close();
  }
}

interface Day {
  readonly copies: CopyTruth;
  readonly scores: ReadonlyMap<string, Score>;
  readonly day: number;
}

/** What `skein cat` would print of each page, against the page of the day. */
async function judgeCopies(replay: Replay, directory: string, { copies, scores, day }: Day): Promise<void> {
  const ledger = openLedger(directory);
  const stored = openCopies(ledger);
  const ids = new Map<string, number>();
  for (const row of ledger['database']
    .prepare('SELECT p.id, p.url FROM pages p JOIN known k ON k.page = p.id')
    .iterate())
    ids.set(row['url'] as string, row['id'] as number);
  const visited = new Set<number>();
  for (const row of ledger['database']
    .prepare('SELECT DISTINCT page FROM visits WHERE id >= ?')
    .iterate(ledger.visits.since(timeOf(day))))
    visited.add(row['page'] as number);
  const urls = replay.urlsOf(day);
  for (const [index, { s, u }] of pagesOf(day).entries()) {
    const id = ids.get(urls[index]!);
    const known = id === undefined ? undefined : ledger.pages.known(id);
    // Whoever asks not to be archived is not.
    if (known && known.flags & FLAG_NOARCHIVE) continue;
    const current = known && (await stored.current(known));
    const copy = current?.copy.decoded().bytes;
    const score = scores.get(s)!;
    if (id !== undefined && visited.has(id)) score.visits++;
    const inferred = current?.inferred !== undefined;
    const right = inferred ? copies.inferred(s + u, day, copy!) : copies.of(s + u, day, copy);
    countCopy(score, right, inferred);
  }
  stored.close();
  ledger.close();
}

/** By URL and day: what `skein changes --json` says. */
type Told = ReadonlyMap<string, 'page' | 'site'>;

async function toldOf(directory: string): Promise<Told> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [door, 'changes', '--json', '--since', '2000-01-01', '--data', directory],
    { maxBuffer: 1e9 },
  );
  const lines = stdout.split('\n').filter(Boolean);
  const told = new Map<string, 'page' | 'site'>();
  for (const line of lines) {
    const { url, kind, time } = JSON.parse(line) as { url: string; kind: string; time: string };
    const key = `${dayOf(Date.parse(time))} ${url}`;
    if (kind === 'changed' || kind === 'back') told.set(key, 'page');
    else if ((kind === 'template' || kind === 'shared') && !told.has(key)) told.set(key, 'site');
  }
  return told;
}

function judgeTelling(replay: Replay, told: Told, scores: ReadonlyMap<string, Score>, day: number): void {
  const truths = new Map<string, Truth>(truthOf(day).map(truth => [truth.s + truth.u, truth]));
  const urls = replay.urlsOf(day);
  pagesOf(day).forEach(({ s, u }, index) => {
    countTelling(scores.get(s)!, truths.get(s + u), told.get(`${day} ${urls[index]}`));
  });
}
