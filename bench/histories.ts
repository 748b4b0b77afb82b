/**
 * Reads the recorded sites beside the project (../shared/data/dev), or another set of the same format: every page of
 * every day, and how each changed. They are data only; whoever has none runs without.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Where they are. */
export let histories = new URL('../../shared/data/dev/', import.meta.url);
export let historiesAvailable: boolean = existsSync(new URL('sites.json', histories));

/** Reads another set from now on; undefined = the one beside the project. */
export function useHistories(directory: string | undefined): void {
  if (directory === undefined) return;
  histories = pathToFileURL(`${resolve(directory)}/`);
  historiesAvailable = existsSync(new URL('sites.json', histories));
  if (!historiesAvailable) throw new Error(`${directory} holds no recorded sites: it has no sites.json.`);
}

/** One resource on one day, as the manifest writes it. */
export interface Entry {
  /** Host, path, blob, time of last change in seconds, media type. */
  readonly s: string;
  readonly u: string;
  readonly b: string;
  readonly t: number;
  readonly ct: string;
}

/** How a page differs from the day before; truth-rule.md there has the meaning. */
export interface Truth {
  readonly s: string;
  readonly u: string;
  readonly c: 'added' | 'removed' | 'text' | 'structure' | 'images' | 'noise';
  readonly f?: readonly string[];
  readonly sub?: readonly string[];
  readonly num?: boolean;
  readonly shared?: boolean;
  readonly img?: readonly string[];
}

interface RecordedSite {
  readonly host: string;
  /** First day: 2020-05-25. */
  readonly start: string;
}

/** When a site's first day began, milliseconds since 1970. */
export function startsOf(): ReadonlyMap<string, number> {
  const { sites } = JSON.parse(readFileSync(new URL('sites.json', histories), 'utf8')) as { sites: RecordedSite[] };
  return new Map(sites.map(({ host, start }) => [host, Date.parse(start)]));
}

/** How many days were recorded. */
export function recordedDays(): number {
  return (JSON.parse(readFileSync(new URL('sites.json', histories), 'utf8')) as { readonly days: number }).days;
}

function lines<T>(file: string): T[] {
  const at = new URL(file, histories);
  if (!existsSync(at)) return [];
  const text = gunzipSync(readFileSync(at)).toString().trim();
  return text === '' ? [] : text.split('\n').map(line => JSON.parse(line) as T);
}

const dayName = (day: number): string => `day-${String(day).padStart(3, '0')}.jsonl.gz`;

export const entriesOf = (day: number): Entry[] => lines<Entry>(`manifests/${dayName(day)}`);
export const truthOf = (day: number): Truth[] => lines<Truth>(`truth/${dayName(day)}`);

interface Group {
  readonly file: URL;
  readonly offset: number;
  readonly length: number;
}

/** Decompressed groups that are kept; a day's pages lie in few of them. */
const KEPT_BYTES = 400e6;

/** A function that gives the bytes of a blob. */
export function openBlobs(): (id: string) => Buffer {
  const places = new Map<string, readonly [Group, number, number]>();
  for (const name of readdirSync(new URL('packs/', histories)).filter(file => file.endsWith('.idx.json.gz'))) {
    const groups = JSON.parse(gunzipSync(readFileSync(new URL(`packs/${name}`, histories))).toString()) as {
      readonly o: number;
      readonly z: number;
      readonly b: readonly (readonly [string, number])[];
    }[];
    const file = new URL(`packs/${name.replace('.idx.json.gz', '.pack')}`, histories);
    for (const { o, z, b } of groups) {
      const group = { file, offset: o, length: z };
      let offset = 0;
      for (const [id, length] of b) {
        if (!places.has(id)) places.set(id, [group, offset, length]);
        offset += length;
      }
    }
  }
  const kept = new Map<Group, Buffer>();
  let bytes = 0;
  return id => {
    const [group, offset, length] = places.get(id)!;
    let whole = kept.get(group);
    if (!whole) {
      whole = readGroup(group);
      bytes += whole.length;
      kept.set(group, whole);
      for (const [old, content] of kept) {
        if (bytes <= KEPT_BYTES || old === group) break;
        kept.delete(old);
        bytes -= content.length;
      }
    }
    return whole.subarray(offset, offset + length);
  };
}

function readGroup(group: Group): Buffer {
  const file = openSync(group.file, 'r');
  const packed = Buffer.allocUnsafe(group.length);
  readSync(file, packed, 0, group.length, group.offset);
  closeSync(file);
  return brotliDecompressSync(packed);
}
