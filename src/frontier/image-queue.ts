/**
 * The images of pages, in a run that watches images. They become known when a visit finds a page unchanged: home then reads
 * the stored copy once for its images, unless the facts say that there are none. Each image on the same server becomes a page
 * with the role `image`, once for all pages that show it.
 */
import { mayShowImages } from '../errand/facts.ts';
import type { Links, Visit } from '../errand/visit.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FLAG_NOFOLLOW, FLAG_SHOWN } from '../ledger/pages/known-row.ts';
import type { Admission } from './admission/admission.ts';
import type { PageQueue } from './orders/page-queue.ts';
import { roleOf } from './schedule/importance.ts';

export class ImageQueue {
  /** Images that wait for their first visit. */
  readonly waiting: PageQueue;
  readonly #ledger: Ledger;
  readonly #admission: Admission;
  #pages: number[] = [];

  constructor(ledger: Ledger, admission: Admission, waiting: PageQueue) {
    this.#ledger = ledger;
    this.#admission = admission;
    this.waiting = waiting;
  }

  /** A visit was learned. */
  visited(page: number, visit: Visit): void {
    if (visit.outcome !== 'same' || roleOf(visit) !== 'page') return;
    const known = this.#ledger.pages.known(page);
    if (!known || known.segment === null || known.flags & FLAG_SHOWN || !known.media_type?.includes('html')) return;
    if (!mayShowImages(known.facts)) return; // to read a copy costs more than the visit did
    this.#pages.push(page);
  }

  /** Pages whose stored copies should be read for images, since the last call. */
  unread(): number[] {
    const pages = this.#pages;
    this.#pages = [];
    return pages;
  }

  /** Notes the images that the copy of a page shows. They have the depth of the page, because whoever sees it sees them. */
  shows(page: number, images: Links, time: number): void {
    const { depth } = this.#ledger.pages.get(page)!;
    const nofollow = ((this.#ledger.pages.known(page)?.flags ?? 0) & FLAG_NOFOLLOW) !== 0;
    const targets = this.#admission.links(images, { page, depth: depth - 1, hops: 0, time, nofollow });
    this.#ledger.links.addImages(page, targets);
  }
}
