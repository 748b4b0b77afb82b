/**
 * `skein account --model`: the papers' load models with the figures of this collection in the place of their own. They are
 * models: what was really spent is what `skein account` says without it.
 */
import type { SavedSchedule } from '../../frontier/schedule/settings.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { benefit, machinesReached } from '../../revisit/pmceg.ts';
import {
  averageProbability,
  type Group,
  loadSaved,
  type Saving,
  shareChanged,
  THRESHOLDS,
  type Thresholds,
  tripLoad,
} from '../../revisit/pmcs.ts';
import { unpackState } from '../../revisit/state.ts';
import { makeBundle } from '../../transfer/bundle.ts';
import { paint, table } from '../print/terminal.ts';
import { lineOf } from './account-line.ts';

interface Load {
  readonly kilobytes: number;
  /** Of sending every page as it is. */
  readonly percent: number;
  /** On a line of so many kilobytes a second as the paper assumes. */
  readonly seconds: number;
}

export interface ModelReport {
  readonly pmcs: Saving & {
    readonly thresholds: Thresholds;
    /** Pages up to the lower threshold (P1), between them (P2), and from the higher one on (P3). */
    readonly low: number;
    readonly between: number;
    readonly high: number;
    /** Of those between (Pav). */
    readonly averageProbability: number;
    readonly pageKilobytes: number;
    readonly crawlerKilobytes: number;
    readonly compression: number;
    /** TC, MCWC and MCW. */
    readonly traditional: Load;
    readonly filtered: Load;
    readonly compressed: Load;
  };
  readonly pmceg: {
    /** Every page of the collection, as it is, over home's line; and what crossed it so far. */
    readonly conventionalKilobytes: number;
    readonly lineKilobytes: number;
    readonly benefit: number;
    /** Links that led to a page which was known already, and pages that were visited for them all the same. */
    readonly repeatedLinks: number;
    readonly repeatedVisits: number;
    readonly quality: number;
    /** Machines that a counter of 1, 2, 3 … reaches, each with so many below it. */
    readonly fanOut: number;
    readonly machines: readonly number[];
  };
}

/** Kilobytes a second on the paper's line. */
const PAPER_RATE = 8;
/** Machines below each, as the paper draws it. */
const FAN_OUT = 2;

export function modelOf(ledger: Ledger): ModelReport {
  return { pmcs: pmcsOf(ledger), pmceg: pmcegOf(ledger) };
}

/** Pages by the papers' probability of change. */
function groupsOf(ledger: Ledger): Group[] {
  const pages = new Map<number, number>();
  for (const change of ledger.reckoning.changeStates()) {
    const probability = shareChanged(unpackState(change));
    pages.set(probability, (pages.get(probability) ?? 0) + 1);
  }
  return [...pages].map(([probability, count]) => ({ probability, pages: count }));
}

function pmcsOf(ledger: Ledger): ModelReport['pmcs'] {
  const thresholds = ledger.setting<SavedSchedule>('schedule')?.thresholds ?? THRESHOLDS;
  const { low, high } = thresholds;
  const groups = groupsOf(ledger);
  const between = groups.filter(({ probability }) => probability > low && probability < high);
  const count = (some: readonly Group[]) => some.reduce((sum, { pages }) => sum + pages, 0);
  const saving = loadSaved(groups, thresholds);
  const { pages, bytes, wire } = ledger.reckoning.sizes();
  const pageKilobytes = pages === 0 ? 0 : bytes / pages / 1000;
  const crawlerKilobytes = makeBundle().bytes.length / 1000;
  const compression = bytes === 0 ? 1 : wire / bytes;
  const load = (sent: number, crawler: number, size: number): Load => {
    const trip = { pages: saving.sentBefore, sent, pageKilobytes, crawlerKilobytes: crawler, compression: size };
    const { kilobytes, percent } = tripLoad(trip);
    return { kilobytes, percent, seconds: kilobytes / PAPER_RATE };
  };
  return {
    ...saving,
    thresholds,
    low: count(groups.filter(({ probability }) => probability <= low)),
    between: count(between),
    high: count(groups.filter(({ probability }) => probability >= high && probability > low)),
    averageProbability: averageProbability(between),
    ...{ pageKilobytes, crawlerKilobytes, compression },
    traditional: load(saving.sentBefore, 0, 1),
    filtered: load(saving.sent, crawlerKilobytes, 1),
    compressed: load(saving.sent, crawlerKilobytes, compression),
  };
}

function pmcegOf(ledger: Ledger): ModelReport['pmceg'] {
  const conventionalKilobytes = ledger.reckoning.sizes().bytes / 1000;
  const { up, down } = lineOf(ledger, 0);
  const lineKilobytes = (up + down) / 1000;
  const { linked, repeated } = ledger.reckoning.repetitions();
  // Each link is counted for the page that it leads to; the first that led there was no repetition.
  const repeatedLinks = Math.max(0, ledger.backward.savedTotal() - linked);
  return {
    ...{ conventionalKilobytes, lineKilobytes, benefit: benefit(conventionalKilobytes, lineKilobytes) },
    ...{ repeatedLinks, repeatedVisits: repeated, quality: benefit(repeatedLinks, repeated) },
    ...{ fanOut: FAN_OUT, machines: [1, 2, 3, 4].map(depth => machinesReached(depth, FAN_OUT)) },
  };
}

const whole = (value: number) => Math.round(value).toLocaleString('en');
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
  const row = (name: string, { kilobytes, percent: of, seconds }: Load) => [
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
