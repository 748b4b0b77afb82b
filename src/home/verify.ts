/** Ledger against archive: every place that the ledger names holds the record of that page, and every record is named. */
import { join } from 'node:path';
import { verifyArchive } from '../archive/verify.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface CollectionReport {
  readonly segments: number;
  readonly records: number;
  readonly bytes: number;
  readonly digests: number;
  /** Copies that the ledger names. */
  readonly copies: number;
  readonly problems: readonly string[];
}

export async function verifyCollection(
  ledger: Ledger,
  directory: string,
  onProgress: (records: number) => void = () => {},
): Promise<CollectionReport> {
  const problems: string[] = [];
  const expected = placesIn(ledger);
  const copies = expected.size;
  const lengths = new Map(ledger.segments().map(({ id, length }) => [id, length]));
  let records = 0;
  const check = await verifyArchive(join(directory, 'archive'), ({ segment, offset, length, record }) => {
    if (++records % 1000 === 0) onProgress(records);
    const type = record.headers.get('warc-type');
    if (type !== 'response' && type !== 'revisit') return;
    if (offset >= (lengths.get(segment) ?? 0)) return; // behind what was committed: the next run cuts it off
    const key = `${segment} ${offset}`;
    const visit = expected.get(key);
    expected.delete(key);
    const url = record.headers.get('warc-target-uri') ?? '';
    if (!visit) problems.push(`segment ${segment} at ${offset}: the ledger knows nothing of ${url}`);
    else if (visit.url !== url) problems.push(`segment ${segment} at ${offset}: ${url}, the ledger says ${visit.url}`);
    else if (visit.length !== length)
      problems.push(`segment ${segment} at ${offset}: ${length} bytes, not ${visit.length}`);
  });
  for (const [key, { url }] of expected) problems.push(`segment and offset ${key}: no record of ${url}`);
  for (const { segment, offset, problem } of check.problems)
    problems.push(`segment ${segment} at ${offset}: ${problem}`);
  return {
    segments: check.segments,
    records: check.records,
    bytes: check.bytes,
    digests: check.digests,
    copies,
    problems,
  };
}

function placesIn(ledger: Ledger): Map<string, { url: string; length: number }> {
  const places = new Map<string, { url: string; length: number }>();
  const rows = ledger.database
    .prepare(
      `SELECT v.segment, v.place + v.request_length AS place, v.length - v.request_length AS length, p.url
       FROM visits v JOIN pages p ON p.id = v.page WHERE v.segment IS NOT NULL`,
    )
    .iterate();
  for (const row of rows) {
    places.set(`${row['segment']} ${row['place']}`, { url: row['url'] as string, length: row['length'] as number });
  }
  return places;
}
