/** What an errand says of its server and of each of its pages: what home knows that bears on the visit. */
import { isIP } from 'node:net';
import type { Errand } from '../errand/errand.ts';
import type { Known } from '../errand/known.ts';
import type { KnownRow } from '../ledger/known-row.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type AskedPage, roles } from '../ledger/pages.ts';
import { UNKNOWN } from './admission.ts';
import { type Lane, paceOf } from './lane.ts';
import type { FrontierOptions } from './options.ts';
import type { Hint } from './order-port.ts';
import type { Schedule } from './schedule.ts';
import { trustTerms } from './trust.ts';

export function termsOf(lane: Lane, options: FrontierOptions, connections: number): Errand['server'] {
  const { server } = lane;
  return {
    origin: server.origin,
    pace: paceOf(lane, options.pace),
    connections,
    notBefore: server.notBefore,
    allowPrivate: options.allowPrivate || (server.seeded && namesAddress(server.origin)),
    ...(options.allowPrivate && { anyPrivate: true }),
    ...trustTerms(server),
    ...(server.soft404 && { missing: server.soft404 }),
    ...(server.robots && { robots: server.robots }),
  };
}

/** What an order may know of a page that joins it: its own links where it goes by them and the page was visited. */
export function hintOf(
  ledger: Ledger,
  order: string,
  page: Pick<Hint, 'depth' | 'relevance'> & { page: number },
): Hint {
  const { depth, relevance } = page;
  const forward = order === 'pvalue' ? ledger.pages.known(page.page)?.urls : undefined;
  return { depth, relevance, forward: forward ?? UNKNOWN, backward: ledger.backward.of(page.page) };
}

/**
 * The origin says where it is, by an address or as this machine. Any other name says so only to whoever answers for it, and
 * may mean a public address today and one of ours tomorrow: the user has to open these.
 */
function namesAddress(origin: string): boolean {
  const { hostname } = new URL(origin);
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /(?:^|\.)localhost$/.test(hostname);
}

/** `before`: what earlier visits taught, undefined = there was none. */
export function knownOf(page: AskedPage, before: KnownRow | undefined, schedule: Schedule): Known {
  const role = roles[page.role]!;
  const facts = before?.facts && (role === 'page' ? schedule.carried(before) : before.facts);
  const tagged = before !== undefined && (role !== 'page' || schedule.carriesTags(before));
  return {
    url: page.url,
    role,
    depth: page.depth,
    hops: page.hops,
    tries: before?.tries ?? 0,
    ...(tagged && before.etag && { etag: before.etag }),
    ...(tagged && before.last_modified && { lastModified: before.last_modified }),
    ...(facts && { facts }),
  };
}
