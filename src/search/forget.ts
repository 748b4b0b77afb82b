/** Takes pages out of an index so that nothing of them stays in its file: neither terms, nor texts, nor what links say. */
import { DatabaseSync } from 'node:sqlite';
import { openSearch } from './index.ts';
import { Shelves } from './shelves.ts';
import { termOf } from './terms/words.ts';

export function forgetPages(file: string, pages: readonly number[]): void {
  const search = openSearch(file);
  search.updates.apply({ changed: [], gone: pages, said: pages.map(source => ({ source, links: [] })) });
  search.close();
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    const anchors = database.prepare('DELETE FROM anchors WHERE target = ?');
    for (const page of pages) anchors.run(page);
    const shelves = new Shelves(database);
    shelves.purge();
    dropUnusedWords(database, shelves);
    database.exec('COMMIT; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}

/** Words that no page has any more. */
function dropUnusedWords(database: DatabaseSync, shelves: Shelves): void {
  const languages = database.prepare('SELECT language FROM languages WHERE pages > 0').all();
  const spoken = ['', ...languages.map(row => String(row['language']))];
  const words = database.prepare('SELECT word FROM vocabulary').all();
  const drop = database.prepare('DELETE FROM vocabulary WHERE word = ?');
  for (const { word } of words as { word: string }[]) {
    if (!spoken.some(language => shelves.has(termOf(word, language)))) drop.run(word);
  }
}
