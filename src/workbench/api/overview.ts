/** The first view: is the collection fresh, what did it cost, what changed, and what needs attention. */
import { statfsSync } from 'node:fs';
import { z } from 'zod';
import { lastRun } from '../../home/log.ts';
import { sumOf } from '../../questions/question.ts';
import { daySums } from '../day-counts.ts';
import { meanFreshness, partFreshness } from '../part-freshness.ts';
import type { Reader, ReadPartition } from '../reader.ts';
import { accountPart, accountPartOf, accountReport, accountTold } from './account.ts';
import { type RouteContext, sumRoute } from './route.ts';
import { bytes, few, list, share, time } from './shared.ts';

/** Share of the disk below which people are told. */
const LITTLE_DISK = 0.05;
/** Days over which changes are counted. */
const CHANGE_DAYS = 30;

const attention = z
  .object({
    what: z.string().describe('one sentence'),
    link: z.string().describe('view of the workbench that shows it; empty = none'),
    bad: z.boolean(),
  })
  .meta({ id: 'Attention' });

const overview = z
  .object({
    freshness: share.nullable().describe('expected share that is as last seen; null = nothing was visited yet'),
    freshnessLow: share.describe('it is at least this, and'),
    freshnessHigh: share.describe('at most this, nine times in ten'),
    freshnessLooks: z.int().describe('visits to pages seen before, on which it rests; 0 = it is a guess'),
    freshnessAim: share,
    visited: z.int(),
    lastVisit: time.nullable(),
    changed: z.int().describe('pages that changed, went or moved, in 30 days'),
    looks: z.int().describe('visits in 30 days'),
    account: accountReport,
    run: z
      .object({
        command: z.string(),
        started: time.nullable(),
        ended: time.nullable().describe('null = it did not end in order'),
        outcomes: z.record(z.string(), z.int()),
        bytes,
      })
      .nullable()
      .describe('the newest run that the log tells of; null = none'),
    attention: list(attention),
  })
  .meta({ id: 'Overview' });

export type Overview = z.infer<typeof overview>;

/** What some partitions tell. */
const overviewPart = z.object({
  fresh: few(z.object({ expected: share, low: share, high: share, looks: z.int(), aim: share, pages: z.int() })),
  ...{ visited: z.int(), lastVisit: time.nullable(), changed: z.int(), looks: z.int() },
  account: accountPart,
  /** Servers that do not answer, pages whose last visit failed. */
  ...{ failing: z.int(), failed: z.int() },
  indexed: z.boolean(),
});
type OverviewPart = z.infer<typeof overviewPart>;

function overviewPartOf(parts: readonly ReadPartition[], days: number, reader: Reader): OverviewPart {
  const changes = daySums(parts, CHANGE_DAYS);
  const ledgers = parts.map(({ ledger }) => ledger);
  const visits = ledgers.flatMap(({ visits: all }) => all.get(all.newest()) ?? []);
  const tallies = ledgers.flatMap(ledger => ledger.servers.tallies.of('known'));
  return {
    fresh: parts.map(partFreshness).map(({ expected, low, high, looks, aim, pages }) => ({
      ...{ expected, low, high, looks, aim, pages },
    })),
    visited: sumOf(ledgers.map(ledger => ledger.queries.listings.visited())),
    lastVisit: latest(visits.map(({ time: at }) => at)),
    changed: sumOf(changes.days.map(({ changed, gone, moved }) => changed + gone + moved)),
    looks: changes.visits,
    account: accountPartOf(parts, days, reader),
    failing: sumOf(ledgers.map(ledger => ledger.queries.listings.failing())),
    failed: sumOf(tallies.map(({ name, n }) => (name.startsWith('failed ') ? n : 0))),
    indexed: reader.indexed,
  };
}

function latest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.max(...times);
}

function overviewTold(parts: readonly OverviewPart[], { reader, live }: RouteContext, missing: string): Overview {
  const run = lastRun(reader.directory) ?? null;
  const sum = (of: 'visited' | 'changed' | 'looks' | 'failing' | 'failed') => sumOf(parts.map(part => part[of]));
  const { expected, low, high, looks, aim } = meanFreshness(parts.flatMap(part => part.fresh));
  const died = run !== null && run.ended === null && live.now.home === null;
  return {
    freshness: sum('visited') === 0 ? null : expected,
    ...{ freshnessLow: low, freshnessHigh: high, freshnessLooks: looks },
    ...{ freshnessAim: aim, visited: sum('visited'), run },
    lastVisit: latest(parts.flatMap(part => part.lastVisit ?? [])),
    ...{ changed: sum('changed'), looks: sum('looks') },
    account: accountTold(
      parts.map(part => part.account),
      missing,
    ),
    attention: [
      ...(missing === '' ? [] : [{ what: missing, link: '/machines', bad: true }]),
      ...attentionTo(reader, {
        ...{ died, failing: sum('failing'), failed: sum('failed') },
        indexed: parts.some(({ indexed }) => indexed),
      }),
    ],
  };
}

interface Troubles {
  readonly died: boolean;
  readonly failing: number;
  readonly failed: number;
  readonly indexed: boolean;
}

function attentionTo(reader: Reader, { died, failing, failed, indexed }: Troubles): Overview['attention'] {
  const found: z.infer<typeof attention>[] = [];
  if (died)
    found.push({
      what: 'The last run did not end properly. The next run continues where it stopped.',
      link: '',
      bad: true,
    });
  if (failing > 0) {
    const what = failing === 1 ? '1 server does not answer.' : `${failing.toLocaleString('en')} servers do not answer.`;
    found.push({ what, link: '/servers?state=failing', bad: true });
  }
  if (failed > 0) {
    const pages = failed === 1 ? '1 page failed at its' : `${failed.toLocaleString('en')} pages failed at their`;
    found.push({ what: `${pages} last visit.`, link: '/pages?outcome=failed', bad: false });
  }
  if (!indexed) found.push({ what: 'No page is indexed yet, so search finds nothing.', link: '', bad: false });
  const free = freeShare(reader.directory);
  if (free < LITTLE_DISK)
    found.push({ what: `The disk is nearly full: ${Math.round(free * 100)}% left.`, link: '', bad: true });
  return found;
}

function freeShare(directory: string): number {
  const { bavail, blocks } = statfsSync(directory);
  return blocks === 0 ? 1 : bavail / blocks;
}

export const overviewRoute = sumRoute({
  method: 'get',
  path: '/overview',
  summary: 'How fresh the collection is, what it cost, what changed, how the last run ended, and what needs attention.',
  input: z.object({ days: z.coerce.number().int().min(1).max(400).default(30) }),
  output: overview,
  sum: {
    part: overviewPart,
    of: (parts, { days }, reader) => overviewPartOf(parts, days, reader),
    told: (parts, _input, context, missing) => overviewTold(parts, context, missing),
  },
});
