/**
 * All partitions of a home as one, for the supplies: they share one budget, and the page that is most overdue comes first, in
 * whichever partition it is. Partitions may come and go.
 */
import type { Frontier } from '../../frontier/frontier.ts';
import { lotsOf } from '../../frontier/schedule/lots.ts';
import type { Ledger } from '../../ledger/ledger.ts';

export interface PoolMember {
  readonly id: number;
  readonly ledger: Ledger;
  readonly frontier: Frontier;
}

/** A page of one of the partitions. */
export interface PoolPage {
  readonly member: PoolMember;
  readonly page: number;
  readonly server: number;
}

type Due = PoolPage & { readonly due: number };
type DueKind = Parameters<Ledger['schedule']['due']['due']>[0];
type Until = { readonly time: number; readonly seenBefore?: number | undefined };

export class Pool {
  readonly #members: Iterable<PoolMember>;

  constructor(members: Iterable<PoolMember>) {
    this.#members = members;
  }

  [Symbol.iterator](): Iterator<PoolMember> {
    return this.#members[Symbol.iterator]();
  }

  /** Pages that are due by then, most overdue first. */
  due(kind: DueKind, { time, seenBefore }: Until, most: number): Due[] {
    const lists = [...this.#members].map(member =>
      member.ledger.schedule.due.due(kind, time, most, seenBefore).map(row => ({ member, ...row })),
    );
    return lists.length === 1
      ? lists[0]!
      : lists
          .flat()
          .sort((a, b) => a.due - b.due)
          .slice(0, most);
  }

  /** Puts pages back into their lanes; if their partition has left, another machine visits them. */
  again(pages: readonly PoolPage[]): void {
    const here = new Set(this.#members);
    for (const each of pages) if (here.has(each.member)) each.member.frontier.again([each]);
  }

  /** Lets at most so many new pages join their lanes; the partitions have equal shares, as far as they use them. */
  admit(most: number): PoolPage[] {
    const admitted: PoolPage[] = [];
    let hopeful = [...this.#members].filter(({ frontier }) => frontier.backlog.newcomers > 0);
    while (hopeful.length > 0 && admitted.length < most) {
      const share = Math.ceil((most - admitted.length) / hopeful.length);
      for (const member of hopeful) {
        const pages = member.frontier.admit(Math.min(share, most - admitted.length));
        for (const page of pages) admitted.push({ member, page, server: 0 });
      }
      hopeful = hopeful.filter(({ frontier }) => frontier.backlog.newcomers > 0);
    }
    return admitted;
  }

  /** Pages drawn by lot, which a round visits first; each partition gets a share by its number of pages. */
  lots(visits: number, begun: number): PoolPage[] {
    const live = this.live;
    return [...this.#members].flatMap(member => {
      const share = Math.ceil((visits * member.ledger.schedule.due.countLive()) / Math.max(1, live));
      const stale = 1 - (member.frontier.schedule.settings.freshness ?? 1);
      return lotsOf(member.ledger, { visits: share, begun, stale }).map(row => ({ member, ...row }));
    });
  }

  /** Pages that can be kept fresh. */
  get live(): number {
    return this.#sum(({ ledger }) => ledger.schedule.due.countLive());
  }

  get newcomers(): number {
    return this.#sum(({ frontier }) => frontier.backlog.newcomers);
  }

  get outstanding(): number {
    return this.#sum(({ frontier }) => frontier.backlog.outstanding);
  }

  get pagesWaiting(): number {
    return this.#sum(({ frontier }) => frontier.backlog.pages);
  }

  get settled(): number {
    return this.#sum(({ frontier }) => frontier.errands.settled);
  }

  countDue(now: number): number {
    return this.#sum(({ ledger }) => ledger.schedule.due.countDue(now));
  }

  /** Nothing waits and nothing is under way. */
  get quiet(): boolean {
    for (const { frontier } of this.#members) if (!frontier.backlog.quiet) return false;
    return true;
  }

  /** No more pages may be fetched in this run. */
  get full(): boolean {
    for (const { frontier } of this.#members) if (!frontier.errands.full) return false;
    return true;
  }

  /** When the first lane that must wait may go on. */
  get wake(): number {
    let wake = Number.POSITIVE_INFINITY;
    for (const { frontier } of this.#members) wake = Math.min(wake, frontier.backlog.waiting().wake);
    return wake;
  }

  /** Images that are stored count as pages. */
  get kind(): 'pages' | 'pages and images' {
    for (const { frontier } of this.#members) if (frontier.options.images === 'store') return 'pages and images';
    return 'pages';
  }

  #sum(count: (member: PoolMember) => number): number {
    let sum = 0;
    for (const member of this.#members) sum += count(member);
    return sum;
  }
}

/** A key of the page among those of all partitions. */
export function keyOf({ member, page }: { readonly member: PoolMember; readonly page: number }): number {
  return member.id * 2 ** 32 + page;
}
