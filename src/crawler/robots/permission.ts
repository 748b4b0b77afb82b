/**
 * May we, and how fast: robots.txt of the errand's server, from the copy that home sent or fetched anew, and the terms
 * under which the pace keeper lets requests go.
 */
import { normalise, originOf } from '../../base/url.ts';
import type { RobotsCopy, ServerTerms } from '../../errand/errand.ts';
import type { ServerNews } from '../../errand/parcel.ts';
import type { ReasonCode } from '../../errand/reasons.ts';
import { locationOf } from '../analysis/location.ts';
import { opensPrivate } from '../fetch/private-gate.ts';
import { effectOf } from '../pace/answer-effect.ts';
import type { PaceTerms } from '../pace/pace.ts';
import { RECALLED } from '../stages.ts';
import type { Tools } from '../tools.ts';
import { allowed, crawlDelay, ROBOTS_LIMIT } from './robots.ts';
import { robotsText } from './robots-text.ts';

const REDIRECTS = 5;

export interface Permission {
  readonly terms: PaceTerms;
  /** Why a URL may not be asked for; undefined = it may. */
  refusal(url: string): ReasonCode | undefined;
  /** What is known of the server by now. */
  readonly about: ServerNews;
  /** The same, when robots.txt was fetched anew. */
  readonly news: ServerNews | undefined;
}

/** What is asked of the server's terms, and of the outpost's tools. */
interface Asker {
  readonly server: Pick<
    ServerTerms,
    'origin' | 'robots' | 'pace' | 'connections' | 'notBefore' | 'allowPrivate' | 'anyPrivate'
  >;
}
type AskingTools = Pick<Tools, 'fetcher' | 'pace' | 'clock' | 'rules' | 'agentToken'>;

/** Undefined: the errand was recalled before it could be found out. That says nothing of the server. */
export async function askPermission(
  errand: Asker,
  tools: AskingTools,
  signal: AbortSignal,
): Promise<Permission | undefined> {
  const { server } = errand;
  const { origin } = server;
  const now = tools.clock.now();
  const sent = server.robots && tools.rules.of(origin, server.robots, now);
  const fresh = sent !== undefined && sent.terms.expires > now;
  const fetched = fresh ? undefined : await fetchRobots(errand, tools, signal);
  if (!fresh && !fetched) return undefined;
  const { terms, failure } = fetched ? tools.rules.of(origin, fetched.copy, now, fetched.failure) : sent!;
  const { robots, state } = terms;
  const delay = crawlDelay(robots, tools.agentToken);
  // Who was never asked, because the gate is closed, has said nothing that a run with an open gate should go by.
  const unasked = fetched?.failure === 'private-address' && fetched.address === '';
  const about: ServerNews = {
    origin,
    address: fetched?.address ?? '',
    sitemaps: robots.sitemaps.map(each => normalise(each, `${origin}/`)).filter(each => each !== undefined),
    crawlDelay: delay,
    notBefore: 0,
    latency: fetched?.firstByte ?? 0,
    robotsBytes: fetched?.bytes ?? 0,
    ...(fetched && !unasked && { robots: fetched.copy }),
  };
  return {
    terms: { pace: server.pace, connections: server.connections, notBefore: server.notBefore, crawlDelay: delay },
    refusal(url) {
      if (allowed(robots, tools.agentToken, url).allowed) return undefined;
      return state === 'unreachable' ? (failure ?? 'robots-unreachable') : 'robots';
    },
    about,
    news: fetched && about,
  };
}

interface FetchedRobots {
  readonly copy: RobotsCopy;
  readonly address: string;
  readonly bytes: number;
  readonly firstByte: number;
  /** Why no answer came at all: it says more of a page than that robots.txt could not be read. */
  readonly failure: ReasonCode | undefined;
}

/** Follows up to five redirects, to other hosts too; more of them mean that there is no such file. */
async function fetchRobots(errand: Asker, tools: AskingTools, signal: AbortSignal): Promise<FetchedRobots | undefined> {
  const { server } = errand;
  const spent = { address: '', bytes: 0, firstByte: 0 };
  const ended = (status: number, body: string, failure?: ReasonCode): FetchedRobots => {
    const time = tools.clock.now();
    const unreachable = status === 0 || status >= 500 || status === 429;
    const unreachableSince = unreachable ? server.robots?.unreachableSince || time : 0;
    return {
      copy: { status, body: unreachable ? (server.robots?.body ?? '') : body, time, unreachableSince },
      ...spent,
      failure,
    };
  };
  let url = `${server.origin}/robots.txt`;
  for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
    const { pace, connections, notBefore } = server;
    const allowPrivate = opensPrivate(server, url);
    const origin = originOf(url);
    const turn = await tools.pace.turn(origin, { pace, connections, notBefore, crawlDelay: 0 }, signal);
    if (!turn) return undefined;
    const ask = { url, maxBytes: ROBOTS_LIMIT, allowPrivate, accept: 'text/plain', departure: turn };
    const answer = await tools.fetcher.fetch(ask);
    spent.bytes += answer.wire.up + answer.wire.down;
    turn.done(effectOf(answer, tools.clock.now()));
    // What broke off because we end ourselves is not the server's.
    if (answer.kind === 'failure')
      return signal.aborted || answer.reason === RECALLED ? undefined : ended(0, '', answer.reason as ReasonCode);
    const { status, address, wire, headers } = answer;
    if (origin === server.origin) spent.address = address;
    spent.firstByte = wire.firstByte;
    const location = status >= 300 && status < 400 ? locationOf(headers, url) : undefined;
    if (location === undefined) {
      const text = status >= 200 && status < 300 ? robotsText(answer) : '';
      return text === undefined ? ended(0, '') : ended(status, text);
    }
    url = location;
  }
  return ended(404, '');
}
