/** What an errand says about its server and its pages: everything home knows that matters for the visit. */
import { namesAddress } from '../../base/domain.ts';
import type { Errand } from '../../errand/errand.ts';
import { bareFacts, packFacts, unpackFacts } from '../../errand/facts.ts';
import type { Known } from '../../errand/known.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import { type AskedPage, roles } from '../../ledger/pages/pages.ts';
import { delegation, shareChanged } from '../../revisit/pmcs.ts';
import { newState, unpackState } from '../../revisit/state.ts';
import { UNKNOWN } from '../admission/admission.ts';
import { type Lane, paceOf } from '../lanes/lane.ts';
import type { FrontierOptions } from '../options.ts';
import type { Hint } from '../orders/order-port.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { trustTerms } from '../schedule/validator-trust.ts';
import { DELEGATED, type Delegation } from './delegation.ts';

/** `machine`: where the errand goes, empty = to this one's threads, which take nobody else's word for the rules. */
export function termsOf(lane: Lane, options: FrontierOptions, connections: number, machine: string): Errand['server'] {
  const { server } = lane;
  const view = lane.views.get(machine);
  const theirs = server.rulesBy !== '' && server.rulesBy !== machine;
  const robots = view?.robots ?? (theirs ? undefined : server.robots);
  const missing = view?.missing ?? server.soft404;
  const pace = paceOf(lane, options.pace);
  const handedOver = options.askedUntil === undefined ? 0 : options.askedUntil + pace;
  return {
    origin: server.origin,
    pace,
    connections,
    notBefore: Math.max(server.notBefore, view?.notBefore ?? 0, handedOver),
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

/** What an order learns about a page that joins it; its number of links only if the order uses it and the page was visited. */
export function hintOf(
  ledger: Ledger,
  order: string,
  page: Pick<Hint, 'depth' | 'relevance'> & { page: number },
): Hint {
  const { depth, relevance } = page;
  const forward = order === 'pvalue' ? ledger.pages.known(page.page)?.urls : undefined;
  return { depth, relevance, forward: forward ?? UNKNOWN, backward: ledger.links.backward.of(page.page) };
}

/** `before`: what earlier visits taught, undefined = there was none. */
export function knownOf(page: AskedPage, before: KnownRow | undefined, schedule: Schedule): Known {
  const role = roles[page.role]!;
  const facts = before?.facts && (role === 'page' ? carried(before, schedule) : before.facts);
  const tagged = before !== undefined && (role !== 'page' || carriesTags(before, schedule));
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

/** What an errand carries of a page's facts: all of them, or what the papers' rule says where it is the policy. */
function carried({ facts, change }: KnownRow, schedule: Schedule): Uint8Array | undefined {
  const carries = facts === null ? 'nothing' : delegated(change, schedule);
  if (carries === 'nothing') return undefined;
  const open = carries === 'hash' ? unpackFacts(facts!) : undefined;
  return open ? packFacts(bareFacts(open.raw, open.content)) : facts!;
}

/** Whether it carries the page's validators: by that rule only together with facts. */
function carriesTags({ change }: KnownRow, schedule: Schedule): boolean {
  return !schedule.settings.thresholds?.strict || delegated(change, schedule) !== 'nothing';
}

function delegated(change: Uint8Array | null, { plan, settings }: Schedule): ReturnType<typeof delegation> {
  if (plan.policy.name !== 'pmcs') return 'facts';
  const state = change ? unpackState(change) : newState();
  return delegation(shareChanged(state), state.visits, settings.thresholds);
}
