/**
 * Is noise told that stands still within a day, so that no second look can show it? Tokens of nodes, builds, pages and sessions are put
 * into the pages of recorded sites (test/web/lively/injections.ts), and the judge sees them day by day. What the recorded pages
 * themselves did must still be told.
 *
 *   node bench/still.ts [--data DIR] [--only host,host] [--days 12] [--seeds 1-2] [--kinds part-of-a-name] [--verbose]
 */
import { parseArgs } from 'node:util';
import { injectionNames, injectionOf } from '../test/web/lively/injections.ts';
import { judgeAll, roundsOf } from './detectors/judged.ts';
import { alarmsOf, type Score, strictOf, total } from './detectors/score.ts';
import { historiesAvailable, useHistories } from './histories.ts';

const { values: given } = parseArgs({
  options: {
    data: { type: 'string' },
    only: { type: 'string', default: 'superset.apache.org,hexo.io' },
    days: { type: 'string', default: '12' },
    seeds: { type: 'string', default: '1' },
    kinds: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
});

useHistories(given.data);
if (!historiesAvailable) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}
const [first, last = first] = given.seeds.split('-').map(Number) as [number, number?];
const hosts = new Set(given.only.split(','));
const days = Number(given.days);
const scores: Score[] = [];
const names = injectionNames.filter(name => name.includes(given.kinds));
for (const name of names) {
  for (let seed = first; seed <= last!; seed++) {
    const { into } = injectionOf(name, seed);
    const change = (body: Buffer, { s, u }: { s: string; u: string }, day: number) =>
      Buffer.from(into(body.toString('latin1'), { host: s, path: u, day }), 'latin1');
    for (const [host, score] of judgeAll(roundsOf({ days, hosts, change }))) {
      scores.push(score);
      const bad = alarmsOf(score) > 0.005 || strictOf(score) < 0.995;
      if (bad || given.verbose) console.log(`${name}, seed ${seed}, ${host}: ${inWords(score)}`);
    }
  }
}
const bad = scores.filter(score => alarmsOf(score) > 0.005 || strictOf(score) < 0.995).length;
console.log(`\n${names.length} kinds, ${scores.length} runs, ${bad} beyond the aims; all: ${inWords(total(scores))}`);

function inWords(score: Score): string {
  const { alarms, noise, strictHits, strictMisses } = score;
  return (
    `noise told ${alarms} of ${noise} (${(100 * alarmsOf(score)).toFixed(2)}%), ` +
    `strict recall ${strictOf(score).toFixed(4)} (${strictMisses} of ${strictHits + strictMisses} missed)`
  );
}
