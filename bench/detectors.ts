/**
 * Which detector sees what, and what it costs. First on pages made from seeds and edited (mutators.ts): share of edits
 * on which each fires. Then on the recorded sites, against how each revision was labelled there: recall of what must be
 * reported (text, structure beyond markup, images), precision, share of noise-only revisions that fire. Strict recall
 * leaves out the edits that many pages of a site share; those count as reported when they are told of the site.
 *
 *   node bench/detectors.ts [--data DIR] [--days 60]
 *
 * `judge` is the product: both bodies, judged at home with what was learned of the server on the days before. The others
 * compare facts alone. Of the judge each site is shown, and the worst; and the worst once more when each site is judged
 * with the settings that do best on all the others. Not scored: revisions labelled by the bytes of
 * images that the recordings do not hold; of the judge, by the bytes of any image.
 */
import { parseArgs } from 'node:util';
import { judgeAll, leaveOneOut, roundsOf } from './detectors/judged.ts';
import { mutations } from './detectors/mutations.ts';
import { compareRecorded, type Sites } from './detectors/recorded.ts';
import { alarmsOf, precisionOf, recallOf, type Score, strictOf, total } from './detectors/score.ts';
import { historiesAvailable, recordedDays, useHistories } from './histories.ts';

const { values: given } = parseArgs({ options: { data: { type: 'string' }, days: { type: 'string' } } });
const AIM_NOISE = 0.005;
const AIM_STRICT = 0.995;

useHistories(given.data);
mutations();
if (historiesAvailable) recorded(Math.min(Number(given.days ?? Number.POSITIVE_INFINITY), recordedDays()));
else console.log('\nno ../shared/data/dev: recorded sites are left out');

function recorded(days: number): void {
  const rounds = roundsOf({ days });
  const judged = judgeAll(rounds);
  const { byDetector, megabytes, seconds } = compareRecorded(days);
  const { strictHits, strictMisses, hits, misses, noise } = total(judged.values());
  console.log(
    `\nRecorded sites, ${days} days: ${hits + misses} revisions to report (${strictHits + strictMisses} of them on ` +
      `few pages), ${noise} of noise only\n`,
  );
  const width = Math.max(20, ...[...judged.keys()].map(site => site.length));
  console.log(`${'detector'.padEnd(width)}  recall  strict  precision  noise that fires`);
  console.log(line('judge', width, total(judged.values())));
  for (const [name, sites] of byDetector) console.log(line(name, width, total(sites.values())));
  console.log(`\n${'judge, by site'.padEnd(width)}  recall  strict  precision  noise that fires`);
  for (const [site, score] of [...judged].sort()) console.log(line(site, width, score));
  worst('', judged);
  worst(' with settings chosen on the others', leaveOneOut(rounds));
  console.log(`\nanalysis: ${(megabytes / seconds).toFixed(0)} MB per CPU second over ${megabytes.toFixed(0)} MB`);
}

function line(name: string, width: number, score: Score): string {
  const { noise, alarms, strictHits, strictMisses } = score;
  return (
    `${name.padEnd(width)}  ${recallOf(score).toFixed(4)}  ${strictOf(score).toFixed(4)}     ` +
    `${precisionOf(score).toFixed(4)}  ${`${(alarmsOf(score) * 100).toFixed(2)}%`.padStart(9)}` +
    `  (${alarms} of ${noise}; ${strictMisses} of ${strictHits + strictMisses} missed)`
  );
}

/** A mean hides the site that is told of every day. */
function worst(how: string, sites: Sites): void {
  const all = [...sites];
  const [noisiest, noise] = all.reduce((bad, each) => (alarmsOf(each[1]) > alarmsOf(bad[1]) ? each : bad));
  const [blindest, blind] = all.reduce((bad, each) => (strictOf(each[1]) < strictOf(bad[1]) ? each : bad));
  const verdict = (met: boolean) => (met ? 'met' : 'missed');
  console.log(
    `\nmost noise that fires at any site${how}: ${(alarmsOf(noise) * 100).toFixed(2)}% (${noisiest}), ` +
      `aim at most ${AIM_NOISE * 100}% (${verdict(alarmsOf(noise) <= AIM_NOISE)})`,
  );
  console.log(
    `least strict recall of any site${how}: ${strictOf(blind).toFixed(4)} (${blindest}), ` +
      `aim at least ${AIM_STRICT} (${verdict(strictOf(blind) >= AIM_STRICT)})`,
  );
}
