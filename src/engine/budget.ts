/** A budget in the terms of the schedule, and what it allows a day. */
import type { ScheduleSettings } from '../frontier/schedule/settings.ts';
import type { Pool, PoolMember } from '../home/partitions/pool.ts';
import { expectedIn } from '../home/refresh/told-looks.ts';
import type { Spending } from '../home/supply.ts';

const SURPRISE = 1.5;

/** What may be spent a day. */
export interface Budget {
  /** Exactly one of these: a share of the collection, pages, or bytes on the wire. */
  readonly share?: number;
  readonly pages?: number;
  readonly bytes?: number;
}

/** Pages that can be kept fresh. Dead links, redirects, sitemaps and images have budgets of their own beside it. */
function livePages(pool: Pool): number {
  return Math.max(1, pool.live);
}

/** With pages that sites have named and that were not visited yet: a site may have a hundred thousand records and one page. */
function collectionSize(pool: Pool): number {
  return livePages(pool) + expectedIn(pool);
}

/** The budget of a part of the collection's pages. */
export function partOf(budget: Budget, part: number): Budget {
  const { share, pages, bytes } = budget;
  return {
    ...(share !== undefined && { share }),
    ...(pages !== undefined && { pages: pages * part }),
    ...(bytes !== undefined && { bytes: bytes * part }),
  };
}

/** What a budget allows a day in a collection of so many pages. */
export function allowedBy({ share, pages, bytes }: Budget, live: number): Spending {
  if (bytes !== undefined) return { pages: Number.POSITIVE_INFINITY, bytes };
  return { pages: pages ?? (share ?? USUAL) * live, bytes: Number.POSITIVE_INFINITY };
}

/** Default: share of a collection that is visited a day. */
const USUAL = 0.1;

export type Aim = Partial<Pick<ScheduleSettings, 'share' | 'bytes' | 'freshness'>>;

/** A budget in the schedule's terms. */
export function aimOf(pool: Pool, budget: Budget): Aim {
  if (budget.bytes !== undefined) return { bytes: budget.bytes };
  return { share: budget.share ?? (budget.pages ?? 0) / collectionSize(pool) };
}

/** The current aim of all partitions' schedules together. */
export function currentAim(pool: Pool): Aim {
  const all = [...pool].map(({ frontier }) => frontier.schedule.settings);
  const { share, freshness } = all[0] ?? {};
  const counted = all.filter(({ bytes }) => bytes !== undefined);
  const bytes = counted.length === 0 ? undefined : counted.reduce((sum, each) => sum + each.bytes!, 0);
  return { share, bytes, freshness };
}

/** Sets the schedule of each partition; bytes are shared out by the number of pages. Opens a transaction in each. */
export function aim(pool: Pool, wanted: Aim, now: number): void {
  for (const [{ ledger, frontier }, weight] of weighed(pool)) {
    ledger.begin();
    frontier.schedule.aim({ ...wanted, bytes: wanted.bytes && wanted.bytes * weight }, now);
  }
}

/** Each partition with its part of a budget; together 1. One without pages gets next to nothing, unless none has any. */
function weighed(pool: Pool): [PoolMember, number][] {
  const members = [...pool];
  const sizes = members.map(({ ledger }) => ledger.schedule.due.countLive() || 1e-6);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  return members.map((member, i) => [member, sizes[i]! / all]);
}

/** What may be spent a day. An aim for freshness has no budget: it takes what it needs, and some more for surprises. */
export function allowanceOf(pool: Pool): Spending {
  const unlimited = Number.POSITIVE_INFINITY;
  const { share, bytes, freshness } = currentAim(pool);
  if (bytes !== undefined) return { pages: unlimited, bytes };
  if (freshness === undefined) return { pages: (share ?? 0.1) * collectionSize(pool), bytes: unlimited };
  const size = livePages(pool);
  const visits = weighed(pool).reduce((sum, [each, weight]) => sum + each.frontier.schedule.balance.visits * weight, 0);
  return { pages: SURPRISE * visits * size, bytes: unlimited };
}
