/**
 * What is known of the noise of one server, and what that makes of a page's edits. Noise needs evidence: two looks a moment
 * apart differed there, or only a token differs that second looks at other pages have shown to vary, or that swings
 * between the same values on several pages. What differs over hours or days without such evidence is news, however often.
 *
 * Pure: visits in, verdicts out. It can be written down as JSON and read again.
 */
import type { Edit } from './edits.ts';
import { hashAll } from './hash.ts';

/** Why an edit is no news. */
export type Evidence =
  /** Only a token differs that was another at second looks at some pages. */
  | 'token'
  /** Only a token differs that swings between values seen before. */
  | 'swing'
  /** Two looks a moment apart differed there. */
  | 'looks'
  /** They did at this place of other pages. */
  | 'looks-elsewhere'
  /** They did, and what is there now was there before. */
  | 'returned';

/** `shared`: many pages of the server have the same edit, so that it is one event of the server. */
export type Verdict = Evidence | 'shared' | 'news';

/** A place of a page at which something differed. */
export interface Place {
  /** Second looks that differed there, and that agreed. */
  differed: number;
  agreed: number;
  /** Edits seen there. */
  edits: number;
  /** Edits that pass before the next second look. */
  rest: number;
  /** Hashes of what was seen there, newest last, and how often one of them came back. */
  values: number[];
  returned: number;
  /** What the last edit brought, and whether that had been there before. */
  last: number;
  back: boolean;
  /** What stayed of a reference at the last second look that differed; 0 = nothing did, or it is no reference. */
  frame: number;
  /** Visits since the last second look at which it was taken for noise. */
  passed: number;
  /** What was taken for noise there at the last visit and had never been there before; 0 = nothing. */
  held: number;
  /** For people: what differed last. */
  told: string;
}

export type Places = Map<number, Place>;

/** Something that is taken for noise, and why. */
export interface Mask {
  readonly key: number;
  readonly evidence: Evidence;
  /** What differed last, or the token with stars for what varies. */
  readonly told: string;
  /** Second looks at this page that differed there, and that agreed. */
  readonly differed?: number;
  readonly agreed?: number;
}

const MOST_PLACES = 24;
const MOST_VALUES = 6;
/** Pages on which second looks must have differed at a place before it is noise on all of them. */
export const ENOUGH_PAGES = 3;
/** The same for two values, whatever their place. */
const ENOUGH_TO_SWING = 2;
/** Of each kind of knowledge, the newest so many are kept. */
const MOST_KEPT = 2000;

export class ServerKnowledge {
  /** Stems of tokens that are others at each look. */
  readonly stems: Map<number, string>;
  /** Values of tokens that swing: value → its group. */
  readonly swings: Map<number, number>;
  /** Places, and stems of tokens, where second looks differed → pages. */
  readonly places: Map<number, number[]>;
  /** Edits that many pages have had at the same place → how many. */
  readonly shared: Map<number, number>;
  /** Keys of masks that a person has lifted: they stay so. */
  readonly lifted: Map<number, number>;
  /** What the keys above stand for, for people. */
  readonly told: Map<number, string>;
  /** Second looks that found everything as it was, and those that did not. */
  stable: number;
  volatile: number;

  constructor(saved: Saved = {}) {
    this.stems = new Map(saved.stems);
    this.swings = new Map(saved.swings);
    this.places = new Map(saved.places);
    this.shared = new Map(saved.shared);
    this.lifted = new Map(saved.lifted);
    this.told = new Map(saved.told);
    this.stable = saved.stable ?? 0;
    this.volatile = saved.volatile ?? 0;
  }

  save(): Saved {
    return {
      stems: newest(this.stems),
      swings: newest(this.swings),
      places: newest(this.places),
      shared: newest(this.shared),
      lifted: newest(this.lifted),
      told: newest(this.told),
      stable: this.stable,
      volatile: this.volatile,
    };
  }

  verdictOn(edit: Edit, places: Places): Verdict {
    if (edit.stem !== 0 && this.stems.has(edit.stem) && !this.lifted.has(edit.stem)) return 'token';
    const [old, now] = edit.within ? edit.whole : [edit.before, edit.after];
    const swing = this.swings.get(old);
    const swings = swing !== undefined && swing === this.swings.get(now);
    if (swings && !this.lifted.has(swing)) return 'swing';
    if (this.lifted.has(edit.place)) return this.shared.has(placedOf(edit)) ? 'shared' : 'news';
    const place = places.get(edit.place);
    if (edit.within && !place?.agreed && this.stems.has(edit.frame) && !this.lifted.has(edit.frame)) return 'token';
    if (place && isNoisy(place) && fits(place, edit)) return 'looks';
    if (variesNearby(places, edit)) return 'looks';
    // Other pages have other things between the same neighbours; words in a block that has stayed are the same thing.
    const elsewhere = edit.within && (this.places.get(edit.place)?.length ?? 0) >= ENOUGH_PAGES;
    if (elsewhere && !place?.agreed) return 'looks-elsewhere';
    if (place && swingsAt(place) && cameBack(place, edit)) return 'returned';
    if (swingsNearby(places, edit)) return 'returned';
    return this.shared.has(placedOf(edit)) ? 'shared' : 'news';
  }

  /** Two values of a token that swing: one became the other on a page, and the other way round on another. */
  swing({ before, after, told }: Edit): void {
    const group = this.swings.get(before) ?? this.swings.get(after) ?? before;
    const other = this.swings.get(after);
    if (other !== undefined && other !== group) {
      for (const [value, its] of this.swings) if (its === other) this.swings.set(value, group);
    }
    this.swings.set(before, group);
    this.swings.set(after, group);
    this.told.set(group, told);
  }

  /** Two looks at a page, a moment apart, agreed at the place of an edit, or there was another edit between them. */
  looked(page: number, edit: Edit, place: Place, again: Edit | undefined): void {
    place.passed = 0;
    if (again) {
      place.frame = again.list === 'reference' ? again.frame : 0;
      place.differed++;
      place.rest = 0;
      this.volatile++;
      this.#differed(page, edit.place, place.told);
      if (edit.stem !== 0 && this.#differed(page, edit.stem, edit.told)) this.stems.set(edit.stem, edit.told);
      // What varies of it here and on other pages varies on all, where the words beside it are the same.
      if (again.within && again.frame !== 0 && this.#differed(page, again.frame, again.told))
        this.stems.set(again.frame, again.told);
      // Two values between which looks at two pages went are those of two machines.
      if (this.#wentBetween(page, again)) this.swing({ ...again, before: again.whole[0], after: again.whole[1] });
    } else {
      place.agreed++;
      place.rest = 2 ** Math.min(place.agreed, 5);
      this.stable++;
      this.stems.delete(edit.stem);
      if (edit.within) this.stems.delete(edit.frame);
    }
  }

  /** Whether looks at two pages differed between the same two values. */
  #wentBetween(page: number, { whole, told }: Edit): boolean {
    if (whole.includes(0)) return false;
    const key = hashAll([...whole].sort((a, b) => a - b));
    this.#differed(page, key, told);
    return this.places.get(key)!.length >= ENOUGH_TO_SWING;
  }

  /** Returns whether that was seen on enough pages. */
  #differed(page: number, key: number, told: string): boolean {
    const pages = this.places.get(key) ?? [];
    if (!pages.includes(page) && pages.length < ENOUGH_PAGES) this.places.set(key, [...pages, page]);
    this.told.set(key, told);
    return this.places.get(key)!.length >= ENOUGH_PAGES;
  }

  /** What is taken for noise on a page, and why: at its own places, and on all pages of the server. */
  masks(places: Places): Mask[] {
    const own = [...places].filter(([key, { differed }]) => differed > 0 && !this.lifted.has(key));
    const far = [...this.places].filter(([key, pages]) => {
      return pages.length >= ENOUGH_PAGES && !this.stems.has(key) && !places.has(key) && !this.lifted.has(key);
    });
    const groups = new Set(this.swings.values());
    return [
      ...own.map(([key, place]) => {
        const { told, differed, agreed } = place;
        return { key, evidence: isNoisy(place) ? ('looks' as const) : ('returned' as const), told, differed, agreed };
      }),
      ...far.map(([key]) => ({ key, evidence: 'looks-elsewhere' as const, told: this.told.get(key) ?? '' })),
      ...[...this.stems]
        .filter(([key]) => !this.lifted.has(key))
        .map(([key, told]) => ({ key, evidence: 'token' as const, told })),
      ...[...groups]
        .filter(key => !this.lifted.has(key))
        .map(key => ({ key, evidence: 'swing' as const, told: this.told.get(key) ?? '' })),
    ];
  }

  /** From now on these count like everything else. Returns how many there were. */
  lift(places: Places): number {
    const masks = this.masks(places);
    for (const { key } of masks) this.lifted.set(key, 1);
    return masks.length;
  }
}

/** Second looks differed there, if not each time: by chance a look meets one of few values again. */
function swingsAt({ differed, agreed }: Place): boolean {
  return differed >= 2 && 2 * differed >= agreed;
}

/** No more differs than differed between two looks: a picture of the day behind two machines with a token each does. */
export function fits({ frame }: Pick<Edit, 'frame'>, edit: Edit): boolean {
  return !frame || edit.list !== 'reference' || frame === edit.frame;
}

/** Both values swing at another place of the page: what stands beside it does, too, so that its place is not the same. */
function swingsNearby(places: Places, { before, after }: Edit): boolean {
  for (const place of places.values()) {
    const { values, last } = place;
    if (swingsAt(place) && last !== after && values.includes(before) && values.includes(after)) return true;
  }
  return false;
}

/** What varies of a reference varies wherever it stands: something beside it has changed, so that its place is another. */
function variesNearby(places: Places, { list, frame }: Edit): boolean {
  if (list !== 'reference' || frame === 0) return false;
  for (const place of places.values()) if (place.differed >= 2 && isNoisy(place) && place.frame === frame) return true;
  return false;
}

/** The same before the edit is remembered and after. */
function cameBack({ last, back, values }: Place, { after }: Edit): boolean {
  return after === last ? back : values.includes(after);
}

/** Second looks say so, and do not take it back. One alone may have met a change by chance: it holds for one visit. */
export function isNoisy({ differed, agreed, passed }: Place): boolean {
  return differed >= 2 ? differed >= 2 * agreed : differed === 1 && agreed === 0 && passed === 0;
}

/**
 * The edit with what stands before it, and with what stands behind it: one of the two may be the page's own, as it is
 * between a menu and a headline. Where something was replaced, also with how far it is from either end of the page.
 */
export function signaturesOf({ around, whole }: Edit): number[] {
  const kinds = whole.includes(0) ? 2 : 4;
  return around.slice(0, kinds).map((beside, kind) => hashAll([beside, kind, ...whole]));
}

/** The edit with its place. */
export function placedOf(edit: Edit): number {
  return hashAll([edit.place, ...edit.whole]);
}

/** What a visit saw at its places; the least telling are dropped when there are too many. */
export function remember(places: Places, edits: readonly Edit[]): void {
  for (const { place: key, before, after, told } of edits) {
    const place = places.get(key) ?? newPlace(before, told);
    place.edits++;
    place.rest = Math.max(0, place.rest - 1);
    place.last = after;
    place.back = place.values.includes(after);
    if (place.back) place.returned++;
    place.values = [...place.values.filter(value => value !== after), after].slice(-MOST_VALUES);
    place.told = told;
    places.delete(key);
    places.set(key, place);
  }
  const spare = [...places].filter(([, { differed }]) => differed === 0).map(([key]) => key);
  for (const key of spare.slice(0, Math.max(0, places.size - MOST_PLACES))) places.delete(key);
}

function newPlace(before: number, told: string): Place {
  const seen = { values: [before], returned: 0, last: 0, back: false, frame: 0, passed: 0, held: 0 };
  return { differed: 0, agreed: 0, edits: 0, rest: 0, ...seen, told };
}

export interface Saved {
  readonly stems?: [number, string][];
  readonly swings?: [number, number][];
  readonly places?: [number, number[]][];
  readonly shared?: [number, number][];
  readonly lifted?: [number, number][];
  readonly told?: [number, string][];
  readonly stable?: number;
  readonly volatile?: number;
}

function newest<T>(map: Map<number, T>): [number, T][] {
  return [...map].slice(-MOST_KEPT);
}
