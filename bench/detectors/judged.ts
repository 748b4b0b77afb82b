/**
 * What the product's own judge says of the recorded revisions: all pages are looked at every day, in order, and what it
 * learns of a server on one day counts on the next, as at home. No site knows anything of another. A second look never
 * differs here, because the recordings stand still within a day.
 */
import { DAY } from '../../src/base/clock.ts';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { announced } from '../../src/judge/announced.ts';
import { editsBetween } from '../../src/judge/edits.ts';
import { ServerKnowledge } from '../../src/judge/knowledge.ts';
import { Places, remember } from '../../src/judge/places.ts';
import { review, type Seen, type Shares, shares, verdictOf } from '../../src/judge/review.ts';
import { type Entry, openBlobs, startsOf, type Truth, truthOf } from '../histories.ts';
import { dayOf, headers, type Sites } from './recorded.ts';
import { alarmsOf, count, emptyScore, expected, type Score, strictOf, total } from './score.ts';

interface Revision extends Seen {
  readonly truth: Truth | undefined;
}

/** Pages of one site that differ from the day before. */
interface Round {
  readonly pages: number;
  readonly revisions: readonly Revision[];
}

/** By host: its days in order. */
export type Rounds = ReadonlyMap<string, readonly Round[]>;

/** What is compared: so many days of some sites, and what is put into each page. */
interface Wanted {
  readonly days: number;
  readonly hosts?: ReadonlySet<string>;
  readonly change?: (body: Buffer, entry: Entry, day: number) => Buffer;
}

/** Compares each page with that of the day before, once for all ways to judge them. */
export function roundsOf({ days, hosts, change }: Wanted): Rounds {
  const blob = openBlobs();
  const rounds = new Map<string, Round[]>();
  const numbers = new Map<string, number>();
  const starts = startsOf();
  let yesterday = dayOf(0);
  for (let day = 1; day < days; day++) {
    const today = dayOf(day);
    const truths = new Map(truthOf(day).map(truth => [truth.s + truth.u, truth]));
    for (const [host, entries] of byHost(today)) {
      if (hosts && !hosts.has(host)) continue;
      const revisions = entries.flatMap((entry): Revision[] => {
        const { u, b } = entry;
        const old = yesterday.get(host + u);
        if (!old || (old.b === b && !change)) return [];
        const bodies = change
          ? [change(blob(old.b), entry, day - 1), change(blob(b), entry, day)]
          : [blob(old.b), blob(b)];
        if (bodies[0]!.equals(bodies[1]!)) return [];
        // The pages are those of the end of the day.
        const time = (starts.get(host) ?? Number.NaN) + (day + 1) * DAY;
        const [before, after] = bodies.map(body => announced(piecesOf({ headers, body })!, time));
        const { edits } = editsBetween(before!, after!);
        const page = numbers.get(host + u) ?? numbers.size;
        numbers.set(host + u, page);
        const truth = truths.get(host + u) ?? (change ? { s: host, u, c: 'noise' } : undefined);
        return edits.length === 0 && !truth ? [] : [{ page, edits, truth, time: day * DAY, before: (day - 1) * DAY }];
      });
      const all = rounds.get(host) ?? [];
      rounds.set(host, all);
      all.push({ pages: entries.length, revisions });
    }
    yesterday = today;
  }
  return rounds;
}

export function judgeAll(rounds: Rounds, chosen: Shares = shares): Sites {
  return new Map([...rounds].map(([host, days]) => [host, judgeSite(days, chosen)]));
}

function judgeSite(days: readonly Round[], chosen: Shares): Score {
  const knowledge = new ServerKnowledge();
  const places = new Map<number, Places>();
  const score = emptyScore();
  for (const { pages, revisions } of days) {
    const differing = revisions.filter(({ edits }) => edits.length > 0);
    const common = review(knowledge, differing, { pages, visited: pages }, chosen);
    for (const revision of revisions) {
      const { page, edits, truth } = revision;
      const known: Places = places.get(page) ?? new Places();
      places.set(page, known);
      const verdict = verdictOf(knowledge, revision, known, common);
      remember(known, edits);
      if (!truth || expected(truth) === undefined || truth.img?.join() === 'bytes') continue;
      count(score, truth, verdict === 'news', verdict === 'news' || verdict === 'shared');
    }
  }
  return score;
}

/** The settings from which each site's are chosen when it is left out. */
const grid: readonly Shares[] = [3, 5, 8].flatMap(leastPages =>
  [0.005, 0.01, 0.03].map(leastShare => ({ leastPages, leastShare })),
);

/** Each site judged with the settings that do best on all the others. */
export function leaveOneOut(rounds: Rounds): Sites {
  const tried = grid.map(chosen => judgeAll(rounds, chosen));
  return new Map(
    [...rounds.keys()].map(host => {
      const faults = tried.map(sites => {
        const others = total([...sites].filter(([site]) => site !== host).map(([, score]) => score));
        return alarmsOf(others) + 1 - strictOf(others);
      });
      return [host, tried[faults.indexOf(Math.min(...faults))]!.get(host)!];
    }),
  );
}

function byHost(day: ReadonlyMap<string, Entry>): Map<string, Entry[]> {
  const hosts = new Map<string, Entry[]>();
  for (const entry of day.values()) {
    if (!entry.ct.startsWith('text/html')) continue;
    const entries = hosts.get(entry.s) ?? [];
    entries.push(entry);
    hosts.set(entry.s, entries);
  }
  return hosts;
}
