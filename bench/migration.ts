/**
 * What does it save to send crawlers out? Home, and the recorded sites with an outpost beside them, in network
 * namespaces; bytes are those that the kernel counts on home's link, both ways, with all headers of TCP and IP.
 *
 *   node bench/migration.ts                 all experiments
 *   node bench/migration.ts refresh --days 29 --no-direct     longer, without the conditional GETs
 *   node bench/migration.ts first --runs 1                    a quick look at the levels
 *
 * first:   the first paper's: a first crawl with home's link at 10 Mbit/s, two outposts, one to three levels
 * kept:    the third paper's: pages fetched once, and again 30 days later
 * travel:  what it costs to send the code and an errand over a line of 50 ms and 10 Mbit/s
 * refresh: day by day, beside conditional GETs of everything and beside the least that zstd needs for the changes
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { first } from './migration/first.ts';
import { kept } from './migration/kept.ts';
import { impossible } from './migration/network.ts';
import { refresh } from './migration/refresh.ts';
import { data } from './migration/stage.ts';
import { travel } from './migration/travel.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    days: { type: 'string', default: '8' },
    direct: { type: 'boolean', default: true },
    runs: { type: 'string', default: '3' },
  },
  allowNegative: true,
});
const experiments: Record<string, () => Promise<string[]>> = {
  first: () => first(Number(values.runs)),
  kept,
  travel,
  refresh: () => refresh(Number(values.days), values.direct),
};

const why = existsSync(data) ? impossible() : `no histories in ${data}`;
if (why !== '') console.log(`skipped: ${why}`);
else {
  const verdicts: string[] = [];
  for (const name of positionals.length > 0 ? positionals : Object.keys(experiments)) {
    console.log(`\n## ${name}`);
    verdicts.push(...(await experiments[name]!()));
  }
  console.log(`\n${verdicts.join('\n')}`);
}
