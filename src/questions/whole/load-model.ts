/** The papers' load models, with the figures of this collection instead of their own. */
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
import { mergedBy, type Question, sumOf } from '../question.ts';
import { lineOf } from './account.ts';
import type { NoArgs } from './status.ts';

export interface ModelLoad {
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
    readonly traditional: ModelLoad;
    readonly filtered: ModelLoad;
    readonly compressed: ModelLoad;
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
export const PAPER_RATE = 8;
/** Machines below each, as the paper draws it. */
const FAN_OUT = 2;

/** What the models need to know of one partition. */
interface Figures {
  readonly thresholds: Thresholds | null;
  readonly groups: readonly Group[];
  readonly sizes: { readonly pages: number; readonly bytes: number; readonly wire: number };
  /** Bytes on home's own line. */
  readonly line: number;
  readonly links: number;
  readonly linked: number;
  readonly repeated: number;
}

export const modelQuestion: Question<NoArgs, Figures, ModelReport> = {
  name: 'load-model',
  ask: ({ ledger }) => ledger.queries.atOnce(() => figuresOf(ledger)),
  merge(_, parts) {
    const figures = parts.length === 1 ? parts[0]! : merged(parts);
    return { pmcs: pmcsOf(figures), pmceg: pmcegOf(figures) };
  },
};

function figuresOf(ledger: Ledger): Figures {
  const { up, down } = lineOf(ledger, 0);
  const { linked, repeated } = ledger.queries.load.repetitions();
  const { pages, bytes, wire } = ledger.queries.load.sizes();
  return {
    thresholds: ledger.settings.get<SavedSchedule>('schedule')?.thresholds ?? null,
    groups: groupsOf(ledger),
    sizes: { pages, bytes, wire },
    line: up + down,
    ...{ links: ledger.links.backward.savedTotal(), linked, repeated },
  };
}

function merged(parts: readonly Figures[]): Figures {
  const sum = (of: (part: Figures) => number) => sumOf(parts.map(of));
  return {
    thresholds: parts.find(part => part.thresholds !== null)?.thresholds ?? null,
    groups: mergedBy(
      parts.flatMap(part => part.groups),
      ({ probability }) => String(probability),
      (one, two) => ({ ...one, pages: one.pages + two.pages }),
    ),
    sizes: {
      pages: sum(part => part.sizes.pages),
      bytes: sum(part => part.sizes.bytes),
      wire: sum(part => part.sizes.wire),
    },
    line: sum(part => part.line),
    links: sum(part => part.links),
    linked: sum(part => part.linked),
    repeated: sum(part => part.repeated),
  };
}

/** Pages by the papers' probability of change. */
function groupsOf(ledger: Ledger): Group[] {
  const pages = new Map<number, number>();
  for (const change of ledger.queries.load.changeStates()) {
    const probability = shareChanged(unpackState(change));
    pages.set(probability, (pages.get(probability) ?? 0) + 1);
  }
  return [...pages].map(([probability, count]) => ({ probability, pages: count }));
}

function pmcsOf({ groups, sizes, ...figures }: Figures): ModelReport['pmcs'] {
  const thresholds = figures.thresholds ?? THRESHOLDS;
  const { low, high } = thresholds;
  const between = groups.filter(({ probability }) => probability > low && probability < high);
  const count = (some: readonly Group[]) => some.reduce((sum, { pages }) => sum + pages, 0);
  const saving = loadSaved(groups, thresholds);
  const { pages, bytes, wire } = sizes;
  const pageKilobytes = pages === 0 ? 0 : bytes / pages / 1000;
  const crawlerKilobytes = makeBundle().bytes.length / 1000;
  const compression = bytes === 0 ? 1 : wire / bytes;
  const load = (sent: number, crawler: number, size: number): ModelLoad => {
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

function pmcegOf({ sizes, line, links, linked, repeated }: Figures): ModelReport['pmceg'] {
  const conventionalKilobytes = sizes.bytes / 1000;
  const lineKilobytes = line / 1000;
  // Each link is counted for the page that it leads to; the first that led there was no repetition.
  const repeatedLinks = Math.max(0, links - linked);
  return {
    ...{ conventionalKilobytes, lineKilobytes, benefit: benefit(conventionalKilobytes, lineKilobytes) },
    ...{ repeatedLinks, repeatedVisits: repeated, quality: benefit(repeatedLinks, repeated) },
    ...{ fanOut: FAN_OUT, machines: [1, 2, 3, 4].map(depth => machinesReached(depth, FAN_OUT)) },
  };
}
