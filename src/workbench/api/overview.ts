/** The first view: is the collection fresh, what did it cost, what changed, and what needs attention. */
import { statfsSync } from 'node:fs';
import { z } from 'zod';
import { lastRun } from '../../home/log.ts';
import { sumOf } from '../../questions/question.ts';
import { daySums } from '../day-counts.ts';
import type { Live } from '../live.ts';
import type { Reader } from '../reader.ts';
import { accountOf, accountReport } from './account.ts';
import { route } from './route.ts';
import { bytes, list, share, time } from './shared.ts';

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

function overviewOf(reader: Reader, live: Live, days: number): Overview {
  const { collection, home } = live.now;
  const changes = daySums(reader.parts, CHANGE_DAYS);
  const visits = reader.parts.flatMap(({ ledger }) => ledger.visits.get(ledger.visits.newest()) ?? []);
  const run = lastRun(reader.directory) ?? null;
  return {
    freshness: collection.visited === 0 ? null : collection.freshness,
    ...{ freshnessAim: collection.freshnessAim, visited: collection.visited, run },
    lastVisit: visits.length === 0 ? null : Math.max(...visits.map(visit => visit.time)),
    changed: sumOf(changes.days.map(({ changed, gone, moved }) => changed + gone + moved)),
    looks: changes.visits,
    account: accountOf(reader, days),
    attention: attentionOf(reader, run !== null && run.ended === null && home === null),
  };
}

function attentionOf(reader: Reader, died: boolean): Overview['attention'] {
  const found: z.infer<typeof attention>[] = [];
  if (died)
    found.push({
      what: 'The last run did not end properly. The next run continues where it stopped.',
      link: '',
      bad: true,
    });
  const failing = sumOf(reader.parts.map(({ ledger }) => ledger.listings.failing()));
  if (failing > 0) {
    const what = failing === 1 ? '1 server does not answer.' : `${failing.toLocaleString('en')} servers do not answer.`;
    found.push({ what, link: '/servers?state=failing', bad: true });
  }
  const tallies = reader.parts.flatMap(({ ledger }) => ledger.tallies.of('known'));
  const failed = sumOf(tallies.map(({ name, n }) => (name.startsWith('failed ') ? n : 0)));
  if (failed > 0) {
    const pages = failed === 1 ? '1 page' : `${failed.toLocaleString('en')} pages`;
    found.push({ what: `${pages} failed at their last visit.`, link: '/pages?outcome=failed', bad: false });
  }
  if (!reader.indexed) found.push({ what: 'No page is indexed yet, so search finds nothing.', link: '', bad: false });
  const free = freeShare(reader.directory);
  if (free < LITTLE_DISK)
    found.push({ what: `The disk is nearly full: ${Math.round(free * 100)}% left.`, link: '', bad: true });
  return found;
}

function freeShare(directory: string): number {
  const { bavail, blocks } = statfsSync(directory);
  return blocks === 0 ? 1 : bavail / blocks;
}

export const overviewRoute = route({
  method: 'get',
  path: '/overview',
  summary: 'How fresh the collection is, what it cost, what changed, how the last run ended, and what needs attention.',
  input: z.object({ days: z.coerce.number().int().min(1).max(400).default(30) }),
  output: overview,
  answer: ({ days }, { reader, live }) => overviewOf(reader, live, days),
});
