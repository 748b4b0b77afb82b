/** Keeps a lively site fresh, round after round, and holds what Skein tells of it against what is true. */
import { HOUR } from '../../src/base/clock.ts';
import { changesIn } from '../../src/home/answers/changes.ts';
import { templateEdits } from '../../src/home/answers/template-edits.ts';
import { type Lively, type LivelyPage, openLively, type Serving } from '../web/lively/lively.ts';
import { hashOf, pick } from '../web/random.ts';
import { type Collection, makeCollection } from './collection.ts';
import { lookInto } from './skein.ts';

export interface Fault {
  readonly round: number;
  readonly page: string;
  readonly names: string;
  readonly detail: string;
}

/** What was seen over all rounds. */
export interface Seen {
  /** Changes that readers must be told of, and how many of them they were told of at the visit that met them. */
  changes: number;
  toldAtOnce: number;
  /** Visits told of although only noise had changed. */
  noiseFires: number;
  /** Answers in all, and those beyond one for each page and round. */
  answers: number;
  secondLooks: number;
  /** Rounds in which many pages changed alike. */
  waves: number;
  /** News unseen for more than two visits. */
  readonly unseen: Fault[];
  /** Pages whose noise fired more than three times. */
  readonly noisy: Fault[];
  /** Copies that are not the page that was served. */
  readonly stale: Fault[];
  /** Edits of many pages that were told of a page, or not told once of the site. */
  readonly waved: Fault[];
}

/** Visits for which a change may stay unseen, and times that each noise of a page may be told. */
export const MOST_UNSEEN = 2;
export const MOST_NOISE = 3;

interface State {
  /** News at the last telling, and at the last visit. */
  told: string;
  before: string;
  shared: ReadonlyMap<string, string>;
  unseen: number;
  fires: number;
}

/** Hours between rounds: mostly a day. */
const STEPS = [24, 24, 24, 24, 25, 23, 3, 48, 72];

export async function keepLively(seed: number, rounds: number): Promise<Seen> {
  using collection = makeCollection();
  await using site = await openLively({ seed, clock: collection.clock });
  await collection.crawl(site.seeds);
  const states = new Map(site.pages.map(page => [page.url, firstState(site.served(page.url))]));
  const seen: Seen = {
    ...{ changes: 0, toldAtOnce: 0, noiseFires: 0, answers: 0, secondLooks: 0, waves: 0 },
    ...{ unseen: [], noisy: [], stale: [], waved: [] },
  };
  for (let round = 1; round <= rounds; round++) {
    collection.pass((pick(STEPS, hashOf(seed, 500, round)) * HOUR) / (24 * HOUR));
    site.beginRound();
    const since = collection.clock.now();
    await collection.refresh({ budget: '1000%', secondLook: 0.2 });
    judgeRound({ collection, site, states, seen, round, since });
  }
  return seen;
}

interface Round {
  readonly collection: Collection;
  readonly site: Lively;
  readonly states: ReadonlyMap<string, State>;
  readonly seen: Seen;
  readonly round: number;
  readonly since: number;
}

function firstState(served: readonly Serving[]): State {
  const last = served.at(-1);
  if (!last) throw new Error('the crawl did not ask for every page');
  return { told: last.news, before: last.news, shared: last.shared, unseen: 0, fires: 0 };
}

function judgeRound(at: Round): void {
  const { collection, site, states, seen, since } = at;
  const told = collection.look(
    ledger =>
      new Set(
        changesIn(ledger, { since, limit: 100_000 })
          .filter(({ kind }) => kind === 'changed')
          .map(({ url }) => url),
      ),
  );
  using look = lookInto(collection.directory);
  let wave = false;
  for (const page of site.pages) {
    const served = site.served(page.url);
    const state = states.get(page.url)!;
    if (served.length === 0) {
      seen.unseen.push(fault(at, page, 'it was not visited'));
      continue;
    }
    seen.answers += served.length;
    seen.secondLooks += served.length - 1;
    const edited = [...served.at(-1)!.shared].some(([name, value]) => state.shared.get(name) !== value);
    wave ||= edited;
    judgePage(at, page, { state, last: served.at(-1)!, told: told.has(page.url), edited });
    const copy = Buffer.from(look.body(page.url)).toString();
    if (!served.some(each => each.seen.every(html => copy.includes(html)))) {
      const missing = served.at(-1)!.seen.find(html => !copy.includes(html));
      seen.stale.push(fault(at, page, `the copy lacks ${missing}`));
    }
  }
  judgeWave(at, wave);
}

interface Visited {
  readonly state: State;
  readonly last: Serving;
  readonly told: boolean;
  /** Something changed that many pages share. */
  readonly edited: boolean;
}

function judgePage(at: Round, page: LivelyPage, { state, last, told, edited }: Visited): void {
  const { seen } = at;
  const pending = last.news !== state.told;
  const moved = last.news !== state.before;
  if (moved) {
    seen.changes++;
    if (told) seen.toldAtOnce++;
  }
  if (told) {
    if (!pending && !moved) {
      if (edited && page.noises === 0) seen.waved.push(fault(at, page, 'told of a page, though many have it'));
      else {
        seen.noiseFires++;
        if (++state.fires > MOST_NOISE * Math.max(1, page.noises))
          seen.noisy.push(fault(at, page, `fired ${state.fires} times`));
      }
    }
    state.told = last.news;
    state.unseen = 0;
  } else if (pending || moved) {
    if (++state.unseen > MOST_UNSEEN) {
      const detail = `${state.unseen} visits, now ${last.news.slice(0, 160)}`;
      seen.unseen.push(fault(at, page, detail));
    }
  } else state.unseen = 0;
  state.before = last.news;
  state.shared = last.shared;
}

/** What many pages share is told of the site in the round that meets it, and in no other. */
function judgeWave(at: Round, wave: boolean): void {
  const { collection, site, seen, since, round } = at;
  const told = collection.look(ledger => templateEdits(ledger, since)).length;
  if (wave) seen.waves++;
  if (wave === told > 0) return;
  const detail = wave ? 'not told of the site' : 'told of the site without cause';
  seen.waved.push({ round, page: site.origin, names: '', detail });
}

function fault({ round }: Round, { url, names }: LivelyPage, detail: string): Fault {
  return { round, page: new URL(url).pathname, names: names.join(' + '), detail };
}
