/**
 * Second looks: where a page differs and nobody knows whether that is news, it is looked at once more, a moment later. What
 * differs again at the same place is noise; what has stayed is news. Each place is asked about ever more rarely the more
 * often it agreed, and now and then one that is taken for noise is, so that a mistake ends. They are few: at most a quarter
 * of the visits, or ten.
 */
import { type Clock, HOUR } from '../../base/clock.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Edit } from '../../judge/edits.ts';
import { ENOUGH_PAGES } from '../../judge/knowledge.ts';
import type { Progress } from '../progress.ts';
import type { Supply } from '../supply.ts';
import type { Look, Provisional, Verdicts } from './verdicts.ts';

/** Share of the visits, and number, that second looks may be. */
const MOST_SHARE = 0.25;
const LEAST_LOOKS = 10;
/** Second looks that found all as it was, after which a server is asked less often. */
const KNOWN_STABLE = 20;
/** Of a stable server one place in so many is asked about all the same; of masked visits, one in so many. */
const SAMPLED = 5;
const AUDITED = 16;
/** Looks that agreed, until which a place is asked about each time that one of its values comes back. */
const SWINGS = 6;

export interface LookParts {
  readonly frontier: Frontier;
  readonly verdicts: Verdicts;
  readonly progress: Progress;
  readonly clock: Clock;
}

export class SecondLooks {
  readonly #parts: LookParts;
  readonly #wait: number;
  /** Chosen, and not let go yet; by page. */
  readonly #chosen = new Map<number, Look>();
  #taken = 0;
  #looked: number;

  /** `wait`: milliseconds between two looks. */
  constructor(parts: LookParts, wait: number) {
    this.#parts = parts;
    this.#wait = wait;
    this.#looked = parts.clock.now();
  }

  /** Lets those go whose time has come. */
  fill(): void {
    const { frontier, verdicts, clock } = this.#parts;
    const now = clock.now();
    for (const [page, look] of this.#chosen) {
      if (now - look.first.learned.lesson.visit.time < this.#wait) continue;
      this.#chosen.delete(page);
      verdicts.looks.set(page, look);
      frontier.again([{ page, server: look.first.learned.lesson.lane.server.id }]);
    }
  }

  /** Some are chosen and wait for their time. */
  get waiting(): boolean {
    return this.#chosen.size > 0;
  }

  /** While visits go on: what was found in the last minutes is looked at together. */
  choosing(): void {
    const now = this.#parts.clock.now();
    if (now - this.#looked < Math.max(HOUR / 60, this.#wait)) return;
    this.#looked = now;
    this.choose();
    this.#parts.verdicts.forget(now - HOUR);
  }

  /** Sees all edits so far together, and chooses what is in doubt after that. True when something is. */
  choose(): boolean {
    const { verdicts, progress } = this.#parts;
    verdicts.review();
    const most = Math.max(LEAST_LOOKS, MOST_SHARE * progress.pages);
    const doubtful = verdicts.unlooked().map(first => ({ first, edits: this.#doubts(first) }));
    const wanted = doubtful.filter(({ edits }) => edits.length > 0);
    // Those first that differed before: they are likeliest to be noise.
    const asked = new Map<number, number>();
    for (const look of wanted.toSorted((a, b) => this.#suspicion(b) - this.#suspicion(a))) {
      if (this.#taken >= most) break;
      // Three pages tell what varies in the same words or tokens; the others are judged by that, and asked only if it is nothing.
      if (!this.#chosen.has(look.first.page) && isAnswered(look, asked)) continue;
      this.#taken++;
      look.first.looks++;
      look.first.open = false;
      this.#chosen.set(look.first.page, look);
    }
    return this.#chosen.size > 0;
  }

  #suspicion({ first, edits }: Look): number {
    const { verdicts } = this.#parts;
    const places = verdicts.placesOf(first.page);
    const { stems } = verdicts.of(first.learned.lesson.lane.server.id);
    return Math.max(
      ...edits.map(({ place, stem }) => {
        const { edits: times = 0, agreed = 0, differed = 0, passed = 0, returned = 0 } = places.get(place) ?? {};
        const token = stem !== 0 && !stems.has(stem) ? 2 : 0;
        // What would be told comes before what is only to be proven once more.
        // One of a few values may be met again by chance: that it agreed says little.
        const known = returned > 0 ? agreed : 3 * agreed;
        const likely = differed > agreed ? 6 : 0;
        return Math.min(times, 5) - known - 2 * passed + token + likely + (first.verdict === 'news' ? 9 : 0);
      }),
    );
  }

  /** Edits of which a second look would tell something. */
  #doubts({ page, edits, verdict, learned }: Provisional): Edit[] {
    const { verdicts } = this.#parts;
    const knowledge = verdicts.of(learned.lesson.lane.server.id);
    const places = verdicts.placesOf(page);
    if (verdict === 'shared' || verdict === 'same') return [];
    if (verdict !== 'news')
      return edits.filter(({ place }) => {
        const { edits: times = 1, differed = 0 } = places.get(place) ?? {};
        return differed === 1 || (times + page) % AUDITED === 0;
      });
    const left = edits.filter(edit => knowledge.verdictOn(edit, places) === 'news');
    const quiet = knowledge.volatile === 0 && knowledge.stable >= KNOWN_STABLE;
    return left.filter(({ place: key }) => {
      const place = places.get(key);
      if (!place || (place.rest > 0 && !(place.returned > 0 && place.agreed < SWINGS))) return false;
      return !quiet || place.edits > 1 || (page + place.edits) % SAMPLED === 0;
    });
  }
}

/** Enough pages with the same are asked already. */
function isAnswered({ edits }: Look, asked: Map<number, number>): boolean {
  const frames = edits.map(({ stem, within, frame }) => stem || (within ? frame : 0));
  const counts = frames.map(frame => (frame === 0 ? 0 : (asked.get(frame) ?? 0)));
  if (counts.every(count => count >= ENOUGH_PAGES)) return true;
  for (const [i, frame] of frames.entries()) asked.set(frame, counts[i]! + 1);
  return false;
}

/** The round, and the second looks that follow from it. */
export function withSecondLooks(supply: Supply, looks: SecondLooks, kind: 'refresh' | 'watch'): Supply {
  return {
    get left() {
      return supply.left;
    },
    fill() {
      supply.fill();
      if (kind === 'watch') looks.choosing();
      looks.fill();
    },
    worthWaiting() {
      if (supply.worthWaiting()) return true;
      return looks.waiting || looks.choose();
    },
  };
}
