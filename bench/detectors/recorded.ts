/** What each detector that compares facts says of the recorded revisions, day by day. */
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { type Beside, compare, detectorNames } from '../../src/crawler/detect/compare.ts';
import type { ImageFacts } from '../../src/crawler/detect/image.ts';
import { type Facts, unpackFacts } from '../../src/errand/facts.ts';
import { type Entry, entriesOf, openBlobs, type Truth, truthOf } from '../histories.ts';
import { count, emptyScore, expected, type Score } from './score.ts';

export const headers: ReadonlyMap<string, string> = new Map([['content-type', 'text/html; charset=utf-8']]);

/** Scores by host. */
export type Sites = Map<string, Score>;

export function scoreOf(sites: Sites, host: string): Score {
  let score = sites.get(host);
  if (!score) sites.set(host, (score = emptyScore()));
  return score;
}

export type Day = ReadonlyMap<string, Entry>;

export const dayOf = (day: number): Day => new Map(entriesOf(day).map(entry => [entry.s + entry.u, entry]));

interface Analysed {
  readonly facts: Facts;
  readonly images: readonly string[];
}

class Pages {
  readonly #blob = openBlobs();
  readonly #pages = new Map<string, Analysed>();
  cpu = 0;
  bytes = 0;

  analysed(entry: Entry): Analysed {
    const known = this.#pages.get(entry.b);
    if (known) return known;
    const body = this.#blob(entry.b);
    const before = process.cpuUsage();
    const { facts: packed, images } = analyse({ url: `https://${entry.s}${entry.u}`, headers, body });
    const facts = unpackFacts(packed)!;
    const { user, system } = process.cpuUsage(before);
    this.cpu += (user + system) / 1e6;
    this.bytes += body.length;
    this.#pages.set(entry.b, { facts, images });
    return { facts, images };
  }
}

export interface Recorded {
  readonly byDetector: ReadonlyMap<string, Sites>;
  /** Of analysis. */
  readonly megabytes: number;
  readonly seconds: number;
}

export function compareRecorded(days: number): Recorded {
  const pages = new Pages();
  const byDetector = new Map<string, Sites>(detectorNames.map(name => [name, new Map()]));
  let yesterday = dayOf(0);
  for (let day = 1; day < days; day++) {
    const today = dayOf(day);
    for (const truth of truthOf(day)) {
      const fired = verdictsOn(pages, truth, yesterday, today);
      for (const [name, changed] of fired) count(scoreOf(byDetector.get(name)!, truth.s), truth, changed);
    }
    yesterday = today;
  }
  return { byDetector, megabytes: pages.bytes / 1e6, seconds: pages.cpu };
}

/** Empty where there is nothing to score: of images whose bytes changed, those that were not recorded. */
function verdictsOn(pages: Pages, truth: Truth, yesterday: Day, today: Day): ReadonlyMap<string, boolean> {
  const [old, now] = [yesterday.get(truth.s + truth.u), today.get(truth.s + truth.u)];
  if (expected(truth) === undefined || !old || !now) return new Map();
  const [before, after] = [pages.analysed(old), pages.analysed(now)];
  if (truth.img?.join() === 'bytes' && !after.images.some(url => today.has(heldAs(url)))) return new Map();
  const images = { before: imagesOn(yesterday, after.images), after: imagesOn(today, after.images) };
  const beside = { lastModified: datesOf(old, now), images };
  return new Map(detectorNames.map(name => [name, compare(name, before.facts, after.facts, beside).changed]));
}

const heldAs = (url: string): string => url.replace('https://', '');

/** The name of a blob stands for its bytes: it is their hash. */
function imagesOn(day: Day, urls: readonly string[]): ImageFacts[] {
  return urls.map(url => {
    const blob = day.get(heldAs(url))?.b ?? '';
    return { bytes: Buffer.from(blob), look: 0n, ival: BigInt(`0x${blob || '0'}`) };
  });
}

/** Last-Modified as an honest server would give it. */
function datesOf(before: Entry, after: Entry): NonNullable<Beside['lastModified']> {
  return { before: String(before.t), after: String(after.t) };
}
