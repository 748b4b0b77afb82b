/**
 * Bytes by cause, spent and avoided, with the freshness that they bought, per day and server; what made pages count as
 * changed; and the load on home's own line beside what outposts spent at servers.
 */
import { DAY } from '../../base/clock.ts';
import { notDue } from '../../home/answers/savings.ts';
import { type LineSums, type Sums, summed } from '../../ledger/account.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Decided } from '../../ledger/looks.ts';
import type { PartitionReader } from '../partition-reader.ts';
import { mergedBy, type Question, sumOf } from '../question.ts';

/** Bytes both ways; `up` is what was sent. Robots.txt files are left out. */
export interface HomeLine extends LineSums {
  /** Between home's own threads and servers. */
  readonly servers: LineSums;
  /** Between home and outposts on other machines: frames, and code that travelled. */
  readonly outposts: LineSums;
  /** Between those outposts and servers, which home's line is spared. */
  readonly elsewhere: LineSums;
}

/** From the day `first` (since 1970) on. */
export function lineOf(ledger: Ledger, first: number): HomeLine {
  const servers = ledger.visits.looks.spentAt('here', first);
  const outposts = ledger.servers.account.line(first);
  return {
    up: servers.up + outposts.up,
    down: servers.down + outposts.down,
    servers,
    outposts,
    elsewhere: ledger.visits.looks.spentAt('elsewhere', first),
  };
}

interface AccountDay extends Sums {
  readonly day: string;
  readonly changed: number;
  readonly freshness: number | null;
}

export interface AccountReport {
  readonly causes: readonly (Sums & { readonly cause: string })[];
  readonly days: readonly AccountDay[];
  readonly servers: readonly (Sums & { readonly origin: string })[];
  /** Visits to pages seen before, by the stage of the detector that decided. */
  readonly stages: readonly Decided[];
  readonly line: HomeLine;
}

interface AccountWanted {
  /** Days since 1970. */
  readonly first: number;
  /** Where the partition is larger, so many pages are a sample for what not asking has saved. */
  readonly lookedAt: number;
}

/** In a larger collection, so many pages are a sample for what not asking has saved; and at least so many of a partition. */
const LOOKED_AT = 20_000;
const LEAST_LOOKED_AT = 1000;

export function accountWanted(since: number, partitions: number): AccountWanted {
  const lookedAt = Math.max(LEAST_LOOKED_AT, Math.ceil(LOOKED_AT / partitions));
  return { first: Math.floor(since / DAY), lookedAt };
}

interface AccountPart extends AccountReport {
  /** Pages over which the share of fresh ones is computed. */
  readonly stored: number;
}

export const accountQuestion: Question<AccountWanted, AccountPart, AccountReport> = {
  name: 'account',
  // In one transaction: each query alone takes and releases a lock, and there are tens of thousands.
  ask: (reader, wanted) => reader.ledger.queries.atOnce(() => accountOf(reader, wanted)),
  merge: (_, parts) => {
    const { stored, ...report } = parts.length === 1 ? parts[0]! : merge(parts);
    return report;
  },
};

function accountOf({ ledger }: PartitionReader, { first, lookedAt }: AccountWanted): AccountPart {
  const left = notDue(ledger, first, lookedAt).map(row => ({ ...row, visits: 0, spent: 0 }));
  const rows = [...ledger.servers.account.rows(first), ...left];
  const freshness = ledger.settings.get<Record<string, number>>('freshness') ?? {};
  const changed = ledger.visits.looks.changedByDay(first);
  return {
    causes: summed(rows, 'cause'),
    days: summed(rows, 'day').map(({ day, ...sums }) => ({
      day: new Date(day * DAY).toISOString().slice(0, 10),
      ...sums,
      changed: changed.get(day) ?? 0,
      freshness: freshness[String(day)] ?? null,
    })),
    servers: summed(rows, 'server')
      .map(({ server, ...sums }) => ({ origin: server === 0 ? '' : ledger.servers.byId(server).origin, ...sums }))
      .sort((a, b) => b.spent - a.spent),
    stages: ledger.visits.looks.decidedBy(first),
    line: lineOf(ledger, first),
    stored: ledger.servers.tallies.total('stored'),
  };
}

function merge(parts: readonly AccountPart[]): AccountPart {
  const days = parts.flatMap(({ days: own, stored }) => own.map(day => ({ ...day, stored })));
  return {
    causes: mergedBy(
      parts.flatMap(part => part.causes),
      ({ cause }) => cause,
      added,
    ),
    days: mergedBy(days, ({ day }) => day, addedDays)
      .map(({ stored, ...day }) => day)
      .sort((one, two) => one.day.localeCompare(two.day)),
    servers: mergedBy(
      parts.flatMap(part => part.servers),
      ({ origin }) => origin,
      added,
    ).sort((a, b) => b.spent - a.spent),
    stages: mergedBy(
      parts.flatMap(part => part.stages),
      ({ stage }) => stage,
      (one, two) => ({
        stage: one.stage,
        pages: one.pages + two.pages,
        changed: one.changed + two.changed,
        down: one.down + two.down,
      }),
    ).sort((a, b) => b.pages - a.pages),
    line: mergedLine(parts.map(part => part.line)),
    stored: sumOf(parts.map(part => part.stored)),
  };
}

function added<T extends Sums>(one: T, two: T): T {
  const { visits, spent, avoided } = two;
  return { ...one, visits: one.visits + visits, spent: one.spent + spent, avoided: one.avoided + avoided };
}

type WeighedDay = AccountDay & { readonly stored: number };

/** Each partition's share of fresh pages counts by how many it has. */
function addedDays(one: WeighedDay, two: WeighedDay): WeighedDay {
  const told = [one, two].filter(({ freshness }) => freshness !== null);
  const stored = sumOf(told.map(each => each.stored));
  const fresh = sumOf(told.map(each => each.freshness! * each.stored));
  return {
    ...added(one, two),
    changed: one.changed + two.changed,
    freshness: stored === 0 ? (told[0]?.freshness ?? null) : fresh / stored,
    stored,
  };
}

function mergedLine(lines: readonly HomeLine[]): HomeLine {
  const sum = (of: (line: HomeLine) => LineSums): LineSums => ({
    up: sumOf(lines.map(line => of(line).up)),
    down: sumOf(lines.map(line => of(line).down)),
  });
  return {
    ...sum(line => line),
    servers: sum(line => line.servers),
    outposts: sum(line => line.outposts),
    elsewhere: sum(line => line.elsewhere),
  };
}
