/**
 * ResourceSync: of which pages a source's change lists tell. Its resource list says so, which is read once: its silence about
 * another page that we hold means nothing.
 */
import { parseSync, type SyncDocument, type SyncEntry } from '../../../notices/resourcesync.ts';
import { type Asking, NoAnswer } from './asking.ts';
import type { HeldPage } from './reconcile.ts';

const MOST_BYTES = 32 << 20;
/** Documents that are read: an index of lists may go on without end. */
const MOST_DOCUMENTS = 20;

interface ListedPages {
  /** False = nobody knows: it could not be read, or not to its end. */
  readonly listed: boolean;
  readonly pages: ReadonlySet<string>;
}

/** `lists`: resource lists, or indexes of them. */
export async function resourcesIn(asking: Asking, lists: readonly string[]): Promise<ListedPages> {
  const pages = new Set<string>();
  const waiting = [...lists];
  for (let documents = 0; waiting.length > 0; documents++) {
    if (documents >= MOST_DOCUMENTS) return { listed: false, pages };
    const document = await read(asking, waiting.shift()!);
    if (document?.capability !== 'resourcelist') return { listed: false, pages };
    if (document.index) waiting.push(...document.entries.map(({ url }) => url));
    else for (const { url } of document.entries) pages.add(url);
  }
  return { listed: true, pages };
}

async function read(asking: Asking, url: string): Promise<SyncDocument | undefined> {
  try {
    const answer = await asking.own({ url, maxBytes: MOST_BYTES, accept: 'application/xml, */*;q=0.5' });
    return answer.status === 200 ? parseSync(answer.body, answer.url) : undefined;
  } catch (error) {
    // Its changes are read all the same.
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

export function listsIn(entries: readonly SyncEntry[], capability: string): string[] {
  return entries.filter(each => each.capability === capability).map(({ url }) => url);
}

/** Pages that we hold and that were not listed; none where nobody knows. */
export function unlisted(held: Iterable<HeldPage>, { listed, pages }: ListedPages): string[] {
  return listed ? Array.from(held, ({ url }) => url).filter(url => !pages.has(url)) : [];
}
