/**
 * Two parts of the account that the papers draw: what made pages come home (number of URLs, number of keywords, sent
 * directly), and the load on home's own line beside what outposts on other machines spent at servers.
 */
import type { LineSums } from '../../ledger/account.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { size, table } from '../terminal.ts';
import { stageInWords } from './changes.ts';

/** Visits that one stage of the detector decided. */
export interface Decided {
  readonly stage: string;
  readonly pages: number;
  /** Among them, those that had changed. */
  readonly changed: number;
  /** Bytes that came from servers. */
  readonly down: number;
}

/** Most often first. First visits have nothing to be compared with. */
export function stagesOf(ledger: Ledger, since: number): Decided[] {
  return ledger.database
    .prepare(
      `SELECT stage, count(*) AS pages, sum(outcome = 'fetched') AS changed, sum(down) AS down FROM visits
       WHERE id >= ? AND time >= ? AND outcome IN ('fetched', 'same') AND stage <> 'first' AND cause <> 'sitemap'
       GROUP BY stage ORDER BY pages DESC`,
    )
    .all(ledger.visits.since(since), since) as unknown as Decided[];
}

/** Bytes both ways; `up` is what was sent. Robots.txt files are left out. */
export interface HomeLine extends LineSums {
  /** Between home's own threads and servers. */
  readonly servers: LineSums;
  /** Between home and outposts on other machines: frames, and code that travelled. */
  readonly outposts: LineSums;
  /** Between those outposts and servers, which home's line is spared. */
  readonly elsewhere: LineSums;
}

/** Who fetches in this process: threads, and those that try again what killed one. */
const HERE = `(outpost GLOB 'thread-[0-9]*' OR outpost = 'trial')`;

export function lineOf(ledger: Ledger, since: number): HomeLine {
  const sums = (where: string): LineSums => {
    const sql = `SELECT coalesce(sum(up), 0) AS up, coalesce(sum(down), 0) AS down FROM visits
      WHERE id >= ? AND time >= ? AND ${where}`;
    const row = ledger.database.prepare(sql).get(ledger.visits.since(since), since) as unknown as LineSums;
    return { up: row.up, down: row.down };
  };
  const servers = sums(HERE);
  const outposts = ledger.account.line(Math.floor(since / 86_400_000));
  return {
    up: servers.up + outposts.up,
    down: servers.down + outposts.down,
    servers,
    outposts,
    elsewhere: sums(`NOT ${HERE}`),
  };
}

export function printStages(stages: readonly Decided[]): void {
  if (stages.length === 0) return;
  console.log();
  console.log(
    table(
      ['decided by', 'visits', 'changed', 'received'],
      stages.map(row => [stageInWords(row.stage), row.pages, row.changed, size(row.down)]),
    ),
  );
}

/** Only where other machines took part: else home's line is what was spent. */
export function printLine({ up, down, servers, outposts, elsewhere }: HomeLine): void {
  if (outposts.up + outposts.down === 0) return;
  const row = (name: string, sums: LineSums) => [name, size(sums.up), size(sums.down)];
  console.log();
  console.log(
    table(
      ['line', 'sent', 'received'],
      [
        row("home's own line", { up, down }),
        row('  to servers', servers),
        row('  to outposts', outposts),
        row('outposts to servers', elsewhere),
      ],
    ),
  );
}
