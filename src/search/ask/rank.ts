/**
 * Which pages match a plan, best first. The score of a page is
 *
 *   BM25 (k1 1.2, b 0.75, columns weighted as schema.ts says)
 *     × (1 + importance)
 *     × (1 + 0.2 × 2^(−age of change / 90 d))
 *     × how well its name answers (titles.ts)
 *     × 3 if it has a name of the query with its signs (`@property`)
 *     × 1.3 if it is in the language of who asks, × 0.7 if in another than the small words of the query are, or × 0.85 in
 *       another than most pages, × 0.8 if it is in a script that the query is not in, × 0.3 if it is for
 *       programs
 *     × how near the words stand in its text, for the best twenty (proximity.ts)
 *
 * Importance can double a score and freshness add a fifth: enough to order pages that say the same, too little to
 * lift one that hardly mentions the words. They reorder the 200 best by text of what find.ts found. Among these, of pages
 * with the same title and the same or nearly the same text, or of versions of one page, only the best is shown, unless all
 * are asked for. A query of filters alone gives the most important pages first, or with `changed:` those that changed last.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../../base/clock.ts';
import { bitCount } from '../../ledger/memory/near.ts';
import { formsOf, quote, type Vocabulary } from './asked.ts';
import { Finder, type Found, type FoundRow, type Span } from './find.ts';
import type { QueryPlan } from './match.ts';
import { LOOKED_AT, Proximity } from './proximity.ts';
import { SharedWords, TitleJudge } from './titles.ts';

export interface Ranked {
  readonly pages: readonly number[];
  readonly scores: readonly number[];
  /** How many nearly equal a page and are left out, where there are any. */
  readonly alike: ReadonlyMap<number, number>;
  readonly total: number;
  readonly exact: boolean;
  /** No page has all the words. */
  readonly relaxed: boolean;
  /** Pages with only some of the words are among these. */
  readonly loose: boolean;
  /** The title of the best has all the words. */
  readonly named: boolean;
}

export const REORDERED = 200;
const FRESHNESS = 0.2;
/** What pages in the language of who asks gain, and what feeds and data for programs keep beside pages for people. */
const OWN_LANGUAGE = 1.3;
const MACHINE = 0.3;
/** What a page gains that has a name with its signs, not only its letters. */
const SIGNED = 3;
/** Kept of a page whose language has a script of its own, where the query is in Latin letters. */
const OTHER_SCRIPT = 0.8;
const otherScripts = new Set('ru uk bg el he ar fa zh ja ko th'.split(' '));
const machines = /rss|atom|xml(?<!xhtml\+xml)$|json|javascript|css|csv/;
/** Pages with all the words below which those with some of them are looked at, too. */
export const FEW = 20;
const HALF_LIFE = 90 * DAY;

/** Bits in which the simhashes of two texts differ that are nearly the same. */
const NEAR = 3;

type RankColumns = readonly [
  ...[id: number, importance: number, changed: number, title: string, language: string],
  ...[content: number, high: number, low: number, url: string, type: string],
];

export interface Ranking {
  readonly now: number;
  /** Primary tag of the language of who asks; empty = not known. */
  readonly language: string;
  readonly unfold: boolean;
}

export class Ranker {
  readonly #finder: Finder;
  readonly #weigh: StatementSync;
  readonly #shared: SharedWords;
  readonly #proximity: Proximity;

  constructor(database: DatabaseSync) {
    this.#finder = new Finder(database);
    this.#shared = new SharedWords(database);
    this.#proximity = new Proximity(database);
    this.#weigh = database.prepare(
      `SELECT id, importance, changed, title, language, content, simhash_high, simhash_low, url, media_type FROM pages
       WHERE id IN (SELECT value FROM json_each(?))`,
    );
    this.#weigh.setReturnArrays(true);
  }

  /** Pages that have all the words. */
  all(plan: QueryPlan, asking: Ranking): Ranked {
    const found = this.#finder.find(plan, spanOf(plan, asking.now));
    return { ...this.#reorder(found, plan, asking), relaxed: false, loose: false };
  }

  /** Pages that have some of the words, those with all of them among them: BM25 lets all of them count for more. */
  some(plan: QueryPlan, asking: Ranking, all: Ranked): Ranked {
    const match = this.#loosen(plan);
    const some = this.#finder.find({ ...plan, match, head: match }, spanOf(plan, asking.now));
    const ranked = this.#reorder(some, plan, asking);
    if (all.total === 0) return { ...ranked, relaxed: true, loose: true };
    // What is counted is what was asked for.
    return { ...ranked, total: all.total, exact: all.exact, relaxed: false, loose: true };
  }

  /** Finds pages by their text alone. */
  get finder(): Finder {
    return this.#finder;
  }

  /** How near each other the words stand in a page: a factor from 1 on. */
  proximity(page: number, language: string, plan: QueryPlan): number {
    return this.#proximity.of(page, language, plan);
  }

  /** True when one of `pages` matches. */
  matchesAny(plan: QueryPlan, pages: readonly number[]): boolean {
    return this.#finder.matchesAny(plan.match, pages);
  }

  /** Whether some page has this term. */
  has(term: string): boolean {
    return this.#finder.isKnown(quote([term]));
  }

  /** How many pages have this word, as far as it is worth counting. */
  pagesWith(word: string, spoken: Pick<Vocabulary, 'languages' | 'others'>): number {
    return this.#finder.count(formsOf(word, spoken), 1000);
  }

  /** The plain words, as typed, that no page has. */
  unknown(plan: QueryPlan): string[] {
    return plan.loose.filter(word => !this.#finder.isKnown(word.match)).map(word => word.text);
  }

  /** Any of the plain words instead of all; words that nearly every page has say nothing and are left out. */
  #loosen(plan: QueryPlan): string {
    const telling = plan.loose.filter(word => !this.#finder.isCommon(word.match));
    const any = `(${(telling.length > 0 ? telling : plan.loose).map(word => word.match).join(' OR ')})`;
    return plan.strict === '' ? any : `${plan.strict} AND ${any}`;
  }

  #reorder(found: Found, plan: QueryPlan, asking: Ranking): Omit<Ranked, 'relaxed' | 'loose'> {
    const top = found.rows.slice(0, REORDERED);
    const { factors, prints, named } = this.factors(top, plan, asking);
    const factor = (id: number) => (plan.worded ? (factors.get(id) ?? 1) : 1);
    const byNames = sorted(top.map(({ id, score }) => ({ id, score: score * factor(id) })));
    const reordered =
      plan.loose.length > 1 && !named.has(byNames[0]?.id ?? 0) ? this.#together(byNames, plan, prints) : byNames;
    const { best, alike } = asking.unfold ? { best: reordered, alike: new Map() } : folded(reordered, prints);
    const rows = [...best, ...found.rows.slice(top.length)];
    const { total, exact } = found;
    return {
      pages: rows.map(row => row.id),
      scores: rows.map(row => row.score),
      named: rows.length > 0 && named.has(rows[0]!.id),
      ...{ alike, total, exact },
    };
  }

  /** The best few, by how near each other the words stand in them. */
  #together(rows: readonly FoundRow[], plan: QueryPlan, prints: ReadonlyMap<number, Print>): FoundRow[] {
    const near = rows.slice(0, LOOKED_AT).map(({ id, score }) => {
      return { id, score: score * this.#proximity.of(id, prints.get(id)?.language ?? '', plan) };
    });
    return sorted([...near, ...rows.slice(LOOKED_AT)]);
  }

  /** What each page is worth beside its text. */
  factors(rows: readonly FoundRow[], plan: QueryPlan, asking: Ranking): Factors {
    const factors = new Map<number, number>();
    const prints = new Map<number, Print>();
    const named = new Set<number>();
    if (rows.length === 0) return { factors, prints, named };
    const titles = new TitleJudge(plan, this.#shared);
    const pages = rows.map(row => row.id);
    const signed = plan.signed === '' ? undefined : this.#finder.matching(plan.signed, pages);
    const latin = plan.words.every(({ text }) => /^[\0-\u024f]*$/.test(text));
    const found = this.#weigh.all(JSON.stringify(pages)) as unknown as RankColumns[];
    for (const [id, importance, changed, title, language, content, high, low, url, type] of found) {
      prints.set(id, { title, language, content, high, low, version: versionless(url), release: releaseOf(url) });
      const freshness = 1 + FRESHNESS * 2 ** (-Math.max(0, asking.now - changed) / HALF_LIFE);
      const { factor, all } = titles.judge({ title, language, url });
      if (all === 1) named.add(id);
      const isOwn = asking.language !== '' && language === asking.language;
      const isOther = plan.language.name !== '' && language !== '' && language !== plan.language.name;
      const foreign = isOther && !isOwn ? plan.language.others : 1;
      const own = isOwn ? OWN_LANGUAGE : latin && otherScripts.has(language) ? OTHER_SCRIPT : 1;
      const kind = (machines.test(type) ? MACHINE : 1) * (signed?.has(id) ? SIGNED : 1);
      factors.set(id, (1 + importance) * freshness * factor * own * foreign * kind);
    }
    return { factors, prints, named };
  }
}

export function sorted<T extends FoundRow>(rows: T[]): T[] {
  return rows.sort((a, b) => b.score - a.score || a.id - b.id);
}

interface Factors {
  readonly factors: ReadonlyMap<number, number>;
  readonly prints: ReadonlyMap<number, Print>;
  /** Those whose titles have all the words. */
  readonly named: ReadonlySet<number>;
}

/** What tells whether two pages say the same. `content` 0 = too little to tell. */
export interface Print {
  readonly title: string;
  readonly language: string;
  readonly content: number;
  readonly high: number;
  readonly low: number;
  /** The address without what names a version in it. */
  readonly version: string;
  /** Which of them it is: the greater the later, and most where it says that it is the one to read. */
  readonly release: number;
}

/** Nearly the same only with the same title: pages of one site share most of their text, and say different things. */
function sayTheSame(one: Print, other: Print): boolean {
  if (one.title === other.title && one.version !== '' && one.version === other.version) return true;
  if (one.content === 0 || other.content === 0) return false;
  if (one.content === other.content) return true;
  if (one.title !== other.title || (one.high === 0 && one.low === 0)) return false;
  return bitCount(one.high ^ other.high) + bitCount(one.low ^ other.low) <= NEAR;
}

/** `/docs/v2.1/install` and `/docs/latest/install` are versions of one page; a number alone may be anything. */
const versionName =
  /(?<=\/)(?:v\d+(?:\.\d+)*|\d+(?:\.\d+)+|latest|stable|current|master|main|next|dev|edge|nightly)(?=\/)/i;

/** The address with a star for the version in its path; empty = it names none. */
function versionless(url: string): string {
  return versionName.test(url) ? url.replace(versionName, '*') : '';
}

/** Greater than any number. */
const LATEST = 1e12;

function releaseOf(url: string): number {
  const name = versionName.exec(url)?.[0].toLowerCase() ?? '';
  if (/^(?:latest|stable|current)$/.test(name)) return LATEST;
  const [major = 0, minor = 0, patch = 0] = name.match(/\d+/g)?.map(Number) ?? [];
  return Math.min(LATEST - 1, (major * 1000 + minor) * 1000 + patch);
}

/** Of pages that say the same only the best, of versions of one the latest in its place, and how many were left out for each. */
export function folded(
  rows: readonly FoundRow[],
  prints: ReadonlyMap<number, Print>,
): { best: FoundRow[]; alike: Map<number, number> } {
  const [best, alike] = [[] as FoundRow[], new Map<number, number>()];
  for (const row of rows) {
    const print = prints.get(row.id);
    const at = print ? best.findIndex(({ id }) => sayTheSame(prints.get(id)!, print)) : -1;
    const better = best[at];
    if (!better) {
      best.push(row);
      continue;
    }
    const hidden = (alike.get(better.id) ?? 0) + 1;
    const kept = print!.release > prints.get(better.id)!.release ? { ...better, id: row.id } : better;
    best[at] = kept;
    alike.delete(better.id);
    alike.set(kept.id, hidden);
  }
  return { best, alike };
}

/** From and to, in milliseconds since 1970, of the last change; undefined = any. */
export function spanOf(plan: Pick<QueryPlan, 'changed'>, now: number): Span | undefined {
  if (plan.changed.length === 0) return undefined;
  let [from, to] = [0, Number.MAX_SAFE_INTEGER];
  for (const { within, age } of plan.changed) {
    if (within) from = Math.max(from, now - age);
    else to = Math.min(to, now - age);
  }
  return [from, to];
}
