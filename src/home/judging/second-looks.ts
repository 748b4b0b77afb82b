/**
 * Second looks: where a page differs and nobody knows whether that is news, it is looked at once more, a moment later. What
 * differs again at the same place is noise; what has stayed is news. Each place is asked about ever more rarely the more
 * often it agreed, and now and then one that is taken for noise is, so that a mistake ends. They are few: at most a quarter
 * of the visits, or ten.
 */
import { type Clock, HOUR } from '../../base/clock.ts';
import type { Edit } from '../../judge/edits.ts';
import type { ServerKnowledge } from '../../judge/knowledge.ts';
import { groundFor } from '../../judge/places.ts';
import type { Partition } from '../partitions/partition.ts';
import { keyOf } from '../partitions/pool.ts';
import type { Progress } from '../progress.ts';
import type { Supply } from '../supply.ts';
import type { Look, Provisional, Verdicts } from './verdicts.ts';

/** Share of the visits, and number, that second looks may be. */
const MOST_SHARE = 0.25;
const LEAST_LOOKS = 10;
/** So many times as much for places that were told before: no noise is to be told time and again. */
const MOST_INSISTING = 3;
/** Milliseconds that a second look waits for a cache at most. */
const MOST_CACHED = 120_000;
/** Second looks that found all as it was, after which a server is asked less often. */
const KNOWN_STABLE = 20;
/** Of a stable server one place in so many is asked about all the same; of masked visits, one in so many. */
const SAMPLED = 5;
const AUDITED = 16;
/** Looks that agreed, until which a place is asked about each time that one of its values comes back. */
const SWINGS = 12;

interface LookParts {
  readonly partitions: Iterable<Partition>;
  readonly progress: Progress;
  readonly clock: Clock;
}

/** A look at a page of one of the partitions. */
interface WantedLook extends Look {
  readonly member: Partition;
}

interface ChosenLook extends WantedLook {
  /** Ticks from which on it may go. */
  readonly at: number;
}

export class SecondLooks {
  readonly #parts: LookParts;
  readonly #wait: number;
  /** Chosen, and not let go yet; by page. */
  readonly #chosen = new Map<number, ChosenLook>();
  #taken = 0;
  #looked: number;

  /** `wait`: milliseconds between two looks. */
  constructor(parts: LookParts, wait: number) {
    this.#parts = parts;
    this.#wait = wait;
    this.#looked = parts.clock.ticks();
  }

  /** Lets those go whose time has come. */
  fill(): void {
    const ticks = this.#parts.clock.ticks();
    const here = new Set(this.#parts.partitions);
    for (const [key, { member, at, ...look }] of this.#chosen) {
      const hasGone = !here.has(member);
      if (ticks < at && !hasGone) continue;
      const { page, learned } = look.first;
      this.#chosen.delete(key);
      if (hasGone) continue; // to another machine, which looks by what it knows
      member.verdicts.looks.set(page, look);
      member.frontier.again([{ page, server: learned.lesson.lane.server.id }]);
    }
  }

  /** Some are chosen and wait for their time. */
  get waiting(): boolean {
    return this.#chosen.size > 0;
  }

  /** While visits go on: what was found in the last minutes is looked at together. */
  choosing(): void {
    const { clock, partitions } = this.#parts;
    const ticks = clock.ticks();
    if (ticks - this.#looked < Math.max(HOUR / 60, this.#wait)) return;
    this.#looked = ticks;
    this.choose();
    for (const { verdicts } of partitions) verdicts.forget(clock.now() - HOUR);
  }

  /** Sees all edits so far together, and chooses what is in doubt after that. True when something is. */
  choose(): boolean {
    const { partitions, progress, clock } = this.#parts;
    const [now, ticks] = [clock.now(), clock.ticks()];
    const most = Math.max(LEAST_LOOKS, MOST_SHARE * progress.pages);
    const longest = Math.max(MOST_CACHED, this.#wait);
    const doubtful = [...partitions].flatMap(member => doubtfulIn(member, longest));
    // Those first that differed before: they are likeliest to be noise.
    for (const look of doubtful.toSorted((a, b) => this.#suspicion(b) - this.#suspicion(a))) {
      if (this.#taken >= most && !isWorthMore(look, this.#taken < MOST_INSISTING * most)) continue;
      const key = keyOf({ member: look.member, page: look.first.page });
      this.#taken++;
      look.first.looks++;
      look.first.open = false;
      const { time, from } = look.first;
      // The clock may have been set since the first look: no wait is longer than it would have been.
      this.#chosen.set(key, { ...look, at: ticks + Math.min(longest, Math.max(time + this.#wait, from) - now) });
    }
    return this.#chosen.size > 0;
  }

  #suspicion({ first, edits, member: { verdicts } }: WantedLook): number {
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
}

/** Looks at this server that must have differed, and their share, so that every page in doubt is looked at once. */
const LEAST_VOLATILE = 3;
const VOLATILE_SHARE = 0.05;

function isVolatile({ volatile, stable }: ServerKnowledge): boolean {
  return volatile >= LEAST_VOLATILE && volatile >= VOLATILE_SHARE * (volatile + stable);
}

/** Beyond the usual share: looks at this server find noise, or this one goes on with what was begun. */
function isWorthMore(look: WantedLook, some: boolean): boolean {
  const { first, member } = look;
  if (first.looks === 0 && isVolatile(member.verdicts.of(first.learned.lesson.lane.server.id))) return true;
  return some && (first.looks > 0 || insists(look));
}

/** It was told before that something differs there, and nobody has looked twice as often as that. */
function insists({ first, edits, member: { verdicts } }: WantedLook): boolean {
  const places = verdicts.placesOf(first.page);
  return first.verdict === 'news' && edits.some(({ place }) => (places.get(place)?.edits ?? 0) > 1);
}

/** What was found in a partition and is in doubt, now that all of its edits are seen together. */
function doubtfulIn(member: Partition, longest: number): WantedLook[] {
  const { verdicts } = member;
  verdicts.review();
  // Where a cache on the way would answer for long, nobody can look twice in this round.
  const near = verdicts.unlooked().filter(({ time, from }) => from - time <= longest);
  const all = near.map(first => ({ member, first, edits: doubts(verdicts, first) }));
  return all.filter(({ edits }) => edits.length > 0);
}

/** Edits of which a second look would tell something. */
function doubts(verdicts: Verdicts, { page, edits, before, verdict, learned }: Provisional): Edit[] {
  const knowledge = verdicts.of(learned.lesson.lane.server.id);
  const places = verdicts.placesOf(page);
  if (verdict === 'same') return [];
  const quiet = knowledge.volatile === 0 && knowledge.stable >= KNOWN_STABLE;
  return edits.filter(edit => {
    const place = places.get(edit.place);
    const { edits: times = 1, differed = 0 } = place ?? {};
    const said = knowledge.verdictOn(edit, places, before);
    // Masked by one look alone, which may have met a change by chance.
    if (verdict !== 'news' && verdict !== 'shared' && differed === 1) return true;
    // What is masked by one look alone is in doubt, and so is, now and then, what is masked by more.
    // Something new where things come and go: only a look can tell.
    if (said === 'news' && verdict === 'news' && groundFor(places, edit)) return true;
    if (said !== 'news')
      return said !== 'shared' && (differed === 1 || (verdict !== 'news' && (times + page) % AUDITED === 0));
    if (verdict !== 'news' || !place) return false;
    const again = place.returned > 0;
    if (place.rest > 0 && !(again && place.agreed < SWINGS)) return false;
    return !quiet || place.edits > 1 || (page + place.edits) % SAMPLED === 0;
  });
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
