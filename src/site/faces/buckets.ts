/** The pages of a journal spread over buckets, made again when the journal has gone on. */
import { siteLimits } from '../../notices/site/discovery.ts';
import { bucketDigest, bucketOf, bucketsFor, type ManifestEntry } from '../../notices/site/manifest.ts';
import { HASH_BYTES } from '../../notices/site/paths.ts';
import { cursorText, type Journal } from '../journal/journal.ts';
import type { JournalPage } from '../journal/lines.ts';

/** The pages of one state of the journal. */
interface Spread {
  readonly cursor: string;
  /** By the finest spread that a reader may ask for: any other joins some of these. */
  readonly finest: readonly (readonly ManifestEntry[])[];
  /** Of the spread that the summary names. */
  digests?: readonly Uint8Array[];
}

export class Buckets {
  readonly #journal: Journal;
  readonly #origin: string;
  #spread: Spread | undefined;

  constructor(journal: Journal, origin: string) {
    this.#journal = journal;
    this.#origin = origin;
  }

  /** As many as pages ask for. */
  get digests(): readonly Uint8Array[] {
    const spread = this.#now();
    const count = bucketsFor(this.#journal.pages.size);
    spread.digests ??= Array.from({ length: count }, (_, bucket) => bucketDigest(joined(spread, count, bucket)));
    return spread.digests;
  }

  /** The pages of one bucket of so many. Whatever count a reader names, it costs no more than the pages that it gets. */
  entries(count: number, bucket: number): readonly ManifestEntry[] {
    return joined(this.#now(), count, bucket).sort((a, b) => (a.url < b.url ? -1 : 1));
  }

  #now(): Spread {
    const cursor = cursorText(this.#journal);
    if (this.#spread?.cursor !== cursor) this.#spread = { cursor, finest: this.#make() };
    return this.#spread;
  }

  #make(): ManifestEntry[][] {
    const lists: ManifestEntry[][] = Array.from({ length: siteLimits.buckets }, () => []);
    for (const page of this.#journal.pages.values()) {
      const url = this.#origin + page.path;
      lists[bucketOf(url, lists.length)]!.push({ url, kind: page.kind, content: hashOf(page), time: page.time });
    }
    return lists;
  }
}

/** A bucket of so many, a power of two, is every so many-th of the finest. */
function joined({ finest }: Spread, count: number, bucket: number): ManifestEntry[] {
  return Array.from({ length: finest.length / count }, (_, i) => finest[bucket + i * count]!).flat();
}

export function hashOf({ content }: JournalPage): Uint8Array {
  return new Uint8Array(Buffer.from(content.slice(0, HASH_BYTES * 2), 'hex'));
}
