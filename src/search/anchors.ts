/**
 * What links say of the pages they lead to. A row a link would be a hundred rows a page, nearly all of them the same
 * menu on every page; so each distinct text of a target is kept once, at most MOST of them, and belongs to the page that
 * said it first. When that page no longer says it, it goes, and comes back when another page that says it is written
 * again (or with a rebuild): exact counts would need every page's former links a second time.
 *
 * A page that is already in the index and gains or loses a text is noted as stale, and written again when the feeder
 * has nothing better to do, so that a menu that appears on a thousand pages costs each of its targets one write.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Said, Told } from './document.ts';

/** Texts of one target, and characters of one text. */
const MOST = 20;
const LONGEST = 120;
/**
 * Pairs of target and text met lately: a direct-mapped table, 2 MB. The 72,603 links among 3,087 real pages say 2,562
 * different things of 1,642 pages; with the table 340,000 links a second go in. A hash of 52 bits is wrong once in 10^13
 * pairs, and then a text is missing.
 */
const RECENT = 1 << 18;

export class Anchors {
  readonly #statements: Readonly<Record<StatementName, StatementSync>>;
  readonly #recent = new Float64Array(RECENT);
  #generation = -1;

  constructor(database: DatabaseSync) {
    const prepared = Object.entries(sql).map(([name, text]) => {
      const statement = database.prepare(text);
      // As in the writer: the last rowid may be one of FTS5's own, beyond what a number holds.
      statement.setReadBigInts(true);
      return [name, statement];
    });
    this.#statements = Object.fromEntries(prepared) as Record<StatementName, StatementSync>;
    this.#statements.said.setReturnArrays(true);
  }

  /** Inside the caller's transaction. */
  tell({ said = [], aliases = [] }: Told, generation: number): void {
    // A rebuild that another process began has emptied the table.
    if (generation !== this.#generation) this.doubt();
    this.#generation = generation;
    const differing = new Set<number>();
    for (const each of said) this.#replace(each, differing);
    for (const target of differing) this.#statements.staleFor.run(target, generation);
    for (const { page, target } of aliases) {
      this.#statements.setAlias.run(page, target);
      this.#statements.stale.run(target, generation);
    }
  }

  /** The page is one itself, and leads nowhere else. */
  notAlias(page: number): void {
    this.#statements.dropAlias.run(page);
  }

  /** One text a line. */
  of(page: number): string {
    return this.#statements.texts
      .all(page, page)
      .map(row => row['text'])
      .join('\n');
  }

  /** For a rebuild: everything will be said again. */
  forget(): void {
    for (const name of ['emptyAnchors', 'emptyAliases', 'emptyStale'] as const) this.#statements[name].run();
  }

  /** What was written may have been taken back. */
  doubt(): void {
    this.#recent.fill(0);
  }

  stale(most: number): number[] {
    return this.#statements.someStale.all(most).map(row => Number(row['page']));
  }

  fresh(page: number): void {
    this.#statements.fresh.run(page);
  }

  /** Adds the targets of which something else is said now to `differing`. */
  #replace({ source, links }: Said, differing: Set<number>): void {
    const now = new Map<number, { target: number; text: string }>();
    for (const link of links) {
      const { target } = link;
      const text = tidy(link.text);
      if (text !== '' && target !== source && target > 0) now.set(hashOf(target, text), { target, text });
    }
    for (const row of this.#statements.owned.all(source)) {
      const [target, text] = [Number(row['target']), String(row['text'])];
      const pair = hashOf(target, text);
      if (now.delete(pair)) continue;
      this.#statements.drop.run(target, text);
      this.#forget(pair);
      this.#forget(hashOf(target));
      differing.add(target);
    }
    const fresh: { target: number; text: string }[] = [];
    for (const [pair, link] of now) if (!this.#met(pair) && !this.#isFull(link.target)) fresh.push(link);
    const said = this.#said(fresh.map(({ target }) => target));
    for (const { target, text } of fresh) {
      const texts = said.get(target) ?? new Set();
      if (texts.has(text)) continue;
      if (texts.size >= MOST) this.#note(hashOf(target));
      else {
        this.#statements.add.run(target, text, source);
        said.set(target, texts.add(text));
        differing.add(target);
      }
    }
  }

  /** What is kept of these targets, asked once: a statement for each link took longer than all else about them. */
  #said(targets: readonly number[]): Map<number, Set<string>> {
    const said = new Map<number, Set<string>>();
    if (targets.length === 0) return said;
    for (const [target, text] of this.#statements.said.all(JSON.stringify(targets)) as unknown as [bigint, string][]) {
      const texts = said.get(Number(target));
      if (texts) texts.add(text);
      else said.set(Number(target), new Set([text]));
    }
    return said;
  }

  /** It is known to have as many texts as are kept: then it stands in the table of pairs by itself. */
  #isFull(target: number): boolean {
    const hash = hashOf(target);
    return this.#recent[hash % RECENT] === hash;
  }

  #met(pair: number): boolean {
    const place = pair % RECENT;
    if (this.#recent[place] === pair) return true;
    this.#recent[place] = pair;
    return false;
  }

  #note(hash: number): void {
    this.#recent[hash % RECENT] = hash;
  }

  #forget(hash: number): void {
    if (this.#recent[hash % RECENT] === hash) this.#recent[hash % RECENT] = 0;
  }
}

const sql = {
  owned: 'SELECT target, text FROM anchors WHERE source = ?',
  drop: 'DELETE FROM anchors WHERE target = ? AND text = ?',
  said: 'SELECT target, text FROM anchors WHERE target IN (SELECT value FROM json_each(?))',
  add: 'INSERT OR IGNORE INTO anchors VALUES (?, ?, ?)',
  texts: `SELECT text FROM anchors WHERE target = ?
    UNION SELECT text FROM anchors WHERE target IN (SELECT page FROM aliases WHERE target = ?) LIMIT ${MOST}`,
  setAlias: 'INSERT OR REPLACE INTO aliases VALUES (?, ?)',
  dropAlias: 'DELETE FROM aliases WHERE page = ?',
  // One that a rebuild has not come to yet will be written with all its texts anyway.
  stale: 'INSERT OR IGNORE INTO stale SELECT id FROM pages WHERE id = ? AND generation = ?',
  // An alias stands for its target.
  staleFor: `INSERT OR IGNORE INTO stale SELECT id FROM pages
    WHERE id = coalesce((SELECT target FROM aliases WHERE page = ?1), ?1) AND generation = ?2`,
  fresh: 'DELETE FROM stale WHERE page = ?',
  someStale: 'SELECT page FROM stale LIMIT ?',
  emptyAnchors: 'DELETE FROM anchors',
  emptyAliases: 'DELETE FROM aliases',
  emptyStale: 'DELETE FROM stale',
} as const;

type StatementName = keyof typeof sql;

/** As it is kept: one line in small letters. */
function tidy(text: string): string {
  const line = text.length > 2 * LONGEST ? text.slice(0, 2 * LONGEST) : text;
  return line.toWellFormed().replace(/\s+/g, ' ').trim().toLowerCase().slice(0, LONGEST);
}

/** Of a target and what is said of it, in two halves of 20 and 32 bits, never 0. No text is empty. */
function hashOf(target: number, text = ''): number {
  let [high, low] = [Math.imul(0x811c9dc5 ^ target, 0x01000193), Math.imul(target + 0x9e3779b1, 0x85ebca6b)];
  high = Math.imul(high ^ (target / 2 ** 32), 0x01000193);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low + code, 0x85ebca6b) ^ (low >>> 13);
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0) + 1;
}
