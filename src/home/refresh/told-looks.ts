/**
 * What sites say has changed, where a freshness is to be kept. What is planned for a day knows nothing of it, so that it comes on
 * top of the plan: else a hundred pages that a site names at once would wait for as long as its silence had let all of them rest.
 * Only words of a kind that visits have found true at least four times in ten count; others are looked at as planned. So is what
 * a sitemap's dates say: they are read, and not sent, and name whatever was built anew. With a budget there is nothing on top.
 */
import { pingsOf } from '../../frontier/schedule/importance.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { NoticeKind } from '../../notices/notice.ts';
import { pingPrecision } from '../../revisit/pings.ts';
import type { Pool, PoolPage } from '../partitions/pool.ts';
import type { SupplyParts } from '../supply.ts';
import { aimed } from './round-terms.ts';

/** New pages on top in one run: it bounds a site that names pages without end; a large site is read over a few runs. */
const MOST_NEW = 100_000;

/** Nobody sent these: pages that they name come first, until what was asked for is expected. */
const READ: NoticeKind = 'sitemap';

/** Below this precision a notice does not come on top of the plan. */
const HEARD = 0.4;

export class ToldLooks {
  readonly #pool: Pool;
  readonly #isAimed: boolean;
  /** Named pages that have waited for their first visit since an earlier run, and those that sites named in this one. */
  readonly #before: number;
  readonly #newcomers: () => number;
  #admitted = 0;

  constructor({ pool, named = () => 0 }: Pick<SupplyParts, 'pool' | 'named'>) {
    this.#pool = pool;
    this.#newcomers = named;
    this.#isAimed = aimed(pool);
    this.#before = this.#isAimed ? expectedIn(pool) : 0;
  }

  /** Known pages that sites named and that were last requested before a time. */
  next(seenBefore: number, most: number): PoolPage[] {
    if (!this.#isAimed) return [];
    // Their due times do not matter: they are probably out of date now.
    const named = this.#pool.due('told', { time: Number.MAX_VALUE, seenBefore }, most);
    return named.filter(({ member, page, server }) => isBelieved(member.ledger, page, server));
  }

  /** Admits as many new pages as sites named, those first that have waited longest. */
  admit(most: number): PoolPage[] {
    const expected = Math.min(MOST_NEW, this.#before + this.#newcomers());
    const wanted = this.#isAimed ? Math.min(most, expected - this.#admitted) : 0;
    const pages = wanted > 0 ? this.#pool.admit(wanted) : [];
    this.#admitted += pages.length;
    return pages;
  }
}

/** Pages that sites named and nobody has visited yet. */
export function expectedIn(pool: Pool): number {
  return [...pool].reduce((sum, { ledger }) => sum + ledger.schedule.told.waiting, 0);
}

/** The notices were true often enough. A kind that no visit has confirmed or refuted yet counts like the server's others. */
export function isBelieved(ledger: Ledger, page: number, server: number): boolean {
  return Object.keys(ledger.schedule.told.of(page)).some(kind => {
    if (kind === READ) return false;
    const own = ledger.schedule.noticeTrust.of(server, kind);
    return pingPrecision(own.pings > 0 ? own : pingsOf(ledger.servers.byId(server))) >= HEARD;
  });
}
