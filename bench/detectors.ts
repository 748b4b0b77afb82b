/**
 * Which detector sees what, and what it costs. First on pages made from seeds and edited (mutators.ts): share of edits
 * on which each fires. Then on the recorded sites, against how each revision was labelled there: recall of what must be
 * reported (text, structure beyond markup, images), precision, share of noise-only revisions that fire.
 */

import { analyse } from '../src/crawler/analyse.ts';
import { type Beside, compare, detectorNames } from '../src/crawler/compare.ts';
import type { ImageFacts } from '../src/crawler/detect/image.ts';
import type { Facts } from '../src/errand/facts.ts';
import { randomly } from '../test/random.ts';
import { DAYS, type Entry, entriesOf, historiesAvailable, openBlobs, type Truth, truthOf } from './histories.ts';
import { makePage, mutators } from './mutators.ts';

const PAGES = 100;
const headers = new Map([['content-type', 'text/html; charset=utf-8']]);

function mutations(): void {
  console.log(`Share of ${PAGES} edits on which each detector fires\n`);
  const rows = new Map<string, string[]>(mutators.map(({ name }) => [name, []]));
  for (const mutator of mutators) {
    const fired = new Map<string, number>(detectorNames.map(name => [name, 0]));
    for (let seed = 1; seed <= PAGES; seed++) {
      const html = makePage(seed);
      const [before, after] = [html, mutator.mutate(html, randomly(seed * 31))].map(
        page => analyse({ url: 'http://a.test/page', headers, body: Buffer.from(page) }).facts,
      );
      for (const name of detectorNames)
        if (compare(name, before, after!).changed) fired.set(name, fired.get(name)! + 1);
    }
    for (const name of detectorNames) rows.get(mutator.name)!.push(`${Math.round((fired.get(name)! / PAGES) * 100)}`);
  }
  console.log(
    ['', ...detectorNames.map(name => name.slice(0, 8).padStart(9))].join('').padStart(32 + detectorNames.length * 9),
  );
  for (const { name, kind } of mutators) {
    console.log(
      `${kind.padEnd(9)} ${name.padEnd(22)}${rows
        .get(name)!
        .map(share => share.padStart(9))
        .join('')}`,
    );
  }
}

interface Score {
  hits: number;
  misses: number;
  noise: number;
  alarms: number;
  /** Must be reported, and not a template edit that many pages share. */
  strictHits: number;
  strictMisses: number;
}

/** What the data set's own rule says of a revision; undefined = not to be scored. */
function expected(truth: Truth): boolean | undefined {
  if (truth.c === 'noise') return false;
  if (truth.c === 'structure' && truth.sub?.includes('markup')) return undefined;
  return truth.c === 'text' || truth.c === 'structure' || truth.c === 'images' ? true : undefined;
}

interface Analysed {
  readonly facts: Facts;
  readonly images: readonly string[];
}

class Histories {
  readonly #blob = openBlobs();
  readonly #pages = new Map<string, Analysed>();
  cpu = 0;
  bytes = 0;

  analysed(entry: Entry): Analysed {
    const known = this.#pages.get(entry.b);
    if (known) return known;
    const body = this.#blob(entry.b);
    const before = process.cpuUsage();
    const { facts, images } = analyse({ url: `https://${entry.s}${entry.u}`, headers, body });
    const { user, system } = process.cpuUsage(before);
    this.cpu += (user + system) / 1e6;
    this.bytes += body.length;
    this.#pages.set(entry.b, { facts, images });
    return { facts, images };
  }
}

/** The name of a blob stands for its bytes: it is their hash. */
function imagesOn(day: ReadonlyMap<string, Entry>, urls: readonly string[]): ImageFacts[] {
  return urls.map(url => {
    const blob = day.get(url.replace('https://', ''))?.b ?? '';
    return { bytes: Buffer.from(blob), look: 0n, ival: BigInt(`0x${blob || '0'}`) };
  });
}

/** Last-Modified as an honest server would give it. */
function datesOf(before: Entry, after: Entry): NonNullable<Beside['lastModified']> {
  return { before: String(before.t), after: String(after.t) };
}

function histories(): void {
  const data = new Histories();
  const scores = new Map<string, Score>();
  const blank = (): Score => ({ hits: 0, misses: 0, noise: 0, alarms: 0, strictHits: 0, strictMisses: 0 });
  let yesterday = byUrl(entriesOf(0));
  for (let day = 1; day < DAYS; day++) {
    const today = byUrl(entriesOf(day));
    for (const truth of truthOf(day)) {
      const wanted = expected(truth);
      const [old, now] = [yesterday.get(truth.s + truth.u), today.get(truth.s + truth.u)];
      if (wanted === undefined || !old || !now) continue;
      const [before, after] = [data.analysed(old), data.analysed(now)];
      const images = { before: imagesOn(yesterday, after.images), after: imagesOn(today, after.images) };
      for (const name of [...detectorNames, WITHOUT_IMAGES]) {
        const beside: Beside = { lastModified: datesOf(old, now), ...(name !== WITHOUT_IMAGES && { images }) };
        const fired = compare(name === WITHOUT_IMAGES ? 'content' : name, before.facts, after.facts, beside).changed;
        if (!scores.has(name)) scores.set(name, blank());
        count(scores.get(name)!, fired, wanted, truth.shared === true);
      }
    }
    yesterday = today;
  }
  report(scores, data);
}

const WITHOUT_IMAGES = 'content, no images';

const byUrl = (entries: readonly Entry[]): Map<string, Entry> =>
  new Map(entries.map(entry => [entry.s + entry.u, entry]));

function count(score: Score, fired: boolean, wanted: boolean, shared: boolean): void {
  if (!wanted) {
    score.noise++;
    if (fired) score.alarms++;
    return;
  }
  if (fired) score.hits++;
  else score.misses++;
  if (shared) return;
  if (fired) score.strictHits++;
  else score.strictMisses++;
}

function report(scores: ReadonlyMap<string, Score>, data: Histories): void {
  const { hits, misses, noise, strictHits, strictMisses } = scores.get('content')!;
  console.log(
    `\nRecorded sites: ${hits + misses} revisions to report (${strictHits + strictMisses} of them on few pages), ${noise} of noise only\n`,
  );
  console.log('detector             recall  strict  precision  noise that fires');
  for (const [name, score] of scores) {
    const recall = score.hits / (score.hits + score.misses);
    const strict = score.strictHits / (score.strictHits + score.strictMisses);
    const precision = score.hits / Math.max(1, score.hits + score.alarms);
    const alarms = `${((score.alarms / score.noise) * 100).toFixed(2)} %`;
    console.log(
      `${name.padEnd(20)} ${recall.toFixed(4)}  ${strict.toFixed(4)}     ${precision.toFixed(4)}  ${alarms.padStart(9)}`,
    );
  }
  console.log(
    `\nanalysis: ${(data.bytes / 1e6 / data.cpu).toFixed(0)} MB per CPU second over ${(data.bytes / 1e6).toFixed(0)} MB`,
  );
}

mutations();
if (historiesAvailable) histories();
else console.log('\nno ../shared/data/dev: recorded sites are left out');
