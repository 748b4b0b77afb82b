/**
 * Copies that refer to the body of another copy. Before a body is deleted, the oldest record that refers to it takes it over,
 * and the others refer to that record from then on. So no page is lost because another one was deleted.
 */
import { HEAD_BYTES, referenceIn, referringTo, withBody } from '../../archive/bodies.ts';
import { readStoredHere, type Stored } from '../../archive/read.ts';
import type { SegmentStore } from '../../archive/store/segment-store.ts';
import { fingerprint } from '../../base/url.ts';
import { FLAG_ALIAS } from '../../ledger/pages/known-row.ts';
import type { NamedCopy } from '../../ledger/storage/dropped.ts';
import { type CopiesHere, openCopiesHere } from '../copies/copies.ts';
import { segmentsOf } from '../copies/segments-of.ts';
import { type HouseParts, RawReader } from './stored-records.ts';

export class References {
  readonly #parts: HouseParts;
  readonly #reader: RawReader;
  readonly #copies: CopiesHere;
  readonly #segments: SegmentStore;

  constructor(parts: HouseParts) {
    this.#parts = parts;
    this.#reader = new RawReader(parts.ledger);
    this.#copies = openCopiesHere(parts.ledger);
    this.#segments = segmentsOf(parts.ledger);
  }

  /** Learns which of the copies since the last call refer to another one. Commits meanwhile. */
  learn(): void {
    const { ledger, commit } = this.#parts;
    const { revisits } = ledger.storage;
    for (let copies = revisits.unread(); copies.length > 0; copies = revisits.unread()) {
      for (const copy of copies) {
        const original = this.#originalOf(copy);
        if (original !== undefined && original !== copy.visit) revisits.put(copy.visit, original);
      }
      revisits.read(copies.at(-1)!.visit);
      commit();
    }
  }

  #originalOf(copy: NamedCopy): number | undefined {
    const { pages, storage } = this.#parts.ledger;
    const length = copy.length - copy.request_length;
    const place = copy.place + copy.request_length;
    const said = referenceIn(this.#reader.read({ segment: copy.segment, place }, Math.min(length, HEAD_BYTES)));
    if (!said) return undefined;
    const { high, low } = fingerprint(said.url, { high: 0, low: 0 });
    const page = pages.find(high, low);
    return page && storage.revisits.copyAt(page.id, said.time);
  }

  /** Call this before a copy is deleted; `going` tells which others will be. Returns the bytes that were written for it. */
  handOver(copy: NamedCopy, going: (copy: NamedCopy) => boolean, urgent: boolean): number {
    const { dropped, revisits } = this.#parts.ledger.storage;
    const left = revisits
      .of(copy.visit)
      .map(visit => dropped.copy(visit))
      .filter(other => other !== undefined && !going(other)) as NamedCopy[];
    const [heir, ...others] = left;
    const body = heir && this.#copies.of(this.#parts.ledger.visits.get(copy.visit)!);
    if (!heir || !body) return 0;
    this.#noteHeir(copy, heir, others);
    const revisit = this.#read(heir);
    let written = this.#write(heir, withBody(revisit, body), urgent);
    revisits.remove(heir.visit);
    const refersTo = { url: revisit.url, time: heir.time };
    for (const other of others) {
      written += this.#write(other, referringTo(this.#read(other), refersTo), urgent);
      revisits.put(other.visit, heir.visit);
    }
    return written;
  }

  /** Updates the ledger, which also says which page has the bytes. */
  #noteHeir(copy: NamedCopy, heir: NamedCopy, others: readonly NamedCopy[]): void {
    const { pages, storage } = this.#parts.ledger;
    const isNewest = ({ page, segment, place }: NamedCopy) => {
      const known = pages.known(page);
      return known?.segment === segment && known.place === place;
    };
    if (isNewest(heir)) storage.forgetting.inherit(copy.page, heir, others.filter(isNewest), FLAG_ALIAS);
  }

  #read(copy: NamedCopy): Stored {
    const { segment, place, length, request_length } = copy;
    return readStoredHere(this.#segments.here).read({ segment, offset: place, length, requestLength: request_length });
  }

  /** Writes the old request, and another record after it. */
  #write(copy: NamedCopy, record: Uint8Array, urgent: boolean): number {
    const request = this.#reader.read(copy, copy.request_length);
    const bytes = Buffer.concat([request, record]);
    // It has the id of the record that it replaces, and ids are unique within a segment.
    if (this.#parts.archive.ends(0).at(-1)?.segment === copy.segment) this.#parts.archive.roll();
    const { segment, offset } = this.#parts.archive.append(bytes);
    const to = { segment, place: offset, length: bytes.length, request_length: copy.request_length };
    this.#parts.ledger.storage.dropped.move(copy, to, urgent);
    return bytes.length;
  }

  close(): void {
    this.#reader.close();
    this.#copies.close();
    this.#segments.close();
  }
}
