/**
 * Terms that people searched, each with the page that stood first. They are kept for sites that serve suggestions of them
 * (the shared search cache), and told only where the user says so. Nothing is kept of who asked, or when.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export interface Searched {
  readonly term: string;
  readonly count: number;
  readonly url: string;
  readonly title: string;
}

const LONGEST = 100;
/** Rows beyond which those that were asked for once are forgotten. */
const MOST_ROWS = 20_000;
/** A term that was asked for once may be of one person. */
const FEWEST = 2;

/** A query as a term: without filters and signs; empty = it is none, or may be about a person (addresses, long numbers). */
export function termOf(query: string): string {
  if (/@|\d{5}/.test(query)) return '';
  const term = query
    .normalize('NFC')
    .replace(/(?:^|\s)(?:-\S+|NOT\s+\S+)/g, ' ')
    .replace(/\b(?:site|type|lang|changed|title|url):(?:"[^"]*"?|\S*)/gi, ' ')
    .replace(/\b(?:AND|OR)\b|["()|*\x00-\x1f\x7f]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
  return term.length <= LONGEST ? term : '';
}

/** In the transaction of whoever writes. */
export function addSearched(database: DatabaseSync, counts: ReadonlyMap<string, number>): void {
  const add = database.prepare(
    `INSERT INTO searched (term, page, count) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  for (const [key, count] of counts) {
    const at = key.indexOf(' ');
    add.run(key.slice(at + 1), Number(key.slice(0, at)), count);
  }
  const rows = database.prepare('SELECT count(*) AS n FROM searched').get()!['n'] as number;
  if (rows > MOST_ROWS) database.exec('DELETE FROM searched WHERE count = 1');
}

/** Terms that led to pages of a server, the most frequent first. What somebody was about to type is none of them. */
export function readSearched(file: string, origin: string, most: number): Searched[] {
  if (!existsSync(file)) return [];
  using opened = open(file, true);
  const rows = opened.database
    .prepare(
      `SELECT s.term, sum(s.count) AS count, p.url, p.title, max(s.count) FROM searched s JOIN pages p ON p.id = s.page
       WHERE substr(p.url, 1, ?) = ? GROUP BY s.term HAVING sum(s.count) >= ${FEWEST} ORDER BY count DESC, s.term LIMIT ?`,
    )
    .all(origin.length + 1, `${origin}/`, most * 2);
  const all = rows.map(({ term, count, url, title }): Searched => {
    return { term: String(term), count: Number(count), url: String(url), title: String(title).slice(0, 200) };
  });
  const isBegun = ({ term, url }: Searched) =>
    all.some(other => other.url === url && other.term.length > term.length && other.term.startsWith(term));
  return all.filter(each => !isBegun(each)).slice(0, most);
}

/** What was told is not told again. */
export function forgetSearched(file: string, origin: string): void {
  using opened = open(file, false);
  opened.database
    .prepare('DELETE FROM searched WHERE page IN (SELECT id FROM pages WHERE substr(url, 1, ?) = ?)')
    .run(origin.length + 1, `${origin}/`);
}

function open(file: string, readOnly: boolean): Disposable & { readonly database: DatabaseSync } {
  const database = new DatabaseSync(file, { readOnly, timeout: 5000 });
  return { database, [Symbol.dispose]: () => database.close() };
}
