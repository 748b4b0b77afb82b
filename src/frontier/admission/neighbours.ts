/**
 * The other partitions, as one partition sees them. A page of another partition is a stub here: a row that links can refer to,
 * and that is never visited. What is found about it goes to its owner, which alone decides about the page.
 */
import { partitionOfUrl } from '../../base/partition.ts';
import { stepFrom } from '../../errand/known.ts';
import { LINK_NOFOLLOW, type Links } from '../../errand/visit.ts';
import { PageSet } from '../../ledger/collection/page-set.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OutLink } from '../../ledger/links/packed-links.ts';
import { ELSEWHERE } from '../../ledger/outbox/border.ts';
import type { Crossing } from '../../ledger/outbox/crossing.ts';
import type { PageRow } from '../../ledger/pages/pages.ts';
import type { Source } from './new-link.ts';

/** Which partition this is, and of how many. */
export interface PartitionNumber {
  readonly id: number;
  readonly of: number;
}

/** The links of a page, now and at the last visit. */
interface Linking {
  readonly links: Links;
  /** Page ids, in the order of the links. */
  readonly targets: Uint32Array;
  readonly source: Source;
  /** Its links before the visit, and whether the whole page said nofollow. */
  readonly had: readonly OutLink[];
  readonly hadNofollow: boolean;
  /** Pages up to this number were known before the visit. */
  readonly before: number;
}

export class Neighbours {
  readonly #ledger: Ledger;
  readonly #number: PartitionNumber;
  readonly #stubs = new PageSet();

  constructor(ledger: Ledger, number: PartitionNumber) {
    this.#ledger = ledger;
    this.#number = number;
  }

  restore(): void {
    for (const id of this.#ledger.queries.scans.refusedFor(ELSEWHERE)) this.#stubs.add(id);
  }

  /** This partition has the page. */
  own(url: string): boolean {
    return partitionOfUrl(url, this.#number.of) === this.#number.id;
  }

  isStub(page: number): boolean {
    return this.#stubs.has(page);
  }

  addStub(page: number): void {
    this.#stubs.add(page);
  }

  /** Tells the owners of linked pages about the links, as far as these are news to them. */
  linked({ links, targets, source, had, hadNofollow, before }: Linking): void {
    const url = this.#urlOf(source.page);
    const older = new Map(had.map(link => [link.target, link]));
    for (let i = 0; i < links.count; i++) {
      const target = targets[i]!;
      if (!this.isStub(target)) continue;
      const flags = source.nofollow ? links.flags[i]! | LINK_NOFOLLOW : links.flags[i]!;
      const link = older.get(target);
      const lifted = (hadNofollow || link?.nofollow === true) && (flags & LINK_NOFOLLOW) === 0;
      if (link && !lifted) continue;
      const kind = link ? 'reach' : 'link';
      this.#send(kind, target, {
        ...{ source: url, flags, ...stepFrom(source, flags), time: source.time },
        ...{ relevance: links.relevance[i]!, lastmod: links.lastmod[i] ?? 0, named: target > before },
      });
    }
    const still = new Set(targets);
    for (const { target } of had) {
      if (this.isStub(target) && !still.has(target)) this.#send('unlink', target, { time: source.time });
    }
  }

  /** Does the same for pages that a sitemap names. */
  listed({ links, targets, source, before }: Omit<Linking, 'had' | 'hadNofollow'>, had: readonly number[]): void {
    for (let i = 0; i < links.count; i++) {
      const target = targets[i]!;
      if (!this.isStub(target) || target <= before) continue;
      const flags = links.flags[i]!;
      this.#send('listed', target, {
        ...{ source: this.#urlOf(source.page), flags, ...stepFrom(source, flags), time: source.time },
        ...{ relevance: links.relevance[i]!, lastmod: links.lastmod[i] ?? 0, named: true },
      });
    }
    const still = new Set(targets);
    for (const target of had) {
      if (this.isStub(target) && !still.has(target)) this.#send('unlisted', target, { time: source.time });
    }
  }

  /** A sitemap gives a page a later date than before. */
  dated(page: number, lastmod: number, time: number): void {
    this.#send('listed', page, { lastmod, time });
  }

  /** A page of another partition is nearer than we thought. */
  reached(page: number, depth: number): void {
    this.#send('reach', page, { depth });
  }

  /** A redirect leads there, or robots.txt names it as a sitemap. */
  target(page: number, source: Source, flags: number, seed: string): void {
    const { depth, hops, time } = source;
    const url = source.page === 0 ? '' : this.#urlOf(source.page);
    this.#send('target', page, { source: url, seed, flags, depth, hops, time, relevance: 255, named: true });
  }

  #send(kind: Crossing['kind'], page: number, said: Partial<Crossing> & { readonly named?: boolean }): void {
    const { url, high, low } = this.#ledger.pages.get(page) as PageRow;
    const { named = false, ...rest } = said;
    this.#ledger.outbox.border.send(partitionOfUrl(url, this.#number.of), {
      ...{ kind, high, low, url: named ? url : '', source: '', seed: '' },
      ...{ flags: 0, relevance: 0, depth: 0, hops: 0, lastmod: 0, time: 0, ...rest },
    });
  }

  #urlOf(page: number): string {
    return this.#ledger.pages.get(page)!.url;
  }
}
