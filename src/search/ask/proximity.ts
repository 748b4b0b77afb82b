/**
 * Whether a page says the words of a query together. BM25 counts words wherever they stand, so that a long page that has
 * each of them somewhere comes before a sentence that says them all. Read from the texts of the best few only: those are
 * unpacked for their snippets anyway.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { unpack } from '../feed/texts.ts';
import { hitsIn } from './hits.ts';
import type { QueryPlan } from './match.ts';
import { nameAtoms } from './titles.ts';

/** Pages that are looked at, and characters of a text. */
export const LOOKED_AT = 20;
const READ = 100_000;
const LONGEST_HEADING = 200;
/** Characters in which words stand together, for each word of the query. */
const ROOM = 25;
/** What standing together adds at most, and what a heading adds that is what the title does not say of the query. */
const WORTH = 4;
const DEFINED = 1;

interface TextRow {
  readonly packed: number;
  readonly body: Uint8Array;
  readonly headings: string;
  readonly title: string;
}

export class Proximity {
  readonly #text: StatementSync;

  constructor(database: DatabaseSync) {
    this.#text = database.prepare('SELECT packed, body, headings, title FROM texts JOIN pages USING (id) WHERE id = ?');
  }

  /** A factor from 1 on. */
  of(page: number, language: string, plan: QueryPlan): number {
    const row = this.#text.get(page) as TextRow | undefined;
    if (row === undefined) return 1;
    const together = mostTogether(unpack(row, READ).slice(0, READ), language, plan);
    const near = 1 + WORTH * Math.min(1, together / plan.loose.length) ** 2;
    return defines(row, plan) ? near * (1 + DEFINED) : near;
  }
}

/** How many different words stand within the room that so many need. */
function mostTogether(text: string, language: string, { highlights, loose }: QueryPlan): number {
  const words = new Map(
    loose.flatMap(({ terms, beginnings }, word) => [...terms, ...beginnings].map(what => [what, word] as const)),
  );
  const hits = hitsIn(text, language, highlights);
  const room = ROOM * loose.length;
  const inside = new Map<number | string, number>();
  let [first, most] = [0, 0];
  // A word may have several terms, one for each language.
  const wordOf = (what: string) => words.get(what) ?? what;
  for (const hit of hits) {
    const word = wordOf(hit.what);
    inside.set(word, (inside.get(word) ?? 0) + 1);
    while (hit.end - hits[first]!.start > room && first < hits.length) {
      const gone = wordOf(hits[first++]!.what);
      const left = inside.get(gone)! - 1;
      if (left === 0) inside.delete(gone);
      else inside.set(gone, left);
    }
    if (inside.size > most) most = inside.size;
  }
  return most;
}

/** Whether a heading is what the title leaves of the query: `computeIfAbsent` on the page of `HashMap`. */
function defines({ title, headings }: TextRow, { words }: QueryPlan): boolean {
  const said = new Set(nameAtoms(title));
  const left = words.flatMap(({ text, small }) => {
    const parts = small ? [] : nameAtoms(text);
    return parts.every(part => said.has(part)) ? [] : parts;
  });
  if (left.length === 0) return false;
  const joined = left.join('');
  const lower = headings.toLowerCase();
  if (!lower.includes(left[0]!)) return false;
  for (const heading of headings.split('\n')) {
    // Most headings have nothing of it, and are not read word by word.
    if (heading.length < joined.length || heading.length > LONGEST_HEADING) continue;
    if (!heading.toLowerCase().includes(left[0]!)) continue;
    const bare = nameAtoms(heading.replace(/(?<=[\w\]]) ?\(.*/, '')).join('');
    if (bare === joined || (bare.endsWith(joined) && /[.:@]|\bfn /.test(heading))) return true;
  }
  return false;
}
