/**
 * The images that pages show, while they are watched. Nothing is known of them until a visit finds a page as it was;
 * then its stored copy is read once for them (home does that) unless its facts say that there are none, and each of its
 * server joins the pages under the role `image`, once for all pages that show it.
 */
import { mayShowImages } from '../errand/facts.ts';
import type { Links, Visit } from '../errand/visit.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FLAG_NOFOLLOW, FLAG_SHOWN } from '../ledger/pages/known-row.ts';
import type { Admission } from './admission/admission.ts';
import type { PageQueue } from './orders/page-queue.ts';
import { roleOf } from './schedule/importance.ts';

export class ImageQueue {
  /** Images that wait for their first look. */
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

  /** Pages whose stored copies are to be read for images, since the last call. */
  unread(): number[] {
    const pages = this.#pages;
    this.#pages = [];
    return pages;
  }

  /** What the copy of a page shows. An image counts as deep as its page: to see the page is to see it. */
  shows(page: number, images: Links, time: number): void {
    const { depth } = this.#ledger.pages.get(page)!;
    const nofollow = ((this.#ledger.pages.known(page)?.flags ?? 0) & FLAG_NOFOLLOW) !== 0;
    const targets = this.#admission.links(images, { page, depth: depth - 1, hops: 0, time, nofollow });
    this.#ledger.links.addImages(page, targets);
  }
}
