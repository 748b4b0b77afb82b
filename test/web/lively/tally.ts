/** Holds what was told of a lively site, round after round, against what is true of it. */
import { HOUR } from '../../../src/base/clock.ts';
import { hashOf, pick } from '../random.ts';
import type { LivelyPage, Serving } from './script.ts';

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
  /** The same by what is on the page, and in the first round of all. */
  readonly firesByKind: Map<string, number>;
  firstFires: number;
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

/** Milliseconds before a round begins. */
export function stepBefore(seed: number, round: number): number {
  return pick(STEPS, hashOf(seed, 500, round)) * HOUR;
}

/** What was told of a page in a round, and what its requests were answered with. */
export interface Telling {
  readonly page: LivelyPage;
  readonly served: readonly Serving[];
  readonly told: boolean;
  /** The copy that is handed out now. */
  readonly copy: string;
}

export class Tally {
  readonly seen: Seen = {
    ...{ changes: 0, toldAtOnce: 0, noiseFires: 0, firstFires: 0, answers: 0, secondLooks: 0, waves: 0 },
    ...{ unseen: [], noisy: [], stale: [], waved: [], firesByKind: new Map() },
  };
  readonly #states = new Map<string, State>();
  #round = 0;

  /** What the first crawl was answered with. */
  begin({ url }: LivelyPage, served: readonly Serving[]): void {
    const last = served.at(-1);
    if (!last) throw new Error('the crawl did not ask for every page');
    this.#states.set(url, { told: last.news, before: last.news, shared: last.shared, unseen: 0, fires: 0 });
  }

  /** `edits`: how many the site was told to have had. */
  judge(tellings: readonly Telling[], edits: number): void {
    this.#round++;
    const { seen } = this;
    let wave = false;
    for (const telling of tellings) {
      const { page, served, copy } = telling;
      const state = this.#states.get(page.url)!;
      const last = served.at(-1);
      if (!last) {
        seen.unseen.push(this.#fault(page, 'it was not visited'));
        continue;
      }
      seen.answers += served.length;
      seen.secondLooks += served.length - 1;
      const edited = [...last.shared].some(([name, value]) => state.shared.get(name) !== value);
      wave ||= edited;
      this.#page(telling, state, edited);
      if (served.some(each => each.seen.every(html => copy.includes(html)))) continue;
      const missing = last.seen.find(html => !copy.includes(html));
      seen.stale.push(this.#fault(page, `the copy lacks ${missing}`));
    }
    if (!tellings[0]?.page.built) this.#wave(wave, edits);
  }

  /** `edited`: something changed that many pages share. */
  #page({ page, served, told }: Telling, state: State, edited: boolean): void {
    const { seen } = this;
    const last = served.at(-1)!;
    const pending = last.news !== state.told;
    const moved = last.news !== state.before;
    if (moved) {
      seen.changes++;
      if (told) seen.toldAtOnce++;
    }
    if (told) {
      // What was there at one look of the round and gone at the next may be told.
      if (!pending && !moved && served.every(({ news }) => news === state.before)) this.#fired(page, state, edited);
      state.told = last.news;
      state.unseen = 0;
    } else if (pending || moved) {
      if (++state.unseen > MOST_UNSEEN) {
        const detail = `${state.unseen} visits, now ${last.news.slice(0, 160)}`;
        seen.unseen.push(this.#fault(page, detail));
      }
    } else state.unseen = 0;
    state.before = last.news;
    state.shared = last.shared;
  }

  #fired(page: LivelyPage, state: State, edited: boolean): void {
    const { seen } = this;
    if (edited && page.noises === 0) {
      seen.waved.push(this.#fault(page, 'told of a page, though many have it'));
      return;
    }
    seen.noiseFires++;
    if (this.#round === 1) seen.firstFires++;
    const kind = page.names.join(' + ');
    seen.firesByKind.set(kind, (seen.firesByKind.get(kind) ?? 0) + 1);
    if (++state.fires > MOST_NOISE * Math.max(1, page.noises))
      seen.noisy.push(this.#fault(page, `fired ${state.fires} times`));
  }

  /** What many pages share is told of the site in the round that meets it, and in no other. */
  #wave(wave: boolean, edits: number): void {
    if (wave) this.seen.waves++;
    if (wave === edits > 0) return;
    const detail = wave ? 'not told of the site' : 'told of the site without cause';
    this.seen.waved.push({ round: this.#round, page: 'all', names: '', detail });
  }

  #fault({ url, names }: LivelyPage, detail: string): Fault {
    return { round: this.#round, page: new URL(url).pathname, names: names.join(' + '), detail };
  }
}
