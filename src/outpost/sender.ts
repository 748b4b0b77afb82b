/** What a thread of an outpost remembers to pack the parcels of its errands small: recent pages, and versions on disk. */

import { SkeinError } from '../base/errors.ts';
import type { Errand } from '../errand/errand.ts';
import { packFacts, unpackFacts } from '../errand/facts.ts';
import type { Known } from '../errand/known.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Visit } from '../errand/visit.ts';
import { payloadDigest } from '../errand/warc/warc.ts';
import { blockOf, packSent, Recent, type Shelf } from '../transfer/wire/parcel-format.ts';
import { indexOf, type Sent, type SentPage, validatorsOf } from '../transfer/wire/wire-visit.ts';
import type { VersionCache } from './cache.ts';
import { recode } from './workers/recode.ts';

/** Validators that are remembered; each spares a page on the way from the server, none is needed. */
const MOST_VALIDATORS = 100_000;

interface NewerValidators extends Pick<Known, 'etag' | 'lastModified'> {
  /** What home knew of the page: they hold as long as it knows just that. */
  readonly facts: Uint8Array;
}

export class Sender {
  readonly #cache: VersionCache;
  readonly #validators = new Map<string, NewerValidators>();
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

  /** The errand as it is to be run: with the validators that a page has now, where home has older ones. */
  withValidators(errand: Errand): Errand {
    const pages = errand.pages.map(known => {
      const newer = this.#validators.get(known.url);
      if (!newer || !known.facts || Buffer.compare(newer.facts, known.facts) !== 0) return known;
      const { etag, lastModified, ...bare } = known;
      return { ...bare, ...newer };
    });
    return { ...errand, pages };
  }

  /**
   * The parcel with nothing about unchanged pages that only this outpost has a use for. Where a page is the same to a
   * reader, its new validators stay here, and home keeps the facts of the version that it has stored.
   */
  quieted(parcel: Parcel): Parcel {
    const errand = this.#shelves.get(parcel.errand)?.errand;
    if (!errand) return parcel;
    const places = indexOf(errand);
    const visits = parcel.visits.map(visit => {
      const known = errand.pages[places.get(visit.url) ?? -1];
      if (visit.outcome !== 'same' || !known?.facts || visit.status === 304) return visit;
      const { facts, etag, lastModified, ...rest } = visit;
      if (this.#validators.size >= MOST_VALIDATORS) this.#validators.clear();
      const current = { ...(etag && { etag }), ...(lastModified && { lastModified }) };
      this.#validators.set(visit.url, { facts: known.facts, ...current });
      return { ...rest, facts: known.facts, ...validatorsOf(known) };
    });
    return { ...parcel, visits };
  }

  /** Parcels of one errand in their order, quieted; with the visits as home will know them. */
  pack(parcel: Parcel): { readonly bytes: Uint8Array; readonly visits: readonly Visit[] } {
    const shelf = this.#shelves.get(parcel.errand);
    if (!shelf) throw new SkeinError('internal', 'No errand here has this parcel.');
    if (parcel.done) this.#shelves.delete(parcel.errand);
    const sent = recode(parcel, shelf.errand);
    const bytes = packSent(sent, shelf);
    const visits = parcel.visits.map((visit, i) => asStored(visit, sent.visits[i]!.page));
    this.#keep(visits, sent, shelf.errand);
    return { bytes, visits };
  }

  /** Home will hold these, and say so by naming their digests. */
  #keep(visits: readonly Visit[], sent: Sent, errand: Errand): void {
    const places = indexOf(errand);
    for (const [i, { facts, outcome, url }] of visits.entries()) {
      const raw = rawOf(facts);
      const page = sent.visits[i]!.page;
      if (!raw) continue;
      if (page) this.#cache.put(raw, blockOf(page));
      const before = rawOf(errand.pages[places.get(url) ?? -1]?.facts);
      if (outcome === 'same' && before && Buffer.compare(before, raw) !== 0) this.#cache.alias(raw, before);
    }
  }
}

/** Home names a page by the bytes that it stores, which have lost their content coding on the way. */
function asStored(visit: Visit, page: SentPage | undefined): Visit {
  if (!page || !visit.facts) return visit;
  const facts = unpackFacts(visit.facts);
  const raw = payloadDigest(page.body).subarray(0, 16);
  return facts ? { ...visit, facts: packFacts({ ...facts, raw }) } : visit;
}

function rawOf(facts: Uint8Array | undefined): Uint8Array | undefined {
  return facts && unpackFacts(facts)?.raw;
}
