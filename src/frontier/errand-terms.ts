/** What an errand says of its server and of each of its pages: what home knows that bears on the visit. */
import { isIP } from 'node:net';
import type { Errand } from '../errand/errand.ts';
import type { Known } from '../errand/known.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KnownRow } from '../ledger/pages/known-row.ts';
import { type AskedPage, roles } from '../ledger/pages/pages.ts';
import { UNKNOWN } from './admission/admission.ts';
import { DELEGATED, type Delegation } from './delegation.ts';
import { type Lane, paceOf } from './lanes/lane.ts';
import type { FrontierOptions } from './options.ts';
import type { Hint } from './orders/order-port.ts';
import type { Schedule } from './schedule/schedule.ts';
import { trustTerms } from './schedule/validator-trust.ts';

/** `machine`: where the errand goes, empty = to this one's threads, which take nobody else's word for the rules. */
export function termsOf(lane: Lane, options: FrontierOptions, connections: number, machine: string): Errand['server'] {
  const { server } = lane;
  const view = lane.views.get(machine);
  const theirs = server.rulesBy !== '' && server.rulesBy !== machine;
  const robots = view?.robots ?? (theirs ? undefined : server.robots);
  const missing = view?.missing ?? server.soft404;
  return {
    origin: server.origin,
    pace: paceOf(lane, options.pace),
    connections,
    notBefore: Math.max(server.notBefore, view?.notBefore ?? 0),
    allowPrivate: options.allowPrivate || (server.seeded && namesAddress(server.origin)),
    ...(options.allowPrivate && { anyPrivate: true }),
    ...trustTerms(server),
    ...(missing && { missing }),
    ...(robots && { robots }),
  };
}

/** What an errand says besides its server and its pages. */
export function errandTerms(
  options: FrontierOptions,
  { follow, levels }: Delegation,
  now: number,
): Omit<Errand, 'id' | 'server' | 'pages'> {
  const { mode, scope, depth, bodyBytes, lease, detector, code } = options;
  const limits = { pages: 0, follow: follow ? DELEGATED : 0, depth, bodyBytes, time: lease };
  return { kind: mode, scope, limits, levels, detector, deadline: now + lease, ...(code && { code }) };
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
