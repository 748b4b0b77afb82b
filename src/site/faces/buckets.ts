/** The pages of a journal spread over buckets, made again when the journal has gone on. */
import { bucketDigest, bucketOf, type ManifestEntry } from '../../notices/site/manifest.ts';
import { HASH_BYTES } from '../../notices/site/paths.ts';
import { cursorText, type Journal } from '../journal/journal.ts';
import type { JournalPage } from '../journal/lines.ts';

interface Bucket {
  readonly digest: Uint8Array;
  /** In the order of their paths. */
  readonly entries: readonly ManifestEntry[];
}

export class Buckets {
  readonly #journal: Journal;
  readonly #origin: string;
  #made: { readonly key: string; readonly buckets: readonly Bucket[] } | undefined;

  constructor(journal: Journal, origin: string) {
    this.#journal = journal;
    this.#origin = origin;
  }

  of(count: number): readonly Bucket[] {
    const key = `${count} ${cursorText(this.#journal)}`;
    if (this.#made?.key !== key) this.#made = { key, buckets: this.#make(count) };
    return this.#made.buckets;
  }

  #make(count: number): readonly Bucket[] {
    const lists: ManifestEntry[][] = Array.from({ length: count }, () => []);
    for (const page of this.#journal.pages.values()) {
      const url = this.#origin + page.path;
      lists[bucketOf(url, count)]!.push({ url, kind: page.kind, content: hashOf(page), time: page.time });
    }
    return lists.map(list => {
      const entries = list.sort((a, b) => (a.url < b.url ? -1 : 1));
      return { digest: bucketDigest(entries), entries };
    });
  }
}

export function hashOf({ content }: JournalPage): Uint8Array {
  return new Uint8Array(Buffer.from(content.slice(0, HASH_BYTES * 2), 'hex'));
}
