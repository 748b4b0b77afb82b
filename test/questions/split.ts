/**
 * A collection of one partition as one of several: the same visits, times and copies, each page in the partition of its
 * host, and a stub of it wherever else it is spoken of. What both answer must be the same.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { partitionOfUrl } from '../../src/base/partition.ts';
import { makeCollection, makePartition } from '../../src/ledger/collection/collection.ts';
import { Ledger } from '../../src/ledger/ledger.ts';

/** Tables by page that hold nothing of a page that is elsewhere. */
const OF_PAGES = ['known', 'visits', 'links', 'followed', 'page_noise', 'listed', 'inferred'];
/** Tables with a column `server`. */
const OF_SERVERS = ['account', 'server_noise', 'forecasts'];

export function splitCollection(from: string, to: string, partitions: number): void {
  const collection = makeCollection(to, partitions);
  new Ledger(from, 'write').close(); // the log is in the file then
  for (let id = 0; id < partitions; id++) {
    const { directory } = makePartition(collection, id);
    cpSync(join(from, 'ledger.db'), join(directory, 'ledger.db'));
    cpSync(join(from, 'archive'), join(directory, 'archive'), { recursive: true });
    keepOnly(join(directory, 'ledger.db'), url => partitionOfUrl(url, partitions) === id);
  }
}

function keepOnly(file: string, own: (url: string) => boolean): void {
  const database = new DatabaseSync(file);
  database.function('own', { deterministic: true }, url => Number(own(String(url))));
  database.exec("BEGIN; UPDATE pages SET refused = 'elsewhere', server = 0 WHERE NOT own(url)");
  for (const table of OF_PAGES)
    database.exec(`DELETE FROM ${table} WHERE page IN (SELECT id FROM pages WHERE refused = 'elsewhere')`);
  keepServers(database);
  database.exec(`DELETE FROM prints; DELETE FROM server_pages; DELETE FROM tallies; DELETE FROM looks;
    INSERT INTO tallies SELECT 'pages', coalesce(refused, ''), server, count(*) FROM pages GROUP BY 2, 3;
    INSERT INTO tallies SELECT 'known', outcome || ' ' || reason, 0, count(*) FROM known GROUP BY 2;
    INSERT INTO tallies SELECT 'stored', '', 0, count(*) FROM known WHERE segment IS NOT NULL;
    INSERT INTO tallies SELECT 'spurned', '', 0, count(*) FROM pages p JOIN known k ON k.page = p.id
      WHERE p.refused IS NOT NULL;
    INSERT INTO looks SELECT cast(time / 86400000 AS INTEGER), outpost GLOB 'thread-[0-9]*' OR outpost = 'trial', outcome,
      coalesce(stage, ''), cause, count(*), sum(up), sum(down) FROM visits GROUP BY 1, 2, 3, 4, 5;
    COMMIT`);
  database.close();
}

/** Numbered from 1 on, as they would be had the others never been met. */
function keepServers(database: DatabaseSync): void {
  database.exec('DELETE FROM servers WHERE NOT own(origin)');
  for (const table of OF_SERVERS)
    database.exec(`DELETE FROM ${table} WHERE server <> 0 AND server NOT IN (SELECT id FROM servers)`);
  const servers = database.prepare('SELECT id FROM servers ORDER BY id').all();
  servers.forEach(({ id }, i) => {
    for (const table of ['pages', ...OF_SERVERS])
      database.prepare(`UPDATE ${table} SET server = ? WHERE server = ?`).run(i + 1, Number(id));
    database.prepare('UPDATE servers SET id = ? WHERE id = ?').run(i + 1, Number(id));
  });
}
