/**
 * Which pages match a plan, best first. The score of a page is
 *
 *   BM25 (k1 1.2, b 0.75, columns weighted as schema.ts says)
 *     × (1 + importance)
 *     × (1 + 0.2 × 2^(−age of change / 90 d))
 *     × (1 + 0.5 × share of the title's words that were asked for + 0.5 if they stand there in the order asked)
 *
 * Importance can double a score and freshness add a fifth: enough to order pages that say the same, too little to
 * lift one that hardly mentions the words. BM25 knows no order and no "that is all the title says"; the last factor
 * does. They reorder the 100 best by text of what find.ts found. Among these, of pages with the same title and text only
 * the best is shown. A query of filters alone gives the most important pages first, or with `changed:` those that changed
 * last.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../base/clock.ts';
import { Finder, type Found, type Row, type Span } from './find.ts';
import type { Plan } from './match.ts';
import { eachWord, Initials, terms } from './words.ts';

export interface Ranked {
  readonly pages: readonly number[];
  readonly scores: readonly number[];
  readonly total: number;
  readonly exact: boolean;
  readonly relaxed: boolean;
}

const REORDERED = 100;
const FRESHNESS = 0.2;
const TITLE = 0.5;
const HALF_LIFE = 90 * DAY;

type Weights = readonly [
  ...[id: number, importance: number, changed: number, title: string, language: string, content: number],
];

export class Ranker {
  readonly #finder: Finder;
  readonly #weigh: StatementSync;

  constructor(database: DatabaseSync) {
    this.#finder = new Finder(database);
    this.#weigh = database.prepare(
      'SELECT id, importance, changed, title, language, content FROM pages WHERE id IN (SELECT value FROM json_each(?))',
    );
    this.#weigh.setReturnArrays(true);
  }

  rank(plan: Plan, now: number): Ranked {
    const span = spanOf(plan, now);
    const found = this.#finder.find(plan, span);
    if (found.total > 0 || plan.loose.length < 2) return this.#reorder(found, plan, now, false);
    const match = this.#loosen(plan);
    return this.#reorder(this.#finder.find({ ...plan, match, head: match }, span), plan, now, true);
  }

  /** True when one of `pages` matches. */
  matchesAny(plan: Plan, pages: readonly number[]): boolean {
    return this.#finder.matchesAny(plan.match, pages);
  }

  /** The plain words, as typed, that no page has. */
  unknown(plan: Plan): string[] {
    return plan.loose.filter(word => !this.#finder.isKnown(word.match)).map(word => word.text);
  }

  /** Any of the plain words instead of all; words that nearly every page has say nothing and are left out. */
  #loosen(plan: Plan): string {
    const telling = plan.loose.filter(word => !this.#finder.isCommon(word.match));
    const any = `(${(telling.length > 0 ? telling : plan.loose).map(word => word.match).join(' OR ')})`;
    return plan.strict === '' ? any : `${plan.strict} AND ${any}`;
  }

  #reorder(found: Found, plan: Plan, now: number, relaxed: boolean): Ranked {
    const top = found.rows.slice(0, REORDERED);
    const { factors, contents } = this.#factors(top, plan, now);
    const factor = (id: number) => (plan.worded ? (factors.get(id) ?? 1) : 1);
    const reordered = top.map(({ id, score }) => ({ id, score: score * factor(id) }));
    reordered.sort((a, b) => b.score - a.score || a.id - b.id);
    const rows = [...once(reordered, contents), ...found.rows.slice(top.length)];
    const { total, exact } = found;
    return { pages: rows.map(row => row.id), scores: rows.map(row => row.score), total, exact, relaxed };
  }

  #factors(rows: readonly Row[], plan: Plan, now: number): Factors {
    const factors = new Map<number, number>();
    const contents = new Map<number, number>();
    if (rows.length === 0) return { factors, contents };
    const titles = new TitleJudge(plan.plain);
    const found = this.#weigh.all(JSON.stringify(rows.map(row => row.id))) as unknown as Weights[];
    for (const [id, importance, changed, title, language, content] of found) {
      contents.set(id, content);
      const freshness = 1 + FRESHNESS * 2 ** (-Math.max(0, now - changed) / HALF_LIFE);
      factors.set(id, (1 + importance) * freshness * (1 + TITLE * titles.judge(title, language)));
    }
    return { factors, contents };
  }
}

interface Factors {
  readonly factors: ReadonlyMap<number, number>;
  readonly contents: ReadonlyMap<number, number>;
}

/** Of pages that say the same only the best. */
function once(rows: readonly Row[], contents: ReadonlyMap<number, number>): Row[] {
  const shown = new Set<number>();
  return rows.filter(({ id }) => {
    const content = contents.get(id) ?? 0;
    if (content === 0) return true;
    if (shown.has(content)) return false;
    shown.add(content);
    return true;
  });
}

/** The words asked for, as one language has them. */
interface Asked {
  readonly joined: string;
  readonly terms: ReadonlySet<string>;
  readonly initials: Initials;
}

/** How well titles answer the plain words of one query, 0 to 2: coverage, and order. */
class TitleJudge {
  readonly #text: string;
  readonly #asked = new Map<string, Asked>();

  constructor(text: string) {
    this.#text = text;
  }

  judge(title: string, language: string): number {
    if (this.#text === '') return 0;
    const asked = this.#asked.get(language) ?? this.#ask(language);
    let [joined, words, covered] = ['', 0, 0];
    const take = (term: string) => {
      joined += `${term} `;
      words++;
      if (asked.terms.has(term)) covered++;
    };
    eachWord(title.slice(0, 300), language, take, asked.initials);
    if (words === 0) return 0;
    return covered / words + (` ${joined}`.includes(asked.joined) ? 1 : 0);
  }

  #ask(language: string): Asked {
    const joined = terms(this.#text, language);
    const list = joined.split(' ');
    const asked = { joined: ` ${joined} `, terms: new Set(list), initials: new Initials(list) };
    this.#asked.set(language, asked);
    return asked;
  }
}

/** From and to, in milliseconds since 1970, of the last change; undefined = any. */
function spanOf(plan: Plan, now: number): Span | undefined {
  if (plan.changed.length === 0) return undefined;
  let [from, to] = [0, Number.MAX_SAFE_INTEGER];
  for (const { within, age } of plan.changed) {
    if (within) from = Math.max(from, now - age);
    else to = Math.min(to, now - age);
  }
  return [from, to];
}
