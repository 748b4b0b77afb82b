/** What the collection cost, what that spared, and how fresh it was, by day. */
import { z } from 'zod';
import { DAY } from '../../base/clock.ts';
import { summed } from '../../ledger/account.ts';
import { ACCOUNT_DAYS } from '../live.ts';
import type { Reader } from '../reader.ts';
import { route } from './route.ts';
import { account, list, share } from './shared.ts';

const day = z.object({
  day: z.int().describe('since 1970 (UTC)'),
  ...account.shape,
  changed: z.int().describe('visits that found a change'),
  freshness: share.nullable(),
});

export const accountReport = z
  .object({ days: list(day), causes: list(z.object({ cause: z.string(), ...account.shape })) })
  .meta({ id: 'AccountReport' });

type AccountAnswer = z.infer<typeof accountReport>;

export function accountOf(reader: Reader, days: number): AccountAnswer {
  const first = Math.floor(Date.now() / DAY) - days + 1;
  const rows = [
    ...reader.parts.flatMap(({ ledger }) => ledger.account.rows(first)),
    ...reader.notDue(first).map(row => ({ ...row, visits: 0, spent: 0 })),
  ];
  const freshness = freshnessByDay(reader);
  const changed = new Map<number, number>();
  for (const { ledger } of reader.parts)
    for (const [on, pages] of ledger.looks.changedByDay(first)) changed.set(on, (changed.get(on) ?? 0) + pages);
  return {
    days: summed(rows, 'day')
      .map(row => ({ ...row, changed: changed.get(row.day) ?? 0, freshness: freshness(row.day) }))
      .sort((a, b) => a.day - b.day),
    causes: summed(rows, 'cause').sort((a, b) => b.spent - a.spent || b.avoided - a.avoided),
  };
}

/** Each partition's share of fresh pages counts by how many it has. */
function freshnessByDay(reader: Reader): (day: number) => number | null {
  const told = reader.parts.map(({ ledger }) => ({
    days: ledger.setting<Record<string, number>>('freshness') ?? {},
    stored: ledger.tallies.total('stored'),
  }));
  return on => {
    const known = told.filter(({ days }) => days[String(on)] !== undefined);
    const stored = known.reduce((sum, each) => sum + each.stored, 0);
    if (stored === 0) return known[0]?.days[String(on)] ?? null;
    return known.reduce((sum, each) => sum + each.days[String(on)]! * each.stored, 0) / stored;
  };
}

export const accountRoute = route({
  method: 'get',
  path: '/account',
  summary: 'Bytes spent and avoided, by day and by cause; `not due` are pages that were not asked for.',
  input: z.object({ days: z.coerce.number().int().min(1).max(400).default(ACCOUNT_DAYS) }),
  output: accountReport,
  answer: ({ days }, { reader }) => accountOf(reader, days),
});
