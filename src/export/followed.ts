/** Copies that differ from a stored version by no news: fetched, and kept as a delta beside the archive. */
import type { Filter } from '../archive/export.ts';
import type { Stored } from '../archive/read.ts';
import type { Copies } from '../home/copies/copies.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface FollowedCopy {
  readonly copy: Stored;
  /** Of the version that it followed. */
  readonly segment: number;
  readonly offset: number;
}

/** Those that pass, by their own time and the place of their version. One that cannot be read is left out. */
export async function* followedCopies(ledger: Ledger, copies: Copies, filter: Filter): AsyncGenerator<FollowedCopy> {
  for (const { page, segment, place, time } of ledger.storage.followed.all()) {
    const known = ledger.pages.known(page);
    const url = ledger.pages.get(page)?.url;
    if (!known || url === undefined || known.segment !== segment || known.place !== place) continue;
    const offset = place + known.request_length!;
    if (!filter({ url, time, segment, offset })) continue;
    const copy = await readable(copies.newest(known));
    if (copy) yield { copy, segment, offset };
  }
}

/** Without the versions that these have followed: where only the newest copy of each page is wanted. */
export async function besides(filter: Filter, followed: AsyncIterable<FollowedCopy>): Promise<Filter> {
  const places = new Set<string>();
  for await (const { segment, offset } of followed) places.add(`${segment} ${offset}`);
  return page => filter(page) && !places.has(`${page.segment} ${page.offset}`);
}

async function readable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch {
    return undefined; // `skein verify` names it
  }
}
