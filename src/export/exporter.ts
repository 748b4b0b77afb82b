/** The port behind `skein export`: each format is one of these, and all keep the same promises (test/contracts). */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Filter } from '../archive/export.ts';

/** A partition of which something is to be written. */
export interface WantedPart {
  /** Its directory. */
  readonly data: string;
  /** Which copies, of what its archive holds. */
  readonly filter: Filter;
}

/** What is to be written. */
export interface Wanted extends WantedPart {
  /** Of a collection with several partitions: those, in place of `data` and `filter`. */
  readonly parts?: readonly WantedPart[];
  /** What other machines have of it, in a format that `peerExporterOf` knows; returns how many pages or copies. */
  readonly away?: (format: string) => AsyncGenerator<Uint8Array, number>;
  /** One copy of each page. */
  readonly newest?: boolean;
  /** Which pages, and copies from when: of formats that are about pages. Milliseconds since 1970. */
  readonly matches: (url: string) => boolean;
  readonly since: number;
  readonly until: number;
  /** Bodies, too, where the format may leave them out. */
  readonly body: boolean;
  /** Both are named in files that say where they come from. */
  readonly filename: string;
  readonly software: string;
}

/** One after the other. */
export function partsOf({ data, filter, parts }: Wanted): readonly WantedPart[] {
  return parts ?? [{ data, filter }];
}

export interface Exporter {
  readonly name: string;
  /** It is nothing for a terminal. */
  readonly binary: boolean;
  /** One version of each page that is still there, instead of every copy. */
  readonly pages: boolean;
  /** Writes all that is wanted, waiting where the receiver is slower; returns how many copies. Leaves `out` open. */
  write(wanted: Wanted, out: Writable): Promise<number>;
}

/** Waits when the receiver is slower than we are. */
export async function put(out: Writable, bytes: string | Uint8Array): Promise<void> {
  if (!out.write(bytes)) await once(out, 'drain');
}

/** What other machines have, behind what is here: for formats of which one file can follow another. Returns how many. */
export async function putAway({ away }: Wanted, format: string, out: Writable): Promise<number> {
  const chunks = away?.(format);
  if (!chunks) return 0;
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return value;
    await put(out, value);
  }
}

/** The same where it is lines that somebody takes one by one. */
export async function linesAway(
  { away }: Wanted,
  format: string,
  take: (line: string) => Promise<void>,
): Promise<number> {
  const chunks = away?.(format);
  let [count, rest] = [0, ''];
  const decoder = new TextDecoder();
  for (; chunks; ) {
    const { done, value } = await chunks.next();
    if (done) {
      count = value;
      break;
    }
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) await take(line);
  }
  return count;
}

/** URLs that contain the pattern; * stands for anything. */
export function matcherOf(pattern = ''): (url: string) => boolean {
  const parts = pattern.split('*');
  return url => contains(url, parts);
}

/** Whether the parts stand in the URL, in this order. */
function contains(url: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every(part => {
    const at = url.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}
