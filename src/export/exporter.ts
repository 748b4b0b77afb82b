/** The port behind `skein export`: each format is one of these, and all keep the same promises (test/contracts). */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Filter } from '../archive/export.ts';

/** What is to be written. */
export interface Wanted {
  /** The collection's directory. */
  readonly data: string;
  /** Which copies, of what the archive holds. */
  readonly filter: Filter;
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
