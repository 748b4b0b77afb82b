/**
 * Waves: pages of a server that change together, because of a new menu, a new version, a banner. A look at a page is foretold
 * by the page's own rate and by the waves that it has missed, those that began since it was last seen. A wave begins where
 * looks are explained better by one more; so the next one is found while the last still runs, by pages that were seen since.
 * A page that was seen after the first of three waves has missed the other two.
 *
 * How likely a wave has touched a page follows from what looks have found in the page's part of the server, and moves it
 * forward as a notice does: by what it is worth. This decides only what waves touch, never whether a page changed.
 */
import { DAY } from '../../base/clock.ts';
import { FLAG_CHANGED, isUnspoken } from '../../ledger/pages/known-row.ts';
import type { Server } from '../../ledger/servers.ts';
import { MAX_INTERVAL, type PolicyTerms, phaseOf } from '../../revisit/policy.ts';

/** What visits to one server have shown in the same window of time. */
export interface WaveShown {
  /** When the window began, milliseconds since 1970. */
  readonly since: number;
  readonly visits: number;
  readonly changed: number;
  /** Changes to expect by the rates of the pages. */
  readonly foretold: number;
}

/** Looks, held against what was known. */
interface WaveEvidence {
  changed: number;
  /** Logarithms: how much better each share of TOUCHED explains them than what was known. */
  readonly better: number[];
}

interface Tide extends WaveEvidence {
  /** When the window begins and ends, milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** What earlier days have shown. */
  readonly earlier: WaveShown | undefined;
  /** The same by part of the server. */
  readonly parts: Map<string, WaveEvidence>;
  /** The latest looks, until they prove a wave: they are its first. */
  readonly seen: WaveSeen[];
  /** They have proved one. */
  proof: boolean;
}

/** What looks since a wave began have found in a part of the server; each counts as far as nothing else explains a change. */
interface WavePart {
  visits: number;
  changed: number;
  /** What it was worth when pages were last placed by it. */
  placed: number;
}

/** What the ledger keeps of a wave: a small budget follows it over several rounds. */
export interface WaveSaved {
  readonly server: number;
  /** When it began, milliseconds since 1970. */
  readonly wave: number;
  readonly parts: readonly (readonly [part: string, visits: number, changed: number])[];
}

interface Wave {
  /** When it began, milliseconds since 1970. */
  readonly began: number;
  readonly parts: Map<string, WavePart>;
  /** How likely it has touched a page of a part, as far as that was asked since its last look. */
  readonly likely: Map<string, number>;
}

/** How likely it is that waves have touched a page. */
export interface Touched {
  readonly likely: number;
  /** Visits to its part of the server since the last wave began. */
  readonly looks: number;
}

/** What waves learn from a visit. */
export interface WaveSeen {
  readonly changed: boolean;
  /** Probability of a change by the page's own rate. */
  readonly foretold: number;
  /** When the page was seen the last time before, milliseconds since 1970. */
  readonly before: number;
  /** The part of the server, see partOf. */
  readonly part: string;
}

/** `turned`: what is believed of a part of the server is another. `suspected`: one more change would prove a wave. */
type WaveStep = 'begun' | 'ended' | 'turned' | 'suspected' | undefined;

/** Length of the window in which visits count together, milliseconds. */
const WINDOW = DAY / 2;
/** Shares of a server's pages that a wave may touch, equally likely. */
const TOUCHED = [0.25, 0.5, 0.95];
/** One change proves nothing; and no page counts as less likely to change at a visit than LEAST_RATE. */
const LEAST_CHANGED = 2;
const LEAST_FORETOLD = 0.02;
/** A change that was as likely as not is no sign of a wave, however often it comes true. */
const MOST_FORETOLD = 0.5;
/** Odds of a wave that are worth a few visits. */
const SUSPICIOUS = 0.1;
/** A wave was none when so many visits find changes at less than this share of the pages of every part. */
const ENOUGH_VISITS = 12;
const OVER_SHARE = 0.15;
/** Parts of a server that are counted separately. */
const MOST_PARTS = 64;
/** Waves of a server that are told apart. Whoever missed one of them missed those after it. */
const MOST_WAVES = 8;

/** What is known of a server from before this process. */
interface WaveSources {
  /** What visits of the last days have shown: a small budget finds a wave over several rounds. */
  readonly earlier?: (server: number, time: number) => WaveShown | undefined;
  /** Waves a day that are to be expected of it. */
  readonly rate?: (server: number, time: number) => number;
  readonly saved?: readonly WaveSaved[];
  /** A site's word says of each page of which it tells whether it changed, and has been true. */
  readonly vouches?: (server: Server) => boolean;
}

export class Waves {
  readonly #tides = new Map<number, Tide>();
  /** By server, the last one last. */
  readonly #waves = new Map<number, Wave[]>();
  readonly #sources: WaveSources;

  constructor(sources: WaveSources = {}) {
    this.#sources = sources;
    for (const { server, wave, parts } of sources.saved ?? []) {
      const list = [...(this.#waves.get(server) ?? []), waveOf(wave, parts)];
      this.#waves.set(
        server,
        list.sort((a, b) => a.began - b.began),
      );
    }
  }

  /** The running waves, as the ledger keeps them. */
  get saved(): WaveSaved[] {
    return [...this.#waves].flatMap(([server, list]) =>
      list.map(({ began, parts }) => ({
        ...{ server, wave: began },
        parts: [...parts].map(([part, { visits, changed }]) => [part, visits, changed] as const),
      })),
    );
  }

  /** Counts a visit that no notice brought about. */
  count(server: Server, time: number, seen: WaveSeen): WaveStep {
    const missed = this.#missed(server, seen.before);
    const touched = anyOf(missed.map(wave => likelyIn(wave, seen.part)));
    const step = this.#watch(server, time, seen, 1 - (1 - seen.foretold) * (1 - touched));
    if (step === 'begun' || missed.length === 0) return step;
    const turned = missed.map(wave => learn(wave, missed, seen)).includes(true);
    if (missed.some(isNone)) {
      this.#keep(
        server,
        this.#of(server).filter(wave => !isNone(wave)),
      );
      this.#tides.delete(server.id);
      return 'ended';
    }
    return turned ? 'turned' : step;
  }

  /** Probability that one of the waves that a page has missed touched it; undefined where it missed none. */
  touched(server: Server, page: Parted & { readonly seen_time: number }): Touched | undefined {
    if (server.wave <= page.seen_time || (!isUnspoken(page) && this.#sources.vouches?.(server))) return undefined;
    const missed = this.#missed(server, page.seen_time);
    const part = partOf(page);
    const looks = missed.at(-1)?.parts.get(part)?.visits ?? 0;
    return { likely: anyOf(missed.map(wave => likelyIn(wave, part))), looks };
  }

  /** The waves that a page has missed explain that it has changed better than its own rate does. */
  explains(server: Server, page: Parted & { readonly seen_time: number }, foretold: number): boolean {
    return (this.touched(server, page)?.likely ?? 0) > foretold;
  }

  /** Could these looks be the first of a wave? `known`: how likely the last one was to find a change. */
  #watch(server: Server, time: number, seen: WaveSeen, known: number): WaveStep {
    let tide = this.#tides.get(server.id);
    if (!tide || time > tide.until) {
      const earlier = tide || server.wave > 0 ? undefined : this.#sources.earlier?.(server.id, time);
      tide = { ...still(), since: time, until: time + WINDOW, earlier, parts: new Map(), seen: [], proof: false };
      this.#tides.set(server.id, tide);
    }
    const own = tide.parts.get(seen.part) ?? still();
    if (tide.parts.size < MOST_PARTS) tide.parts.set(seen.part, own);
    remember(tide, seen);
    weigh(tide, seen.changed, known);
    weigh(own, seen.changed, known);
    if (!seen.changed || tide.proof) return undefined;
    const odds = this.#sources.rate?.(server.id, time) ?? USUAL.waves / USUAL.days;
    const { earlier } = tide;
    const isProof = (each: WaveEvidence) => each.changed >= LEAST_CHANGED && oddsOf(each, odds) > 1;
    tide.proof = isProof(tide) || isProof(own);
    if (tide.proof) return this.#begin(server, time, tide.since);
    tide.proof = earlier !== undefined && isProof(withEarlier(tide, earlier));
    if (tide.proof) return this.#begin(server, time, earlier!.since);
    return oddsOf(tide, odds) > SUSPICIOUS || oddsOf(own, odds) > SUSPICIOUS ? 'suspected' : undefined;
  }

  #begin(server: Server, time: number, since: number): WaveStep {
    const young = this.#of(server).filter(({ began }) => began > time - MAX_INTERVAL * DAY);
    const wave = waveOf(since, []);
    this.#keep(server, [...young.slice(1 - MOST_WAVES), wave]);
    for (const seen of this.#tides.get(server.id)!.seen) {
      const missed = this.#missed(server, seen.before);
      for (const each of missed) learn(each, missed, seen);
    }
    this.#tides.get(server.id)!.seen.length = 0;
    return 'begun';
  }

  #of(server: Server): Wave[] {
    return this.#waves.get(server.id) ?? (server.wave > 0 ? [waveOf(server.wave, [])] : []);
  }

  #keep(server: Server, waves: Wave[]): void {
    if (waves.length > 0) this.#waves.set(server.id, waves);
    else this.#waves.delete(server.id);
    server.wave = waves.at(-1)?.began ?? 0;
  }

  #missed(server: Server, seen: number): readonly Wave[] {
    return server.wave <= seen ? [] : this.#of(server).filter(({ began }) => began > seen);
  }
}

function waveOf(began: number, shown: WaveSaved['parts']): Wave {
  const parts = shown.map(([part, visits, changed]): [string, WavePart] => [part, { visits, changed, placed: 0 }]);
  return { began, parts: new Map(parts), likely: new Map() };
}

/** Looks that a wave learns from when it begins: enough to know its parts, and few for servers of millions of pages. */
const MOST_SEEN = 1000;

function remember({ seen, proof }: Tide, look: WaveSeen): void {
  if (proof) return;
  if (seen.length >= 2 * MOST_SEEN) seen.splice(0, MOST_SEEN);
  seen.push(look);
}

const still = (): WaveEvidence => ({ changed: 0, better: TOUCHED.map(() => 0) });

function weigh(evidence: WaveEvidence, changed: boolean, known: number): void {
  if (known > MOST_FORETOLD) return;
  const usual = Math.max(LEAST_FORETOLD, known);
  if (changed) evidence.changed++;
  for (const [i, share] of TOUCHED.entries()) {
    evidence.better[i]! += changed ? Math.log(1 + ((1 - usual) * share) / usual) : Math.log1p(-share);
  }
}

/** Odds that one more wave explains the looks, against what was known; `odds`: before any look. */
function oddsOf({ better }: WaveEvidence, odds: number): number {
  return (odds * better.reduce((sum, log) => sum + Math.exp(log), 0)) / TOUCHED.length;
}

/** With the looks of earlier days, of which only sums are known. */
function withEarlier({ changed, better }: WaveEvidence, earlier: WaveShown): WaveEvidence {
  const usual = Math.min(MOST_FORETOLD, Math.max(LEAST_FORETOLD, earlier.foretold / Math.max(1, earlier.visits)));
  const log = (share: number) =>
    earlier.changed * Math.log(1 + ((1 - usual) * share) / usual) +
    (earlier.visits - earlier.changed) * Math.log1p(-share);
  return { changed: changed + earlier.changed, better: better.map((each, i) => each + log(TOUCHED[i]!)) };
}

/** A wave learns from a look, as far as neither the page's own rate nor other waves explain a change; is it turned by that? */
function learn(wave: Wave, missed: readonly Wave[], { changed, foretold, part }: WaveSeen): boolean {
  const others = missed.filter(each => each !== wave).map(each => likelyIn(each, part));
  const weight = (1 - foretold) * (1 - anyOf(others));
  const own = wave.parts.get(part) ?? { visits: 0, changed: 0, placed: surenessOf(likelyIn(wave, part)) };
  if (wave.parts.size < MOST_PARTS) wave.parts.set(part, own);
  own.visits += weight;
  own.changed += changed ? weight : 0;
  wave.likely.clear();
  const sureness = surenessOf(likelyIn(wave, part));
  const isSame = sureness <= own.placed * 2 && sureness >= own.placed / 2;
  if (isSame || Math.max(sureness, own.placed) < LEAST_SURE) return false;
  own.placed = sureness;
  return true;
}

/** What a wave is worth grows with this, see worthOf. */
const LEAST_SURE = 0.1;
const surenessOf = (likely: number): number => -Math.log1p(-likely);

/** Its looks have found next to nothing in any part of the server. */
function isNone({ parts }: Wave): boolean {
  const all = [...parts.values()];
  const visits = all.reduce((sum, each) => sum + each.visits, 0);
  return visits >= ENOUGH_VISITS && all.every(each => each.changed < OVER_SHARE * each.visits || each.changed === 0);
}

const anyOf = (likely: readonly number[]): number => 1 - likely.reduce((none, each) => none * (1 - each), 1);

/** Factor for pages of other folders, when only one folder has shown changes. */
const OF_ONE_FOLDER = 0.5;
/** Parts whose likelihood is remembered. */
const MOST_ASKED = 1024;
/** Weight of the prior, in visits: a wave mostly touches nearly all of a part, or nothing of it. */
const DOUBT = 0.7;

/**
 * Probability that a wave has touched a page of a part of the server, estimated from visits in it, and from those in all parts
 * where these are few. Each part counts the same, because parts that are touched are visited first. When only one folder has
 * shown changes, the wave is as likely as not confined to it.
 */
function likelyIn(wave: Wave, part: string): number {
  const likely = wave.likely.get(part) ?? likelyBy(wave, part);
  if (wave.likely.size < MOST_ASKED) wave.likely.set(part, likely);
  return likely;
}

function likelyBy({ parts }: Wave, part: string): number {
  const all = [...parts.values()];
  const elsewhere = all.reduce((sum, each) => sum + likelyAmong(each, 0.5), 0.5) / (all.length + 1);
  const folders = new Set([...parts].filter(([, { changed }]) => changed > 0).map(([name]) => folderOf(name)));
  const apart = folders.size === 1 && !folders.has(folderOf(part)) ? OF_ONE_FOLDER : 1;
  return likelyAmong(parts.get(part) ?? { visits: 0, changed: 0 }, apart * elsewhere);
}

function likelyAmong({ visits, changed }: Pick<WavePart, 'visits' | 'changed'>, elsewhere: number): number {
  return (changed + DOUBT * elsewhere) / (visits + DOUBT);
}

/** What decides when a page is due by the waves that it has missed. */
interface InWave {
  readonly page: number;
  readonly now: number;
  /** Probability that our copy is not as the page is now. */
  readonly stale: number;
  /** Changes a day of the page, and waves that will touch it: a look lasts until the first of them. By some estimators 0. */
  readonly rate: number;
  /** The freshness that was asked for; undefined = the aim is a budget. */
  readonly freshness: number | undefined;
}

/** However sure a copy is to be stale, a look may find nothing. */
const MOST_STALE = 0.999;

/**
 * A look at a page that is stale now, and not perhaps some day, is worth as much as one at a page that changes at this rate and was
 * left alone until it was as likely to be stale. It is as late as a usual page is whose value has grown as far beyond the
 * threshold; value grows as the square of time.
 */
export function dueInWave({ page, now, stale, rate, freshness }: InWave, terms: PolicyTerms): number {
  const left = 1 - Math.min(MOST_STALE, stale);
  const value = (terms.weight * (1 - left + left * Math.log(left))) / Math.max(rate, 1 / MAX_INTERVAL);
  const { visit, change } = terms.cost ?? { visit: 1, change: 0 };
  const late = Math.sqrt(value / (terms.theta * (visit + stale * change)));
  // A freshness is kept whatever its pages are worth: the worthiest first, until it is reached.
  const due = freshness !== undefined && stale > 1 - freshness ? 0 : 1;
  // Spread over the server, so that the first visits show which parts are touched.
  return Math.max(now - FIRST, now + (terms.cycle * (due - late) - phaseOf(page)) * DAY);
}

/** How far a page moves that comes before all others, milliseconds. */
export const FIRST = 365 * DAY;

/** Waves, and days, that what a server has shown is taken together with. */
export const USUAL = { waves: 0.5, days: 25 };

/** Ratio of sizes: pages that differ by a factor of four are seldom of one kind. */
const SIZE_STEP = 4;

/** What decides to which part of its server a page belongs. */
interface Parted {
  readonly url: string;
  /** Bytes of its last full answer. */
  readonly wire: number | null;
  readonly flags: number;
}

/**
 * The part of a server that a page belongs to, by its first folder, its size, and whether it ever changed: a wave mostly
 * touches the parts that the last one touched.
 */
export function partOf({ url, wire, flags }: Parted): string {
  const folder = /^[a-z]+:\/\/[^/]*\/([^/?]*)\//.exec(url)?.[1] ?? '';
  const size = Math.floor(Math.log(Math.max(1, wire ?? 1)) / Math.log(SIZE_STEP));
  return `${folder} ${size} ${flags & FLAG_CHANGED ? 1 : 0}`;
}

/** Of a part. */
function folderOf(part: string): string {
  return part.slice(0, part.indexOf(' '));
}
