/** Sources of documents that no link leads to, from the file in which the owner describes them. */
import type { SiteSource } from '../sources/source.ts';
import { type Description, readDescriptions } from './describe.ts';
import { RecordSource } from './record-source.ts';

export async function readRecords(file: string, site: string): Promise<readonly SiteSource[]> {
  return Promise.all(readDescriptions(file).map(described => open(described, site)));
}

async function open(described: Description, site: string): Promise<SiteSource> {
  if ('media' in described) return new (await import('./media.ts')).MediaSource(described, site);
  if ('sqlite' in described) {
    return new RecordSource(described, (await import('./sqlite.ts')).openSqlite(described), site);
  }
  return new RecordSource(described, await (await import('./postgres.ts')).openPostgres(described), site);
}
