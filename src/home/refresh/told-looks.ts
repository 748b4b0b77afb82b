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

/** New pages on top in one run: a site that names pages without end gets no more, and a large one comes in a few runs. */
const MOST_NEW = 100_000;

/** Nobody sent these: pages that they name come first, until what was asked for is expected. */
const READ: NoticeKind = 'sitemap';

/** Below this precision a voice counts no more than was planned. */
const HEARD = 0.4;

export class ToldLooks {
  readonly #pool: Pool;
  readonly #isAimed: boolean;
  /** Pages that wait for their first visit since an earlier run, and those that were named in this one. */
  readonly #before: number;
  readonly #newcomers: () => number;
  #admitted = 0;

  constructor({ pool, named = () => 0 }: Pick<SupplyParts, 'pool' | 'named'>) {
    this.#pool = pool;
    this.#newcomers = named;
    this.#isAimed = aimed(pool);
    this.#before = this.#isAimed ? expectedIn(pool) : 0;
  }

  /** Pages that are known and named, and were last asked for before a time. */
  next(seenBefore: number, most: number): PoolPage[] {
    if (!this.#isAimed) return [];
    // Whenever they are due: they may well be out of date now.
    const named = this.#pool.due('told', { time: Number.MAX_VALUE, seenBefore }, most);
    return named.filter(({ member, page, server }) => isBelieved(member.ledger, page, server));
  }

  /** Lets as many new pages in as were named, those first that wait longest. */
  admit(most: number): PoolPage[] {
    const expected = Math.min(MOST_NEW, this.#before + this.#newcomers());
    const wanted = this.#isAimed ? Math.min(most, expected - this.#admitted) : 0;
    const pages = wanted > 0 ? this.#pool.admit(wanted) : [];
    this.#admitted += pages.length;
    return pages;
  }
}

/** Pages that sites named and that were not visited yet. */
export function expectedIn(pool: Pool): number {
  return [...pool].reduce((sum, { ledger }) => sum + ledger.told.waiting, 0);
}

/** True often enough: of as many lies as truths neither may go unheard. A kind that was never held against a visit is as good as its server's others. */
export function isBelieved(ledger: Ledger, page: number, server: number): boolean {
  return Object.keys(ledger.told.of(page)).some(kind => {
    if (kind === READ) return false;
    const own = ledger.noticeTrust.of(server, kind);
    return pingPrecision(own.pings > 0 ? own : pingsOf(ledger.servers.byId(server))) >= HEARD;
  });
}
