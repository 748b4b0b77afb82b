/**
 * Whether a page says the words of a query together. BM25 counts words wherever they stand, so that a long page that has
 * each of them somewhere comes before a sentence that says them all. Read from the texts of the best few only: those are
 * unpacked for their snippets anyway.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { unpack } from '../feed/texts.ts';
import { hitsIn } from './hits.ts';
import type { QueryPlan } from './match.ts';

/** Pages that are looked at, and characters of a text. */
export const LOOKED_AT = 10;
const READ = 100_000;
/** Characters in which words stand together, for each word of the query. */
const ROOM = 25;
/** What standing together adds at most. */
const WORTH = 1;

export class Proximity {
  readonly #text: StatementSync;

  constructor(database: DatabaseSync) {
    this.#text = database.prepare('SELECT packed, body FROM texts WHERE id = ?');
  }

  /** A factor from 1 on. */
  of(page: number, language: string, plan: QueryPlan): number {
    const row = this.#text.get(page) as { packed: number; body: Uint8Array } | undefined;
    if (row === undefined) return 1;
    const words = plan.loose.length;
    const together = mostTogether(unpack(row).slice(0, READ), language, plan);
    return 1 + WORTH * Math.min(1, together / words) ** 2;
  }
}

/** How many different words stand within the room that so many need. */
function mostTogether(text: string, language: string, { highlights, loose }: QueryPlan): number {
  const hits = hitsIn(text, language, highlights);
  const room = ROOM * loose.length;
  const inside = new Map<string, number>();
  let [first, most] = [0, 0];
  for (const hit of hits) {
    inside.set(hit.what, (inside.get(hit.what) ?? 0) + 1);
    while (hit.end - hits[first]!.start > room && first < hits.length) {
      const { what } = hits[first++]!;
      const left = inside.get(what)! - 1;
      if (left === 0) inside.delete(what);
      else inside.set(what, left);
    }
    if (inside.size > most) most = inside.size;
  }
  return most;
}
