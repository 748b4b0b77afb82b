/**
 * Two parts of the account that the papers draw: what made pages come home (number of URLs, number of keywords, sent
 * directly), and the load on home's own line beside what outposts on other machines spent at servers.
 */
import type { LineSums } from '../../ledger/account.ts';
import type { Decided } from '../../ledger/looks.ts';
import type { HomeLine } from '../../questions/whole/account.ts';
import { size, table } from '../print/terminal.ts';
import { stageInWords } from './changes.ts';

export function printStages(stages: readonly Decided[]): void {
  if (stages.length === 0) return;
  console.log();
  console.log(
    table(
      ['detected by', 'visits', 'changed', 'received'],
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
