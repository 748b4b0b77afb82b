/** What a thread of an outpost remembers to pack the parcels of its errands small: recent pages, and versions on disk. */

import type { Errand } from '../errand/errand.ts';
import { unpackFacts } from '../errand/facts.ts';
import type { Known } from '../errand/known.ts';
import type { Parcel } from '../errand/parcel.ts';
import { blockOf, packParcel, packSent, Recent, type Shelf } from '../transfer/parcel-format.ts';
import { indexOf, type Sent } from '../transfer/sent.ts';
import type { VersionCache } from './cache.ts';
import { recode } from './recode.ts';

export class Sender {
  readonly #cache: VersionCache;
  readonly #shelves = new Map<string, Shelf>();

  constructor(cache: VersionCache) {
    this.#cache = cache;
  }

  begin(errand: Errand): void {
    const stored = (known: Known) => {
      const raw = rawOf(known.facts);
      return raw && this.#cache.get(raw);
    };
    this.#shelves.set(errand.id, { errand, recent: new Recent(), stored });
  }

  /** Parcels of one errand in their order. */
  pack(parcel: Parcel): Uint8Array {
    const shelf = this.#shelves.get(parcel.errand);
    if (!shelf) return packParcel(parcel);
    if (parcel.done) this.#shelves.delete(parcel.errand);
    const sent = recode(parcel, shelf.errand);
    const bytes = packSent(sent, shelf);
    this.#keep(parcel, sent, shelf.errand);
    return bytes;
  }

  /** Home will hold these, and say so by naming their digests. */
  #keep(parcel: Parcel, sent: Sent, errand: Errand): void {
    const places = indexOf(errand);
    for (const [i, { facts, outcome, url }] of parcel.visits.entries()) {
      const raw = rawOf(facts);
      const page = sent.visits[i]!.page;
      if (!raw) continue;
      if (page) this.#cache.put(raw, blockOf(page));
      const before = rawOf(errand.pages[places.get(url) ?? -1]?.facts);
      if (outcome === 'same' && before && Buffer.compare(before, raw) !== 0) this.#cache.alias(raw, before);
    }
  }
}

function rawOf(facts: Uint8Array | undefined): Uint8Array | undefined {
  return facts && unpackFacts(facts)?.raw;
}
