/**
 * What the product's own judge says of the recorded revisions: all pages are looked at every day, in order, and what it
 * learns of a server on one day counts on the next, as at home. No site knows anything of another. A second look never
 * differs here, because the recordings stand still within a day.
 */
import { piecesOf } from '../../src/crawler/analyse.ts';
import { editsBetween } from '../../src/judge/edits.ts';
import { type Places, remember, ServerKnowledge } from '../../src/judge/knowledge.ts';
import { review, type Seen, verdictOf } from '../../src/judge/review.ts';
import { type Entry, openBlobs, type Truth, truthOf } from '../histories.ts';
import { dayOf, headers, type Sites, scoreOf } from './recorded.ts';
import { count, expected } from './score.ts';

interface Site {
  readonly knowledge: ServerKnowledge;
  /** By path. */
  readonly places: Map<string, Places>;
}

interface Revision extends Seen {
  readonly path: string;
  readonly truth: Truth | undefined;
}

export function judgeRecorded(days: number): Sites {
  const blob = openBlobs();
  const sites = new Map<string, Site>();
  const scores: Sites = new Map();
  let yesterday = dayOf(0);
  for (let day = 1; day < days; day++) {
    const today = dayOf(day);
    const truths = new Map(truthOf(day).map(truth => [truth.s + truth.u, truth]));
    for (const [host, entries] of byHost(today)) {
      const site = sites.get(host) ?? { knowledge: new ServerKnowledge(), places: new Map() };
      sites.set(host, site);
      const round = entries.flatMap((entry, page) => {
        const old = yesterday.get(host + entry.u);
        if (!old || old.b === entry.b) return [];
        const [before, after] = [old, entry].map(each => piecesOf({ headers, body: blob(each.b) })!);
        const { edits } = editsBetween(before!, after!);
        return [{ page, edits, path: entry.u, truth: truths.get(host + entry.u) }];
      });
      judgeRound(site, round, entries.length, (truth, verdict) => {
        if (expected(truth) === undefined || truth.img?.join() === 'bytes') return;
        const fired = verdict === 'news';
        count(scoreOf(scores, host), truth, fired, fired || verdict === 'shared');
      });
    }
    yesterday = today;
  }
  return scores;
}

function judgeRound(
  { knowledge, places }: Site,
  round: readonly Revision[],
  pages: number,
  score: (truth: Truth, verdict: string) => void,
): void {
  const placesOf = (path: string): Places => {
    const found = places.get(path) ?? new Map();
    places.set(path, found);
    return found;
  };
  const common = review(
    knowledge,
    round.filter(({ edits }) => edits.length > 0),
    pages,
  );
  for (const { path, edits, truth } of round) {
    const verdict = verdictOf(knowledge, edits, placesOf(path), common);
    remember(placesOf(path), edits);
    if (truth) score(truth, verdict);
  }
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
