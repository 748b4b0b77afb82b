/**
 * Waves: pages of a server that change together, because of a new menu, a new version, a banner. When visits find more changes
 * than the pages' own rates explain, the rest of the server has probably changed as well, and comes next; when such visits
 * find nothing more, the wave is over. A part of the server that the wave does not touch (a folder, or the small pages) is
 * left alone as soon as a few visits have shown that. This decides only what a wave touches, never whether a page changed.
 */
import { DAY } from '../../base/clock.ts';
import type { Draft } from '../../base/draft.ts';
import { FLAG_CHANGED, isUnspoken } from '../../ledger/pages/known-row.ts';
import type { Server } from '../../ledger/servers.ts';
import { phaseOf } from '../../revisit/policy.ts';

/** What visits to one server have shown in the same window of time. */
export interface WaveShown {
  /** When the window began, milliseconds since 1970. */
  readonly since: number;
  readonly visits: number;
  readonly changed: number;
  /** Changes to expect by the rates of the pages. */
  readonly foretold: number;
}

interface Tide extends Draft<WaveShown> {
  /** What earlier days have shown. */
  readonly earlier: WaveShown | undefined;
  /** When the window ends, milliseconds since 1970. */
  until: number;
  /** The same by part of the server. */
  readonly parts: Map<string, Draft<WaveShown>>;
}

/** What visits since a wave began have found in a part of the server. */
interface RunPart {
  visits: number;
  changed: number;
  /** The wave does not touch it. */
  over: boolean;
}

/** What the ledger keeps of a wave: a small budget follows it over several rounds. */
export interface WaveSaved {
  readonly server: number;
  /** When it began, milliseconds since 1970. */
  readonly wave: number;
  readonly parts: readonly (readonly [part: string, visits: number, changed: number])[];
}

/** The visits that proved a wave, and those that followed from it. */
interface WaveRun {
  /** When it began, milliseconds since 1970. */
  readonly wave: number;
  readonly parts: Map<string, RunPart>;
  /** It touches only the parts in which changes were found. */
  confined: boolean;
}

/** How likely it is that a wave has touched a page. */
export interface Touched {
  readonly likely: number;
  /** Visits to its part of the server since the wave began. */
  readonly looks: number;
}

/** What waves learn from a visit. */
export interface WaveSeen {
  readonly changed: boolean;
  readonly foretold: number;
  /** When the page was seen the last time before, milliseconds since 1970. */
  readonly before: number;
  /** The part of the server, see partOf. */
  readonly part: string;
}

/** `spared`: the wave turned out not to touch a part of the server. `suspected`: one more change would prove a wave. */
type WaveStep = 'begun' | 'ended' | 'spared' | 'suspected' | undefined;

/** Length of the window in which visits count together, milliseconds. */
const WINDOW = DAY / 2;
/** Prior odds: a wave on one day in fifty at a server. */
const ODDS = 1 / 50;
/** Shares of a server's pages that a wave may touch, equally likely. */
const TOUCHED = [0.25, 0.5, 0.95];
/** One change proves nothing; and no page counts as less likely to change at a visit than LEAST_RATE. */
const LEAST_CHANGED = 2;
const LEAST_FORETOLD = 0.02;
/** Odds of a wave that are worth a few visits. */
const SUSPICIOUS = 0.1;
/** A wave ends when so many visits find changes at less than this share of pages; fewer suffice for a part of the server. */
const ENOUGH_VISITS = 12;
const ENOUGH_OF_PART = 4;
const OVER_SHARE = 0.15;
/** Parts of a server that are counted separately. */
const MOST_PARTS = 64;

export class Waves {
  readonly #tides = new Map<number, Tide>();
  readonly #runs = new Map<number, WaveRun>();
  readonly #earlier: (server: number, time: number) => WaveShown | undefined;
  readonly #vouches: (server: Server) => boolean;

  /**
   * `earlier`: what visits of the last days have shown, before this process. A small budget finds a wave over several rounds.
   * `vouches`: a site's word says of each page of which it tells whether it changed, and has been true.
   */
  constructor(
    earlier: (server: number, time: number) => WaveShown | undefined = () => undefined,
    saved: readonly WaveSaved[] = [],
    vouches: (server: Server) => boolean = () => false,
  ) {
    this.#earlier = earlier;
    this.#vouches = vouches;
    for (const { server, wave, parts } of saved) this.#runs.set(server, runOf(wave, parts));
  }

  /** The running waves, as the ledger keeps them. */
  get saved(): WaveSaved[] {
    return [...this.#runs].map(([server, { wave, parts }]) => ({
      server,
      wave,
      parts: [...parts].map(([part, { visits, changed }]) => [part, visits, changed] as const),
    }));
  }

  /** Counts a visit that no notice brought about. */
  count(server: Server, time: number, seen: WaveSeen): WaveStep {
    return server.wave > seen.before ? this.#run(server, time, seen) : this.#watch(server, time, seen);
  }

  /** The running wave of the server may have touched this page since its last visit. */
  touches(server: Server, page: Parted & { readonly seen_time: number }): boolean {
    if (server.wave <= page.seen_time || (!isUnspoken(page) && this.#vouches(server))) return false;
    const run = this.#runOf(server);
    const own = run?.parts.get(partOf(page));
    return own && shows(own) ? true : !own?.over && !run?.confined;
  }

  /**
   * Probability that the wave has touched a page, estimated from visits in its part of the server, and from those in all parts
   * where these are few. Each part counts the same, because parts that are touched are visited first. When only one folder has
   * shown changes, the wave is as likely as not confined to it.
   */
  touched(server: Server, page: Parted & { readonly seen_time: number }): Touched | undefined {
    if (!this.touches(server, page)) return undefined;
    const parts = this.#runOf(server)?.parts ?? new Map<string, RunPart>();
    const part = partOf(page);
    const own = parts.get(part) ?? { visits: 0, changed: 0 };
    const folders = new Set([...parts].filter(([, each]) => shows(each)).map(([name]) => folderOf(name)));
    const apart = folders.size === 1 && !folders.has(folderOf(part)) ? OF_ONE_FOLDER : 1;
    return { likely: likelyAmong(own, apart * shareOf([...parts.values()])), looks: own.visits };
  }

  /** Counts a page that was seen after the last wave: the next one may begin with it. */
  #watch(server: Server, time: number, { changed, foretold, part }: WaveSeen): WaveStep {
    let tide = this.#tides.get(server.id);
    if (!tide || time > tide.until) {
      const earlier = tide || server.wave > 0 ? undefined : this.#earlier(server.id, time);
      tide = { ...still(time), earlier };
      this.#tides.set(server.id, tide);
    }
    const own = tide.parts.get(part) ?? { since: tide.since, visits: 0, changed: 0, foretold: 0 };
    if (tide.parts.size < MOST_PARTS) tide.parts.set(part, own);
    for (const sum of [tide, own]) {
      sum.visits++;
      sum.changed += changed ? 1 : 0;
      sum.foretold += foretold;
    }
    if (!changed) return undefined;
    const since = [tide, own, together(tide)].find(isWave)?.since ?? 0;
    if (since <= server.wave) return [tide, own].some(isSuspect) ? 'suspected' : undefined;
    const shown = [...tide.parts].map(([name, sum]) => [name, sum.visits, sum.changed] as const);
    this.#turn(server, since, time);
    this.#runs.set(server.id, { ...runOf(since, shown), confined: false });
    return 'begun';
  }

  /** Counts a page that the wave may have touched. */
  #run(server: Server, time: number, { changed, part }: WaveSeen): WaveStep {
    const run = this.#runOf(server) ?? runOf(server.wave, []);
    this.#runs.set(server.id, run);
    const own = run.parts.get(part) ?? { visits: 0, changed: 0, over: false };
    if (run.parts.size < MOST_PARTS) run.parts.set(part, own);
    own.visits++;
    own.changed += changed ? 1 : 0;
    const before = { over: own.over, confined: run.confined };
    own.over = isOver(own, ENOUGH_OF_PART);
    const all = [...run.parts.values()];
    run.confined = isConfined(all);
    if (all.some(shows) || !isOver(sumOf(all), ENOUGH_VISITS))
      return own.over !== before.over || run.confined !== before.confined ? 'spared' : undefined;
    this.#turn(server, 0, time);
    return 'ended';
  }

  /** The running wave of the server. */
  #runOf({ id, wave }: Server): WaveRun | undefined {
    const run = this.#runs.get(id);
    return run?.wave === wave ? run : undefined;
  }

  #turn(server: Server, wave: number, time: number): void {
    server.wave = wave;
    this.#tides.set(server.id, { ...still(time), earlier: undefined });
    this.#runs.delete(server.id);
  }
}

function runOf(wave: number, shown: WaveSaved['parts']): WaveRun {
  const parts = shown.map(([part, visits, changed]): [string, RunPart] => [
    part,
    { visits, changed, over: isOver({ visits, changed }, ENOUGH_OF_PART) },
  ]);
  return { wave, parts: new Map(parts), confined: isConfined(parts.map(([, each]) => each)) };
}

/** There are more changes than the pages' own rates explain: by likelihood, a wave is the better explanation. */
function isWave(shown: WaveShown): boolean {
  return shown.changed >= LEAST_CHANGED && oddsOf(shown) > 1;
}

/** This may become a wave; a few more visits will show. */
function isSuspect(shown: WaveShown): boolean {
  return oddsOf(shown) > SUSPICIOUS;
}

function oddsOf({ visits, changed, foretold }: WaveShown): number {
  const own = Math.min(0.9, Math.max(LEAST_FORETOLD, foretold / visits));
  const times = (share: number) => (share / own) ** changed * ((1 - share) / (1 - own)) ** (visits - changed);
  return (ODDS * TOUCHED.reduce((sum, share) => sum + (share > own ? times(share) : 0), 0)) / TOUCHED.length;
}

function isOver({ visits, changed }: { readonly visits: number; readonly changed: number }, enough: number): boolean {
  return visits >= enough && changed < OVER_SHARE * visits;
}

/** Visits have shown that the wave touches this part of the server. */
function shows({ changed, over }: RunPart): boolean {
  return changed > 0 && !over;
}

/** Enough visits to other parts found almost nothing. One large part says little about the others, so its count is capped. */
function isConfined(parts: readonly RunPart[]): boolean {
  const quiet = parts.filter(part => !shows(part));
  const visits = quiet.reduce((sum, part) => sum + Math.min(part.visits, ENOUGH_OF_PART), 0);
  return isOver({ visits, changed: sumOf(quiet).changed }, ENOUGH_VISITS);
}

/** Factor for pages of other folders, when only one folder has shown changes. */
const OF_ONE_FOLDER = 0.5;
/** Weight of the prior, in visits. */
const DOUBT = 2;

/** Share of a part's pages that the wave touches; the prior is its share over all parts. */
function likelyAmong({ visits, changed }: Pick<RunPart, 'visits' | 'changed'>, elsewhere: number): number {
  return (changed + DOUBT * elsewhere) / (visits + DOUBT);
}

/** Mean share over the parts; one half where there are none. */
function shareOf(parts: readonly RunPart[]): number {
  const sum = parts.reduce((total, part) => total + likelyAmong(part, 0.5), 0.5);
  return sum / (parts.length + 1);
}

function sumOf(parts: readonly RunPart[]): { visits: number; changed: number } {
  return parts.reduce((sum, { visits, changed }) => ({ visits: sum.visits + visits, changed: sum.changed + changed }), {
    visits: 0,
    changed: 0,
  });
}

function together(now: Tide): WaveShown {
  const { earlier } = now;
  if (!earlier) return now;
  return {
    since: earlier.since,
    visits: earlier.visits + now.visits,
    changed: earlier.changed + now.changed,
    foretold: earlier.foretold + now.foretold,
  };
}

function still(since: number): Omit<Tide, 'earlier'> {
  return { since, visits: 0, changed: 0, foretold: 0, until: since + WINDOW, parts: new Map() };
}

/** A page whose server is in a wave. */
interface InWave {
  readonly page: number;
  /** Milliseconds: when it was last seen. */
  readonly seen: number;
  readonly due: number;
}

/** How far a page that a wave touches moves ahead of pages that are due by themselves, milliseconds. */
export const FIRST = 365 * DAY;

/**
 * Due time of a page that was last seen before the running wave of its server. Such pages come before all others, spread over
 * the server, so that the first visits show which parts the wave touches. Unless `first` (waves come so often that they would
 * take most of the budget) they come like pages that have waited for a day.
 */
export function dueInWave(server: Server, { page, seen, due }: InWave, first = true): number {
  if (server.wave <= seen) return due;
  return Math.min(due, server.wave - (first ? FIRST + phaseOf(page) * DAY : DAY));
}

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
