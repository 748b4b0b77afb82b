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
 * does. They reorder the 100 best by text; the window ends at 1,000. Among
 * these 100, of pages with the same title and text only the best is shown. A query of filters alone gives the most important
 * pages first, or with `changed:` those that changed last.
 *
 * Bound: scoring costs 1.2 µs a page, finding 0.05 µs. When more than SCORED pages match (words like "the" in a big
 * collection) only these are scored: the pages found earliest, which are those nearest to the seeds, and half as many
 * that have all words in title, headings or anchors. The result says so (`exact`: false). Unbounded, the commonest
 * word of 1,000,000 pages would take more than a second.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Plan } from './match.ts';
import { columns } from './schema.ts';
import { eachWord, Initials, terms } from './words.ts';

export interface Ranked {
  readonly pages: readonly number[];
  readonly scores: readonly number[];
  readonly total: number;
  readonly exact: boolean;
  readonly relaxed: boolean;
}

const SCORED = 10_000;
export const WINDOW = 1000;
const REORDERED = 100;
const FRESHNESS = 0.2;
const TITLE = 0.5;
const HALF_LIFE = 90 * 86_400_000;

interface Row {
  readonly id: number;
  readonly score: number;
}

type Weights = readonly [
  ...[id: number, importance: number, changed: number, title: string, language: string, content: number],
];

const bm25 = `-bm25(terms, ${Object.values(columns).join(', ')})`;
const source = 'FROM terms WHERE terms MATCH ?';
const dated = 'FROM terms JOIN pages ON pages.id = terms.rowid WHERE terms MATCH ? AND pages.changed BETWEEN ? AND ?';

const always = [0, Number.MAX_SAFE_INTEGER] as const;

export class Ranker {
  readonly #statements = new Map<string, StatementSync>();
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  rank(plan: Plan, now: number): Ranked {
    const span = spanOf(plan, now);
    const found = this.#rank(plan.match, plan, span);
    if (found.total > 0 || plan.loose.length < 2) return this.#reorder(found, plan, now, false);
    const loosened = this.#loosen(plan);
    return this.#reorder(this.#rank(loosened, { ...plan, head: loosened }, span), plan, now, true);
  }

  /** True when one of `pages` matches. */
  matchesAny(plan: Plan, pages: readonly number[]): boolean {
    const statement = this.#statement(
      'SELECT 1 FROM terms WHERE terms MATCH ? AND rowid IN (SELECT value FROM json_each(?)) LIMIT 1',
    );
    return statement.get(plan.match, JSON.stringify(pages)) !== undefined;
  }

  #rank(match: string, plan: Plan, span: readonly [number, number] | undefined): Found {
    const from = span === undefined && plan.worded ? source : dated;
    const values = plan.worded ? (span ?? []) : (span ?? always);
    const score = plan.worded ? bm25 : span === undefined ? '1 + pages.importance' : 'pages.changed';
    const best = this.#statement(
      `SELECT id, score FROM (SELECT terms.rowid AS id, ${score} AS score ${from} LIMIT ?) ORDER BY score DESC, id LIMIT ${WINDOW}`,
    );
    best.setReturnArrays(true);
    const select = (expression: string, limit: number) =>
      (best.all(expression, ...values, limit) as unknown as [number, number][]).map(
        ([id, score]): Row => ({ id, score }),
      );
    const rows = select(match, SCORED);
    if (rows.length < WINDOW) return { rows, total: rows.length, exact: true };
    const count = this.#statement(`SELECT count(*) AS n FROM (SELECT 1 ${from} LIMIT ?)`);
    const total = Number(count.get(match, ...values, SCORED + 1)!['n']);
    if (total <= SCORED) return { rows, total, exact: true };
    const head = plan.worded && plan.head !== match ? select(plan.head, SCORED / 2) : [];
    return { rows: merge(head, rows), total: SCORED, exact: false };
  }

  /** Any of the plain words instead of all; words that nearly every page has say nothing and are left out. */
  #loosen(plan: Plan): string {
    const probe = this.#statement(`SELECT count(*) AS n FROM (SELECT 1 ${source} LIMIT ?)`);
    const telling = plan.loose.filter(word => Number(probe.get(word, SCORED)!['n']) < SCORED);
    const any = `(${(telling.length > 0 ? telling : plan.loose).join(' OR ')})`;
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
    const weigh = this.#statement(
      'SELECT id, importance, changed, title, language, content FROM pages WHERE id IN (SELECT value FROM json_each(?))',
    );
    weigh.setReturnArrays(true);
    const found = weigh.all(JSON.stringify(rows.map(row => row.id))) as unknown as Weights[];
    for (const [id, importance, changed, title, language, content] of found) {
      contents.set(id, content);
      const freshness = 1 + FRESHNESS * 2 ** (-Math.max(0, now - changed) / HALF_LIFE);
      factors.set(id, (1 + importance) * freshness * (1 + TITLE * titles.judge(title, language)));
    }
    return { factors, contents };
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
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

interface Found {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly exact: boolean;
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

/** Best first, each page once. */
function merge(one: readonly Row[], other: readonly Row[]): Row[] {
  const seen = new Set(one.map(row => row.id));
  const rows = [...one, ...other.filter(row => !seen.has(row.id))];
  return rows.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, WINDOW);
}

/** From and to, in milliseconds since 1970, of the last change; undefined = any. */
function spanOf(plan: Plan, now: number): readonly [number, number] | undefined {
  if (plan.changed.length === 0) return undefined;
  let [from, to]: [number, number] = [...always];
  for (const { within, age } of plan.changed) {
    if (within) from = Math.max(from, now - age);
    else to = Math.min(to, now - age);
  }
  return [from, to];
}
