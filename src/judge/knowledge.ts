/**
 * What is known of the noise of one server, and what that makes of a page's edits. Noise needs evidence: two looks a moment
 * apart differed there, or only a token differs that second looks at other pages have shown to vary, or that swings
 * between the same values on several pages. What differs over hours or days without such evidence is news, however often.
 *
 * Pure: visits in, verdicts out. It can be written down as JSON and read again.
 */
import { DAY } from '../base/clock.ts';
import type { Edit } from './edits.ts';
import { isFirm } from './ground.ts';
import { hashAll } from './hash.ts';
import { isLongPair, pairKey, swingKeys, turnKey } from './pairs.ts';
import {
  cameBack,
  exceeds,
  fits,
  goesBackAndForth,
  groundFor,
  isBackAndForth,
  isFresh,
  isNoisy,
  type Place,
  type Places,
  placedOf,
  swingsAt,
  swingsNearby,
  variesNearby,
} from './places.ts';
import type { TokenTurn } from './turns.ts';

/** Why an edit is no news. */
type Evidence =
  /** Only a token differs, or words between the same others, that was another at second looks at some pages, and at one look here. */
  | 'token'
  /** Only a token differs that swings between values seen before. */
  | 'swing'
  /** Only a token differs, and at the same time another one does at the same place of most pages. */
  | 'everywhere'
  /** Two looks a moment apart differed there. */
  | 'looks'
  /** One look did here, and others at this place of other pages. */
  | 'looks-elsewhere'
  /** They did, and what is there now was there before; or only a token differs that has gone back and forth. */
  | 'returned';

/** `shared`: many pages of the server have the same edit, so that it is one event of the server. */
export type Verdict = Evidence | 'shared' | 'news';

/** Something that is taken for noise, and why. */
export interface Mask {
  /** What lifts it: a token is known by several of its surroundings. */
  readonly keys: readonly number[];
  readonly evidence: Evidence;
  /** What differed last, or the token with stars for what varies. */
  readonly told: string;
  /** Second looks at this page that differed there, and that agreed. */
  readonly differed?: number;
  readonly agreed?: number;
}

/** Pages on which second looks must have differed at a place before it is noise on all of them. */
const ENOUGH_PAGES = 3;
/** The same for two values, whatever their place. */
const ENOUGH_TO_SWING = 2;
/** Milliseconds for which an edit may still be on its way to pages that were looked at when many had it. */
const SAME_EVENT = DAY / 2;
/** Pages that must have been looked at again, and share of them on which something differs again, so that they go together. */
export const LEAST_AGAIN = 6;
const AGAIN = 0.6;
/** Pages that are remembered of those around which tokens differ, and such surroundings. */
const MOST_TOGETHER = 24;
const MOST_SURROUNDINGS = 64;
/** Of each kind of knowledge, the newest so many are kept. */
const MOST_KEPT = 2000;

/** Two values between which something swings; hashes. */
export type Swing = Pick<Edit, 'before' | 'after' | 'told'>;

/** Some pages around one of whose tokens others came, and when they first did; rounds that could show whether they go together. */
interface Together {
  readonly known: readonly (readonly [page: number, time: number])[];
  readonly rounds: number;
  readonly apart: number;
  /** When the newest of these rounds began. */
  readonly last: number;
}

/** Pages of a round on which what stands between the same others became another; on which any reference did; when the round began. */
interface Turning {
  readonly pages: ReadonlySet<number>;
  readonly differing: ReadonlySet<number>;
  readonly start: number;
  readonly has: (page: number) => boolean;
}

export class ServerKnowledge {
  /** Stems of tokens that are others at each look. */
  readonly stems: Map<number, string>;
  /** Values of tokens that swing: value → its group. */
  readonly #swings: Map<number, number>;
  /** Places, and stems of tokens, where second looks differed → pages. */
  readonly #places: Map<number, number[]>;
  /** Edits that many pages have had at the same place → when that was last seen, milliseconds since 1970. */
  readonly shared: Map<number, number>;
  /** Tokens that became others → the references in which they did. */
  readonly #turns: Map<number, number[]>;
  /** Keys of masks that a person has lifted: they stay so. */
  readonly #lifted: Map<number, number>;
  /** What stood around tokens that became others on several pages. */
  readonly #together: Map<number, Together>;
  /** What stood around tokens that became others on many pages of the last round, each another one; believed for that round alone. */
  readonly #everywhere: Map<number, string>;
  #believed: ReadonlySet<number> = new Set();
  /** Tokens that became the same other ones on many pages of the last round. */
  #turned: ReadonlySet<number> = new Set();
  /** What the keys above stand for, for people. */
  readonly told: Map<number, string>;
  /** Second looks that found everything as it was, and those that did not. */
  stable: number;
  volatile: number;

  constructor(saved: Saved = {}) {
    this.stems = new Map(saved.stems);
    this.#swings = new Map(saved.swings);
    this.#places = new Map(saved.places);
    this.shared = new Map(saved.shared);
    this.#turns = new Map(saved.turns);
    this.#lifted = new Map(saved.lifted);
    this.#everywhere = new Map(saved.everywhere);
    this.#together = new Map(saved.together);
    this.told = new Map(saved.told);
    this.stable = saved.stable ?? 0;
    this.volatile = saved.volatile ?? 0;
  }

  save(): Saved {
    return {
      stems: newest(this.stems),
      swings: newest(this.#swings),
      places: newest(this.#places),
      shared: newest(this.shared),
      turns: newest(this.#turns),
      lifted: newest(this.#lifted),
      everywhere: newest(this.#everywhere),
      together: newest(this.#together).slice(-MOST_SURROUNDINGS),
      told: newest(this.told),
      stable: this.stable,
      volatile: this.volatile,
    };
  }

  /** `seen`: when the page was last looked at before, milliseconds since 1970. */
  verdictOn(edit: Edit, places: Places, seen = 0): Verdict {
    const place = places.get(edit.place);
    // What looks at other pages have shown is as good as a second look here, but for nothing without a first: offers by lot
    // have prices, too.
    const differs = place !== undefined && place.differed > 0 && place.agreed === 0;
    if (differs && edit.stem !== 0 && this.stems.has(edit.stem) && !this.#lifted.has(edit.stem)) return 'token';
    if (this.#isTurn(edit, ({ around }) => around.find(key => this.#believed.has(key)))) return 'everywhere';
    const [old, now] = swingKeys(edit);
    const swing = this.#swings.get(old);
    const swings = swing !== undefined && swing === this.#swings.get(now);
    if (swings && !this.#lifted.has(swing)) return 'swing';
    if (this.#isTurn(edit, turn => this.#swingOf(turn))) return 'swing';
    if (place !== undefined && place.differed > 0 && this.#isPair(edit)) return 'swing';
    const onMany = ({ around, before, after }: TokenTurn) =>
      around.find(key => this.#turned.has(turnKey({ around: key, before, after })));
    const otherwise = this.#reaches(edit, place, seen) || this.#isTurn(edit, onMany) ? 'shared' : 'news';
    if (this.#lifted.has(edit.place)) return otherwise;
    if (differs && edit.within && this.stems.has(edit.frame) && !this.#lifted.has(edit.frame)) return 'token';
    if (place && isNoisy(place) && fits(place, edit) && !exceeds(places, place, edit)) return 'looks';
    if (variesNearby(places, edit)) return 'looks';
    // Other pages have other things between the same neighbours; words in a block that has stayed are the same thing.
    if (differs && edit.within && this.#isElsewhere(edit.place)) return 'looks-elsewhere';
    if (place && swingsAt(place) && cameBack(place, edit)) return 'returned';
    if (swingsNearby(places, edit)) return 'returned';
    if (place && goesBackAndForth(place, edit)) return 'returned';
    if (this.#onGround(edit, places)) return 'looks';
    return otherwise;
  }

  /** Everything that differs in a reference is known, by keys that nobody has lifted. */
  #isTurn({ turns }: Edit, keyOf: (turn: TokenTurn) => number | undefined): boolean {
    return (
      turns.length > 0 && turns.every(turn => !this.#lifted.has(keyOf(turn) ?? Number.NaN) && keyOf(turn) !== undefined)
    );
  }

  /** The group of values between which machines swing, where what became what is in one. */
  #swingOf({ around, before, after }: TokenTurn): number | undefined {
    const groups = around.map(key => [before, after].map(value => this.#swings.get(hashAll([key, value]))));
    return groups.find(([one, other]) => one !== undefined && one === other)?.[0];
  }

  /** It lies where two looks found other things, and all of it has come and gone there. */
  #onGround(edit: Edit, places: Places): boolean {
    const found = groundFor(places, edit);
    return found?.unseen === false && !this.#lifted.has(found.ground.key);
  }

  /**
   * An edit that many pages have had has come to this page, too. It comes once, and to pages that were not seen since: what
   * closes with all others and opens again with them may close alone another day, and that is its own news.
   */
  #reaches(edit: Edit, place: Place | undefined, seen: number): boolean {
    const since = this.shared.get(placedOf(edit));
    return since !== undefined && seen < since + SAME_EVENT && !(place && cameBack(place, edit));
  }

  /**
   * Whether the pages on which something around this became another in earlier rounds are those on which it did in this one, and mostly
   * were before; undefined where too few of them were looked at. `has`: whether one was.
   */
  together(around: number, { pages, differing, start, has }: Turning): boolean | undefined {
    const { known, rounds, apart, last } = this.#together.get(around) ?? {
      known: [],
      rounds: 0,
      apart: 0,
      last: start,
    };
    const before = known.filter(([page, time]) => time < start && has(page));
    const gone = new Set(before.filter(([page]) => !differing.has(page)));
    const isKnown = before.length >= LEAST_AGAIN;
    const again = gone.size <= (1 - AGAIN) * before.length;
    // A round is reviewed more than once.
    const counts = isKnown && last < start ? 1 : 0;
    const all = { rounds: rounds + counts, apart: apart + (again ? 0 : counts) };
    const fresh = [...pages].filter(page => !known.some(([each]) => each === page));
    // What has it no more is not asked again, once the others have shown that they go together.
    const left = known.filter(each => !(isKnown && again && gone.has(each)));
    // The same pages are kept whichever come first.
    const kept = [...left, ...fresh.map(page => [page, start] as const)]
      .toSorted(([a], [b]) => hashAll([a, around]) - hashAll([b, around]))
      .slice(0, MOST_TOGETHER);
    this.#together.delete(around);
    this.#together.set(around, { ...all, known: kept, last: Math.max(last, start) });
    return isKnown ? again && all.apart <= all.rounds - all.apart : undefined;
  }

  /** What the pages of a round have shown together takes the place of what those of an earlier one had. */
  variesEverywhere(around: ReadonlyMap<number, string>): void {
    this.#believed = new Set(around.keys());
    if (around.size === 0) return;
    this.#everywhere.clear();
    for (const [key, told] of around) this.#everywhere.set(key, told);
  }

  /** Keys of tokens that became the same other ones on many pages of a round. */
  turnsOnMany(keys: ReadonlySet<number>): void {
    this.#turned = keys;
  }

  /** Two values of a token that swing: one became the other on a page, and the other way round on another. */
  swing({ before, after, told }: Swing): void {
    const group = this.#swings.get(before) ?? this.#swings.get(after) ?? before;
    const other = this.#swings.get(after);
    if (other !== undefined && other !== group) {
      for (const [value, its] of this.#swings) if (its === other) this.#swings.set(value, group);
    }
    this.#swings.set(before, group);
    this.#swings.set(after, group);
    this.told.set(group, told);
  }

  /** A page has other tokens in a reference. What turned in several of them, and back in as many, swings, if not in one round. */
  turned(page: number, { stem, frame, turns, told }: Edit, isOfMachines: (turn: TokenTurn) => boolean): void {
    for (const { around, before, after } of stem === 0 ? [] : turns.filter(isOfMachines)) {
      const key = around.at(-1)!;
      const there = turnKey({ around: key, before, after });
      const known = this.#turns.get(there) ?? [];
      const reference = hashAll([page, frame]);
      if (!known.includes(reference)) this.#turns.set(there, [...known, reference].slice(-ENOUGH_PAGES));
      const ways = [there, turnKey({ around: key, before: after, after: before })];
      if (ways.every(way => (this.#turns.get(way)?.length ?? 0) >= ENOUGH_PAGES))
        this.swing({ before: hashAll([key, before]), after: hashAll([key, after]), told });
    }
  }

  /** Two looks at a page, a moment apart, agreed at the place of an edit, or there was another edit between them. */
  looked(page: number, edit: Edit, place: Place, again: Edit | undefined): void {
    place.passed = 0;
    if (again) {
      place.frame = again.list === 'reference' ? again.frame : 0;
      place.stars = (place.pieces === again.pieces ? place.stars : 0) | again.stars;
      place.pieces = again.pieces;
      place.growth = Math.max(place.growth ?? 0, Math.abs(again.items[1].length - again.items[0].length));
      place.fresh ||= isFresh(again);
      place.differed++;
      place.rest = 0;
      this.volatile++;
      this.#differed(page, edit.place, place.told);
      if (edit.stem !== 0 && this.#differed(page, edit.stem, edit.told)) this.stems.set(edit.stem, edit.told);
      // What varies of it here and on other pages varies on all, where the words beside it are the same.
      if (again.within && again.frame !== 0 && this.#differed(page, again.frame, again.told))
        this.stems.set(again.frame, again.told);
      // Two values between which looks at two pages went are those of two machines.
      const [before, after] = swingKeys(again);
      if (this.#wentBetween(page, again)) this.swing({ before, after, told: again.told });
    } else {
      place.agreed++;
      place.rest = 2 ** Math.min(place.agreed - 1, 5);
      this.stable++;
      this.stems.delete(edit.stem);
      if (edit.within) this.stems.delete(edit.frame);
    }
  }

  /** Looks at other pages went between the same two values, which nothing else has by chance: one of few may agree by lot here. */
  #isPair(edit: Edit): boolean {
    const key = pairKey(edit);
    return this.#isElsewhere(key) && !this.#lifted.has(key);
  }

  /** Whether looks at two pages differed between the same two values. */
  #wentBetween(page: number, edit: Edit): boolean {
    if (edit.whole.includes(0)) return false;
    if (isLongPair(edit)) this.#differed(page, pairKey(edit), edit.told);
    const key = hashAll([...swingKeys(edit)].sort((a, b) => a - b));
    this.#differed(page, key, edit.told);
    return this.#places.get(key)!.length >= ENOUGH_TO_SWING;
  }

  /** Returns whether that was seen on enough pages. */
  #differed(page: number, key: number, told: string): boolean {
    const pages = this.#places.get(key) ?? [];
    if (!pages.includes(page) && pages.length < ENOUGH_PAGES) this.#places.set(key, [...pages, page]);
    this.told.set(key, told);
    return this.#places.get(key)!.length >= ENOUGH_PAGES;
  }

  /** What is taken for noise on a page, and why: at its own places, and on all pages of the server. */
  masks(places: Places): Mask[] {
    const own = [...places].filter(
      ([key, place]) => (place.differed > 0 || isBackAndForth(place)) && !this.#lifted.has(key),
    );
    const grounds = places.grounds.filter(ground => isFirm(ground) && !this.#lifted.has(ground.key));
    return [
      ...grounds.map(({ key, told, differed, agreed }) => {
        return { keys: [key], evidence: 'looks' as const, told, differed, agreed };
      }),
      ...own.map(([key, place]) => {
        const { told, differed, agreed } = place;
        return { keys: [key], evidence: this.#evidenceOf(key, place), told, differed, agreed };
      }),
      ...this.#everyPageHas('token', this.stems),
      ...this.#everyPageHas('everywhere', this.#everywhere),
      ...this.#everyPageHas('swing', new Map([...this.#swings.values()].map(key => [key, this.told.get(key) ?? '']))),
    ];
  }

  /** Masks of the server by their keys: those of which the same is told are one. */
  #everyPageHas(evidence: Evidence, toldOf: ReadonlyMap<number, string>): Mask[] {
    const masks = new Map<string, number[]>();
    for (const [key, told] of toldOf) if (!this.#lifted.has(key)) masks.set(told, [...(masks.get(told) ?? []), key]);
    return [...masks].map(([told, keys]) => ({ keys, evidence, told }));
  }

  #evidenceOf(key: number, place: Place): Evidence {
    if (isNoisy(place)) return 'looks';
    return place.agreed === 0 && this.#isElsewhere(key) ? 'looks-elsewhere' : 'returned';
  }

  #isElsewhere(key: number): boolean {
    return (this.#places.get(key)?.length ?? 0) >= ENOUGH_PAGES;
  }

  /** From now on these count like everything else. Returns how many there were. */
  lift(places: Places): number {
    const masks = this.masks(places);
    for (const key of masks.flatMap(({ keys }) => keys)) this.#lifted.set(key, 1);
    return masks.length;
  }
}

export interface Saved {
  readonly stems?: [number, string][];
  readonly swings?: [number, number][];
  readonly places?: [number, number[]][];
  readonly shared?: [number, number][];
  readonly turns?: [number, number[]][];
  readonly lifted?: [number, number][];
  readonly everywhere?: [number, string][];
  readonly together?: [number, Together][];
  readonly told?: [number, string][];
  readonly stable?: number;
  readonly volatile?: number;
}

function newest<T>(map: Map<number, T>): [number, T][] {
  return [...map].slice(-MOST_KEPT);
}
