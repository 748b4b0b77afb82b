/**
 * Pages of a server change together: a new menu, a new version, a banner. When visits find more changes than the pages'
 * own rates can explain, the rest of the server has probably changed, too, and is looked at next; when such visits find
 * nothing, the wave is over. A part of the server that it does not touch (a folder, or the small pages) is left alone as
 * soon as some looks have shown it. Decides only what a wave touches, never whether a page changed.
 */
import { DAY } from '../../base/clock.ts';
import type { Draft } from '../../base/draft.ts';
import { FLAG_CHANGED, isUnspoken } from '../../ledger/pages/known-row.ts';
import type { Server } from '../../ledger/servers.ts';
import { phaseOf } from '../../revisit/policy.ts';

/** What visits to a server have shown together. */
export interface WaveShown {
  /** Milliseconds. */
  readonly since: number;
  readonly visits: number;
  readonly changed: number;
  /** Changes that the rates of the pages let expect. */
  readonly foretold: number;
}

interface Tide extends Draft<WaveShown> {
  /** What the days before have shown. */
  readonly earlier: WaveShown | undefined;
  /** Milliseconds: until then visits are counted together. */
  until: number;
  /** The same by part of the server. */
  readonly parts: Map<string, Draft<WaveShown>>;
}

/** What visits since a wave began have found in a part of the server. */
interface RunPart {
  visits: number;
  changed: number;
  /** It is not touched. */
  over: boolean;
}

/** What is kept of a wave between two processes: a small budget follows it over several rounds. */
export interface WaveSaved {
  readonly server: number;
  /** When it began, milliseconds since 1970. */
  readonly wave: number;
  readonly parts: readonly (readonly [part: string, visits: number, changed: number])[];
}

/** The looks that proved a wave, and those that it brought about. */
interface WaveRun {
  /** When it began, milliseconds since 1970. */
  readonly wave: number;
  readonly parts: Map<string, RunPart>;
  /** It touches the parts that have shown it, and no others. */
  confined: boolean;
}

/** What is believed of a page that a wave may have touched. */
export interface Touched {
  readonly likely: number;
  /** At its part of the server, since the wave began. */
  readonly looks: number;
}

/** A visit as far as waves are concerned. */
export interface WaveSeen {
  readonly changed: boolean;
  readonly foretold: number;
  /** When the page was seen before, milliseconds. */
  readonly before: number;
  /** Of the server, see partOf. */
  readonly part: string;
}

/** `spared`: a part of the server that the wave does not touch was found. `suspected`: one change more would prove a wave. */
type WaveStep = 'begun' | 'ended' | 'spared' | 'suspected' | undefined;

/** Milliseconds over which visits are counted together. */
const WINDOW = DAY / 2;
/** Before anything is seen: a wave on one day of a server in fifty. */
const ODDS = 1 / 50;
/** Share of a server's pages that a wave may touch, each as likely as the others. */
const TOUCHED = [0.25, 0.5, 0.95];
/** One change proves nothing, and no page is taken for quieter than this a visit. */
const LEAST_CHANGED = 2;
const LEAST_FORETOLD = 0.02;
/** Odds of a wave at which it is worth some looks to know. */
const SUSPICIOUS = 0.1;
/** It ends when so many visits find changes at less than this share; for a part of the server fewer are enough. */
const ENOUGH_VISITS = 12;
const ENOUGH_OF_PART = 4;
const OVER_SHARE = 0.15;
/** Parts of a server that are told apart. */
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

  /** What of the running waves has to be remembered. */
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

  /** The wave that the server is in may have touched this page since it was seen. */
  touches(server: Server, page: Parted & { readonly seen_time: number }): boolean {
    if (server.wave <= page.seen_time || (!isUnspoken(page) && this.#vouches(server))) return false;
    const run = this.#runOf(server);
    const own = run?.parts.get(partOf(page));
    return own && shows(own) ? true : !own?.over && !run?.confined;
  }

  /**
   * Probability that the wave has touched a page: by what looks have found in its part of the server, and as far as these are
   * few, in all parts. Each part counts the same, because those that are touched are looked at first. A wave that one folder
   * alone has shown is as likely as not one of that folder.
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

  /** A page that was seen since the last wave: the next may begin with it. */
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

  /** A page that the wave may have touched. */
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

  /** That of the wave that the server is in. */
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

/** More changes than the pages' own rates explain: a wave is likelier, by what each would have let expect. */
function isWave(shown: WaveShown): boolean {
  return shown.changed >= LEAST_CHANGED && oddsOf(shown) > 1;
}

/** Not yet a wave; some looks more will show. */
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

/** A part of the server that the wave was seen to touch. */
function shows({ changed, over }: RunPart): boolean {
  return changed > 0 && !over;
}

/** Enough looks elsewhere found next to nothing. One large part says nothing of the others: it counts for few of them. */
function isConfined(parts: readonly RunPart[]): boolean {
  const quiet = parts.filter(part => !shows(part));
  const visits = quiet.reduce((sum, part) => sum + Math.min(part.visits, ENOUGH_OF_PART), 0);
  return isOver({ visits, changed: sumOf(quiet).changed }, ENOUGH_VISITS);
}

/** What is left of the probability elsewhere. */
const OF_ONE_FOLDER = 0.5;
/** Looks that those at a part of a server are taken together with. */
const DOUBT = 2;

/** Share of its pages that are touched, where so many are elsewhere. */
function likelyAmong({ visits, changed }: Pick<RunPart, 'visits' | 'changed'>, elsewhere: number): number {
  return (changed + DOUBT * elsewhere) / (visits + DOUBT);
}

/** Of the pages of any part; one half where there are none. */
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

/** Milliseconds by which a page that a wave touches goes before what is due by itself. */
export const FIRST = 365 * DAY;

/**
 * When a page is due whose server is in a wave that it was last seen before: before all others, and spread over the
 * server, so that the first looks show which parts are touched. Not `first`: where the server's waves come so often that
 * they would take most of the budget, as other pages that have waited for a day.
 */
export function dueInWave(server: Server, { page, seen, due }: InWave, first = true): number {
  if (server.wave <= seen) return due;
  return Math.min(due, server.wave - (first ? FIRST + phaseOf(page) * DAY : DAY));
}

/** Bytes: pages whose sizes differ by four times are seldom of one kind. */
const SIZE_STEP = 4;

/** What tells which part of its server a page belongs to. */
interface Parted {
  readonly url: string;
  /** Bytes of its last full answer. */
  readonly wire: number | null;
  readonly flags: number;
}

/**
 * The part of a server that a page belongs to: its first folder, the size of what it sends, and whether it ever changed.
 * What a wave touched the next one mostly touches again.
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
