/** Why a page is or is not due, for those who read the ledger beside a running home, and what its reasons mean. */
import { DAY } from '../../base/clock.ts';
import { meaningOf, type ReasonCode, reasons } from '../../errand/reasons.ts';
import { type Fresh, savedDoubts } from '../../frontier/schedule/freshness-forecast.ts';
import { weighed } from '../../frontier/schedule/importance.ts';
import { Schedule } from '../../frontier/schedule/schedule.ts';
import { trustTerms } from '../../frontier/schedule/validator-trust.ts';
import { UNLIKELY } from '../../frontier/schedule/voices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_TOLD, isUnspoken, type KnownRow } from '../../ledger/pages/known-row.ts';
import { type PageRow, roles } from '../../ledger/pages/pages.ts';
import type { Server } from '../../ledger/servers.ts';
import { type Explanation, explain, inWords } from '../../revisit/explain.ts';
import { unpackState } from '../../revisit/state.ts';
import { parseTimed, timedFor } from '../../revisit/timetable.ts';
import type { VisitCost } from '../../revisit/value.ts';
import type { Freshness } from '../../search/index.ts';
import { interestIn } from '../indexing/indexing.ts';
import { type Placement, placementOf } from '../machines/placement.ts';
import { masksOn, type ShownMask } from '../masks.ts';
import { isBelieved } from '../refresh/told-looks.ts';
import type { LookedUpPage } from './lookup.ts';
import { FIXED, OVERRULING, ruleInWords, ruleOf, type WhyAsked, type WhyRule } from './why-rule.ts';

export { meaningOf, visitMeans } from '../../errand/reasons.ts';

export interface Why {
  readonly url: string;
  /** What happened last and what happens next. */
  readonly state: string;
  /** What decides when it is visited next. */
  readonly rule: WhyRule;
  readonly policy: string;
  /** Absent for a page that was never seen. */
  readonly explanation?: Explanation;
  /** Notices since the last visit. */
  readonly notices: number;
  /** Times that it was opened from a search lately, and a little for being shown; part of its importance. */
  readonly searches: number;
  readonly server?: ServerTrust;
  /** What is taken for noise on it, and why. */
  readonly masks: ShownMask[];
  /** Which machine visits it, and why that one. */
  readonly machine: Whence;
}

/** What the schedule thinks of a server. */
export interface ServerTrust {
  readonly origin: string;
  readonly paused: boolean;
  /** No request before this time, 0 = none. */
  readonly notBefore: number;
  /** Its 304 answers are believed; audited so often, wrong so often. */
  readonly validatorsTrusted: boolean;
  readonly audits: number;
  readonly lies: number;
  readonly notices: number;
  readonly trueNotices: number;
  /** Above 1: politeness keeps it behind, so that its pages must be worth more. */
  readonly multiplier: number;
}

/** `home`: directory of the collection, where the machines are told of; a partition has one of its own. */
export function whyOf(ledger: Ledger, found: LookedUpPage, now: number, home = ledger.directory): Why {
  const { page, known } = found;
  const schedule = new Schedule(ledger);
  const server = page.server === 0 ? undefined : ledger.servers.read(page.server);
  const { freshness } = schedule.settings;
  const asked = askedOf(ledger, found, schedule, now);
  const rule = ruleOf(found, asked);
  const { weight, searches } = standingOf(ledger, page, now);
  const explained = known?.change &&
    known.seen_time !== null &&
    !FIXED.has(rule) && {
      explanation: explain(
        schedule.plan,
        schedule.termsFor(weight, server, costNow(schedule, page, known), isUnspoken(known)),
        {
          state: unpackState(known.change),
          last: known.seen_time,
          now,
          asks: freshness === undefined ? 'the budget pays for' : 'the aim takes',
          // What comes before all others is stored as due long ago.
          ...(known.due !== null && { due: Math.max(known.due, known.seen_time) }),
          ...{ told: asked.told, overruled: OVERRULING.has(rule) },
        },
      ),
    };
  return {
    url: page.url,
    state: `${stateOf(found, server, now)} ${ruleInWords(ledger, rule, found, asked)}`.trim(),
    rule,
    policy: schedule.plan.policy.name,
    ...(explained || {}),
    notices: known?.pings ?? 0,
    searches,
    ...(server && { server: trustIn(server) }),
    masks: masksOn(ledger, page.id, page.server),
    machine: whenceOf(ledger, page, server, home),
  };
}

/** What was asked of the schedule, and what came between. */
function askedOf(ledger: Ledger, { page, known }: LookedUpPage, schedule: Schedule, now: number): WhyAsked {
  const { freshness } = schedule.settings;
  const times = (ledger.settings.get<readonly string[]>('every') ?? []).map(parseTimed);
  const { change, seen_time } = known ?? {};
  const seen = known && change && seen_time ? { ...known, ...page, change, seen_time } : undefined;
  const doubts = savedDoubts(ledger);
  const wave = seen && doubts.waved(seen);
  return {
    now,
    plan: schedule.plan,
    freshness,
    kept: () => schedule.kept(now),
    timed: roles[page.role] === 'page' ? timedFor(times)(page.url) : undefined,
    waved: wave !== undefined && wave.likely >= UNLIKELY,
    told: 1 - (1 - (wave?.likely ?? 0)) * (1 - (seen ? doubts.believed(seen) : 0)),
    heard: freshness !== undefined && (known?.pings ?? 0) > 0 && isBelieved(ledger, page.id, page.server),
  };
}

function trustIn(server: Server): ServerTrust {
  const { origin, paused, notBefore, audits, lies, pings, truePings, multiplier } = server;
  const { trustValidators } = trustTerms(server);
  return {
    ...{ origin, paused, notBefore, audits, lies, multiplier },
    validatorsTrusted: trustValidators,
    notices: pings,
    trueNotices: truePings,
  };
}

/** What happened to a page, and what happens next. */
export function stateOf(found: LookedUpPage, server: Server | undefined, now: number): string {
  const what = roles[found.page.role] === 'image' ? 'An image used by pages. ' : '';
  return what + lastAndNext(found, server, now);
}

function lastAndNext({ page, known }: LookedUpPage, server: Server | undefined, now: number): string {
  if (page.refused !== null) return `Not visited (${page.refused}): ${meaningOf(page.refused)}.`;
  const until = (time: number) => inWords((time - now) / DAY);
  if (!known) {
    const blocked = server !== undefined && server.notBefore > now;
    return blocked
      ? `Queued for its first visit; the next request to its server is in ${until(server.notBefore)}.`
      : 'Queued for its first visit; due now.';
  }
  const told = known.flags & FLAG_TOLD ? ' The site told us of its last change.' : '';
  const last = `Checked ${inWords(Math.max(0, now - known.time) / DAY)} ago, ${resultOf(known, now)}.${told}`;
  if (known.retry_at !== null) {
    const when = known.retry_at > now ? `in ${until(known.retry_at)}` : 'now';
    const allowed = reasons[known.reason as ReasonCode]?.retries ?? 0;
    // One that did not fail waits because its last visit is in doubt.
    if (known.tries === 0) return `${last} Next visit ${when}, because the last one is unreliable.`;
    return `${last} Retry ${when}, after ${known.tries} of ${allowed} allowed failures.`;
  }
  if (known.reason === 'robots') return `${last} Skein fetches it once robots.txt allows that.`;
  return known.due === null ? `${last} No further visit is planned.` : last;
}

/** `unchanged`, or the outcome with what it means. A second look, too, finds unchanged what the first has just found changed. */
function resultOf({ outcome, reason, first_time: first, changed_time: changed }: KnownRow, now: number): string {
  if (outcome === 'same' && reason === 'unchanged')
    return changed > first ? `unchanged since it was found changed ${inWords((now - changed) / DAY)} ago` : reason;
  if (outcome === 'same') return `unchanged: ${meaningOf(reason)}`;
  return reason === 'ok' ? 'fetched' : `${outcome} (${reason}): ${meaningOf(reason)}`;
}

/** Where a page is visited from. */
export interface Whence {
  /** Where errands of its server go, and why; absent where nothing was decided yet. */
  readonly placement?: Placement;
  /** Who visited it last, `a/b` = b, which was sent by a; empty = nobody. */
  readonly last: string;
}

function whenceOf(ledger: Ledger, page: PageRow, server: Server | undefined, home: string): Whence {
  const placement = server && placementOf(home, server.origin);
  return { ...(placement && { placement }), last: ledger.visits.of(page.id).at(-1)?.outpost ?? '' };
}

/** How important a page is by now, and how much of that is because people searched for it. */
function standingOf(ledger: Ledger, page: PageRow, now: number): { weight: number; searches: number } {
  const searches = interestIn(ledger.directory, () => now)(page.id);
  const place = { linksIn: ledger.links.backward.saved(page.id), depth: page.depth, role: roles[page.role]! };
  return { weight: weighed({ ...place, searches }), searches };
}

/** Says of each page when it was last seen, and how likely it is to have changed since. */
export function freshnessNow(ledger: Ledger, now: number): (page: number) => Freshness | undefined {
  const { estimator } = new Schedule(ledger).plan;
  return page => {
    const known = ledger.pages.known(page);
    if (!known) return undefined;
    const { change, seen_time: seen, time } = known;
    if (!change || seen === null) return { seen: seen ?? time, changedProbability: undefined };
    const survival = estimator.survival(unpackState(change), Math.max(0, now - seen) / DAY);
    return { seen, changedProbability: 1 - survival };
  };
}

/** Share of the collection that is expected to be as it was last seen, and the share that the budget aims at. */
export function freshnessOf(ledger: Ledger, now: number): Fresh & { aim: number } {
  const schedule = new Schedule(ledger);
  return { ...schedule.freshness(now), aim: schedule.balance.freshness };
}

function costNow(schedule: Schedule, page: PageRow, known: KnownRow): VisitCost {
  const { wire, outcome, reason, etag, last_modified } = known;
  return schedule.costOf({ wire, outcome, reason, tagged: etag !== null || last_modified !== null }, page.server);
}
