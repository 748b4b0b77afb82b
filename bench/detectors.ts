/**
 * Which detector sees what, and what it costs. First on pages made from seeds and edited (mutators.ts): share of edits
 * on which each fires. Then on the recorded sites, against how each revision was labelled there: recall of what must be
 * reported (text, structure beyond markup, images), precision, share of noise-only revisions that fire. Strict recall
 * leaves out the edits that many pages of a site share. An edit of the template counts as reported where so many pages
 * of the site have it on that day that `skein changes` tells of it.
 *
 * Not scored: revisions labelled by the bytes of images that the recordings do not hold.
 */

import { analyse } from '../src/crawler/analyse.ts';
import { type Beside, compare, detectorNames } from '../src/crawler/compare.ts';
import type { ImageFacts } from '../src/crawler/detect/image.ts';
import type { Change } from '../src/crawler/stages.ts';
import { type Facts, unpackFacts } from '../src/errand/facts.ts';
import { isShared as isTold } from '../src/judge/review.ts';
import { randomly } from '../test/random.ts';
import {
  type Entry,
  entriesOf,
  historiesAvailable,
  openBlobs,
  recordedDays,
  type Truth,
  truthOf,
} from './histories.ts';
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
        page => unpackFacts(analyse({ url: 'http://a.test/page', headers, body: Buffer.from(page) }).facts)!,
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
    const { facts: packed, images } = analyse({ url: `https://${entry.s}${entry.u}`, headers, body });
    const facts = unpackFacts(packed)!;
    const { user, system } = process.cpuUsage(before);
    this.cpu += (user + system) / 1e6;
    this.bytes += body.length;
    this.#pages.set(entry.b, { facts, images });
    return { facts, images };
  }
}

/** The name of a blob stands for its bytes: it is their hash. */
const heldAs = (url: string): string => url.replace('https://', '');
const isHeld = (day: Day, url: string): boolean => day.has(heldAs(url));

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

/** One revision that can be scored, and what each detector said. */
interface Verdict {
  readonly truth: Truth;
  readonly wanted: boolean;
  readonly changes: ReadonlyMap<string, Change>;
}

function histories(): void {
  const data = new Histories();
  const scores = new Map<string, Score>(
    [...detectorNames, WITHOUT_IMAGES, WITH_TEMPLATES].map(name => [
      name,
      { hits: 0, misses: 0, noise: 0, alarms: 0, strictHits: 0, strictMisses: 0 },
    ]),
  );
  let yesterday = byUrl(entriesOf(0));
  for (let day = 1; day < recordedDays(); day++) {
    const today = byUrl(entriesOf(day));
    const verdicts = truthOf(day).flatMap(truth => verdictOn(data, truth, yesterday, today) ?? []);
    const told = templatesTold(verdicts, today);
    for (const { truth, wanted, changes } of verdicts) {
      const shared = truth.shared === true;
      for (const [name, { changed }] of changes) count(scores.get(name)!, changed, wanted, shared);
      const { changed, stage } = changes.get('content')!;
      count(scores.get(WITH_TEMPLATES)!, changed || (stage === 'template' && told.has(truth.s)), wanted, shared);
    }
    yesterday = today;
  }
  report(scores, data);
}

type Day = ReadonlyMap<string, Entry>;

/** Undefined where there is nothing to score. */
function verdictOn(data: Histories, truth: Truth, yesterday: Day, today: Day): Verdict | undefined {
  const wanted = expected(truth);
  const [old, now] = [yesterday.get(truth.s + truth.u), today.get(truth.s + truth.u)];
  if (wanted === undefined || !old || !now) return undefined;
  const [before, after] = [data.analysed(old), data.analysed(now)];
  if (truth.img?.join() === 'bytes' && !after.images.some(url => isHeld(today, url))) return undefined;
  const images = { before: imagesOn(yesterday, after.images), after: imagesOn(today, after.images) };
  const lastModified = datesOf(old, now);
  const changes = new Map(
    detectorNames.map(name => [name, compare(name, before.facts, after.facts, { lastModified, images })]),
  );
  changes.set(WITHOUT_IMAGES, compare('content', before.facts, after.facts));
  return { truth, wanted, changes };
}

/** Sites of which `skein changes` would tell a change of their template. */
function templatesTold(verdicts: readonly Verdict[], today: Day): Set<string> {
  const pages = new Map<string, number>();
  for (const { s, ct } of today.values()) if (ct.startsWith('text/html')) pages.set(s, (pages.get(s) ?? 0) + 1);
  const edits = new Map<string, number>();
  for (const { truth, changes } of verdicts)
    if (changes.get('content')!.stage === 'template') edits.set(truth.s, (edits.get(truth.s) ?? 0) + 1);
  return new Set([...edits].filter(([site, count]) => isTold(count, pages.get(site)!)).map(([site]) => site));
}

const WITHOUT_IMAGES = 'content, no images';
const WITH_TEMPLATES = 'content + templates';

const byUrl = (entries: readonly Entry[]): Day => new Map(entries.map(entry => [entry.s + entry.u, entry]));

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
