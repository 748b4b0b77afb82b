/** What the collection cost, what that spared, and how fresh it was, by day. */
import { z } from 'zod';
import { DAY } from '../../base/clock.ts';
import { summed } from '../../ledger/account.ts';
import { ACCOUNT_DAYS } from '../live.ts';
import type { Reader, ReadPartition } from '../reader.ts';
import { sumRoute } from './route.ts';
import { account, few, list, missing, share } from './shared.ts';

const day = z.object({
  day: z.int().describe('since 1970 (UTC)'),
  ...account.shape,
  changed: z.int().describe('visits that found a change'),
  freshness: share.nullable(),
});

export const accountReport = z
  .object({ days: list(day), causes: list(z.object({ cause: z.string(), ...account.shape })), missing })
  .meta({ id: 'AccountReport' });

type AccountAnswer = z.infer<typeof accountReport>;

/** What some partitions tell. */
export const accountPart = z.object({
  days: few(z.object({ day: z.int(), ...account.shape })),
  causes: few(z.object({ cause: z.string().max(100), ...account.shape })),
  /** Visits that found a change, by day. */
  changed: few(z.tuple([z.int(), z.int()])),
  /** Of each partition and day: the share of its pages that was fresh, and how many it has. */
  freshness: few(z.object({ day: z.int(), share, stored: z.int() })),
});
type ShownAccountPart = z.infer<typeof accountPart>;

export function accountPartOf(parts: readonly ReadPartition[], days: number, reader: Reader): ShownAccountPart {
  const first = Math.floor(Date.now() / DAY) - days + 1;
  const rows = [
    ...parts.flatMap(({ ledger }) => ledger.servers.account.rows(first)),
    ...reader.notDue(first, parts).map(row => ({ ...row, visits: 0, spent: 0 })),
  ];
  const freshness = parts.flatMap(({ ledger }) => {
    const stored = ledger.servers.tallies.total('stored');
    const told = Object.entries(ledger.settings.get<Record<string, number>>('freshness') ?? {});
    return told.map(([on, fresh]) => ({ day: Number(on), share: fresh, stored })).filter(each => each.day >= first);
  });
  return {
    days: summed(rows, 'day'),
    causes: summed(rows, 'cause'),
    changed: parts.flatMap(({ ledger }) => [...ledger.visits.looks.changedByDay(first)]),
    freshness,
  };
}

export function accountTold(parts: readonly ShownAccountPart[], missing: string): AccountAnswer {
  const rows = (of: 'days' | 'causes') => parts.flatMap(part => part[of].map(row => ({ ...NOTHING, ...row })));
  const changed = new Map<number, number>();
  for (const [on, pages] of parts.flatMap(part => part.changed)) changed.set(on, (changed.get(on) ?? 0) + pages);
  const freshness = Map.groupBy(
    parts.flatMap(part => part.freshness),
    each => each.day,
  );
  return {
    days: summed(rows('days'), 'day')
      .map(row => ({ ...row, changed: changed.get(row.day) ?? 0, freshness: meanOf(freshness.get(row.day) ?? []) }))
      .sort((a, b) => a.day - b.day),
    causes: summed(rows('causes'), 'cause').sort((a, b) => b.spent - a.spent || b.avoided - a.avoided),
    missing,
  };
}

const NOTHING = { day: 0, server: 0, cause: '' };

/** Each partition's share of fresh pages counts by how many it has. */
function meanOf(told: ShownAccountPart['freshness']): number | null {
  const stored = told.reduce((sum, each) => sum + each.stored, 0);
  if (stored === 0) return told[0]?.share ?? null;
  return told.reduce((sum, each) => sum + each.share * each.stored, 0) / stored;
}

export const accountRoute = sumRoute({
  method: 'get',
  path: '/account',
  summary: 'Bytes spent and avoided, by day and by cause; `not due` are pages that were not asked for.',
  input: z.object({ days: z.coerce.number().int().min(1).max(400).default(ACCOUNT_DAYS) }),
  output: accountReport,
  sum: {
    part: accountPart,
    of: (parts, { days }, reader) => accountPartOf(parts, days, reader),
    told: (parts, _input, _context, silent) => accountTold(parts, silent),
  },
});
