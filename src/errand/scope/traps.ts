/**
 * What keeps a crawl out of traps: spaces of URLs that a server makes up without end. A URL is judged before it is
 * admitted, from its text alone (trapReason) and from what pages like it turned out to be (ShapeCounter), and by the
 * latter once more when its turn comes. Every refusal is one of the named reasons; a page that was visited is never
 * judged again.
 */
import { fingerprint } from '../../base/url.ts';
import type { ReasonCode } from '../reasons.ts';

/** Characters of a URL. */
const LONGEST = 2048;
/** The same segments, next to each other: `/a/b/a/b/a/b`; a relative link that never gets anywhere makes these. */
const RUNS = 3;
const SHORT_RUNS = 6;
/** Segments that are looked at, and segments in a sequence: they bound the work on a hostile path of a thousand. */
const MOST_SEGMENTS = 64;
const LONGEST_RUN = 12;
/** One segment anywhere in the path. */
const OCCURRENCES = 4;
const MOST_PARAMETERS = 24;

/** Why a new URL (normalised) looks like a trap; undefined = it does not. */
export function trapReason(url: string): ReasonCode | undefined {
  if (url.length > LONGEST) return 'too-long';
  const query = url.indexOf('?');
  if (query >= 0 && parametersIn(url, query) > MOST_PARAMETERS) return 'too-many-parameters';
  const start = url.indexOf('/', 8);
  if (start < 0) return undefined;
  const path = url.slice(start + 1, query < 0 ? undefined : query);
  return repeats(path) ? 'repeated-path' : undefined;
}

function parametersIn(url: string, from: number): number {
  let count = 1;
  for (let at = url.indexOf('&', from); at >= 0; at = url.indexOf('&', at + 1)) count++;
  return count;
}

function repeats(path: string): boolean {
  let slashes = 0;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) slashes++;
  if (slashes < RUNS - 1) return false; // most paths end here, without a list being made
  const segments = path.split('/', MOST_SEGMENTS);
  return repeatsAnywhere(segments) || repeatsInRow(segments);
}

function repeatsAnywhere(segments: readonly string[]): boolean {
  for (let at = OCCURRENCES - 1; at < segments.length; at++) {
    let count = 1;
    for (let before = 0; before < at; before++) if (segments[before] === segments[at]) count++;
    if (count >= OCCURRENCES && !isShort(segments[at]!)) return true;
  }
  return false;
}

/** For each length of a sequence, counts how long the path goes on equal to itself that many segments before. */
function repeatsInRow(segments: readonly string[]): boolean {
  for (let length = 1; length <= LONGEST_RUN && length * RUNS <= segments.length; length++) {
    let equal = 0;
    for (let at = length; at < segments.length; at++) {
      equal = segments[at] === segments[at - length] && segments[at] !== '' ? equal + 1 : 0;
      if (equal < length * (RUNS - 1)) continue;
      if (length > 1 || equal >= SHORT_RUNS - 1 || !isShort(segments[at]!)) return true;
    }
  }
  return false;
}

/** Numbers and single letters do repeat in honest paths: `/2011/11/11/1`. */
function isShort(segment: string): boolean {
  return segment.length < 2 || /^\d+$/.test(segment);
}

/** A shape is judged once so many of its pages were fetched, and refused when so large a share were copies. */
const JUDGED_AFTER = 50;
const COPIES = 0.9;
/** Shapes remembered for a server; beyond, the one not counted for longest is forgotten. */
const SHAPES = 1000;
/** Names of parameters that make a shape. */
const MOST_NAMES = 3;
/** Both counts of a shape in one number: pages fetched above, copies below. */
const FETCHED = 2 ** 26;

/** Counts, for one server, how many pages of each shape of URL were near or exact copies of others. */
export class ShapeCounter {
  /** By the hash of the shape; oldest first, because an entry is put back at the end when it is counted. */
  readonly #counts = new Map<number, number>();
  /** Shapes that are refused now. */
  #traps = 0;

  get size(): number {
    return this.#counts.size;
  }

  /** What it counted, oldest first: shape and counts in turn. */
  packed(): number[] {
    return [...this.#counts].flat();
  }

  /** Takes in what packed() gave, into an empty counter. */
  load(entries: ArrayLike<number>): void {
    for (let at = 0; at < entries.length; at += 2) {
      this.#counts.set(entries[at]!, entries[at + 1]!);
      if (isTrap(entries[at + 1]!)) this.#traps++;
    }
  }

  /** A page was fetched; `copy`: its content nearly equals that of another page. */
  count(url: string, copy: boolean): void {
    const key = keyOf(url);
    if (key === 0) return;
    const counts = this.#drop(key) + FETCHED + (copy ? 1 : 0);
    this.#counts.set(key, counts);
    if (isTrap(counts)) this.#traps++;
    if (this.#counts.size > SHAPES) this.#drop(this.#counts.keys().next().value!);
  }

  /** There is a shape that is refused. */
  get refusing(): boolean {
    return this.#traps > 0;
  }

  /** Further URLs of this one's shape are not worth a visit. */
  refuses(url: string): boolean {
    // An honest server pays nothing for this.
    return this.#traps > 0 && isTrap(this.#counts.get(keyOf(url)) ?? 0);
  }

  #drop(key: number): number {
    const counts = this.#counts.get(key) ?? 0;
    if (isTrap(counts)) this.#traps--;
    this.#counts.delete(key);
    return counts;
  }
}

function isTrap(counts: number): boolean {
  const fetched = Math.trunc(counts / FETCHED);
  return fetched >= JUDGED_AFTER && counts % FETCHED >= COPIES * fetched;
}

const print = { high: 0, low: 0 };

/** Hash of the URL's shape; 0 when nothing in it varies, so that it has no family to be judged with. */
function keyOf(url: string): number {
  VARIES.lastIndex = pathStart(url);
  if (!VARIES.test(url)) return 0; // most paths: a quarter of the time of masking them
  const shape = shapeOf(url);
  if (shape === url.slice(pathStart(url))) return 0;
  fingerprint(shape, print);
  return print.high * 2 ** 21 + (print.low >>> 11);
}

/**
 * The URL with everything masked that a generator would vary: runs of digits as 0, long tokens as #, values
 * of parameters dropped, their names sorted, each once (a click on a filter may add its name again and again). More
 * names than a few are not told apart: a shop with ten filters has a thousand sets of them, each of which would be tried.
 * `/2026/11/15/a-1f3a9c77?page=7&d=3` and `/2025/01/02/a-09bb12ef?d=1&page=2` have one shape.
 */
export function shapeOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf('?', start);
  const path = url.slice(start, query < 0 ? undefined : query);
  const shape = path.replace(TOKEN, '#').replace(DIGITS, '0');
  if (query < 0) return shape;
  const parameters = url.slice(query + 1).split('&');
  const names = [...new Set(parameters.map(nameOf))].sort();
  return `${shape}?${names.length > MOST_NAMES ? '*' : names.join('&')}`;
}

/** Hexadecimal of eight digits or more, or anything of sixteen, standing alone and with a number in it. */
const TOKEN = /(?<![a-z0-9])(?=[a-z]*\d)(?:[0-9a-f]{8,}|[a-z0-9]{16,})(?![a-z0-9])/gi;
const DIGITS = /\d+/g;
/** What every mask needs to have an effect. */
const VARIES = /[\d?]/g;

function pathStart(url: string): number {
  return Math.max(0, url.indexOf('/', 8));
}

function nameOf(parameter: string): string {
  const equals = parameter.indexOf('=');
  return (equals < 0 ? parameter : parameter.slice(0, equals)).replace(DIGITS, '0');
}
