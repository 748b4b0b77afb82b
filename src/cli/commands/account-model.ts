/**
 * `skein account --model`: the papers' load models with the figures of this collection in the place of their own. They are
 * models: what was really spent is what `skein account` says without it.
 */
import { type ModelLoad, type ModelReport, PAPER_RATE } from '../../questions/whole/load-model.ts';
import { paint, table, thousands } from '../print/terminal.ts';

const whole = (value: number) => thousands(Math.round(value));
const percent = (value: number) => `${value.toFixed(2)}%`;

export function printModel({ pmcs, pmceg }: ModelReport): void {
  const { thresholds, low, between, high, sentBefore, sent, saved } = pmcs;
  console.log(paint('bold', 'Pages by their probability of change (PMCS)'));
  console.log(
    table(
      ['', 'pages'],
      [
        [`P1, at most ${thresholds.low}: sent directly`, whole(low)],
        [`P2, between: compared there; on average ${pmcs.averageProbability.toFixed(4)}`, whole(between)],
        [`P3, at least ${thresholds.high}: sent directly`, whole(high)],
        ['pt, sent by a traditional crawler', whole(sentBefore)],
        ['pm, sent by this one', sent.toFixed(1)],
        [`saved, ${percent(pmcs.percent)} of the load`, saved.toFixed(1)],
      ],
    ),
  );
  const row = (name: string, { kilobytes, percent: of, seconds }: ModelLoad) => [
    ...[name, whole(kilobytes), percent(of)],
    `${whole(seconds)} s`,
  ];
  console.log(
    `\nA page has ${pmcs.pageKilobytes.toFixed(1)} kB and comes as ${percent(pmcs.compression * 100)} of that; ` +
      `the crawler weighs ${pmcs.crawlerKilobytes.toFixed(0)} kB.`,
  );
  console.log(
    table(
      ['load', 'kB', 'of all', `at ${PAPER_RATE} kB/s`],
      [
        row('TC, every page as it is', pmcs.traditional),
        row('MCWC, what changed', pmcs.filtered),
        row('MCW, what changed, compressed', pmcs.compressed),
      ],
    ),
  );
  console.log(`\n${paint('bold', 'What migrating saved (PMCEG)')}`);
  console.log(
    table(
      ['', 'conventional', 'here', 'benefit'],
      [
        ['network, kB', whole(pmceg.conventionalKilobytes), whole(pmceg.lineKilobytes), percent(pmceg.benefit)],
        ['repeated URLs', whole(pmceg.repeatedLinks), whole(pmceg.repeatedVisits), percent(pmceg.quality)],
      ],
    ),
  );
  const reached = pmceg.machines.map((machines, i) => `${machines} with --levels ${i + 1}`).join(', ');
  console.log(`\nWith ${pmceg.fanOut} machines below each, a crawl reaches ${reached}.`);
}
