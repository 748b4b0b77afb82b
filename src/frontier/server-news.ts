/**
 * What crawlers report about a server. Home believes what the threads of this machine saw. What another machine saw is only
 * its view: errands to that machine carry it, and others use it only where home has seen nothing itself. Its robots.txt never
 * permits a request of a thread of this machine.
 */
import type { ServerNews } from '../errand/parcel.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { learnRobots } from './admission/robots-changed.ts';
import type { Lane } from './lanes/lane.ts';
import { LONGEST_ABSENCE } from './schedule/clock-repair.ts';

/** The longest that another machine's word makes anybody wait, milliseconds. */
const LONGEST_DELAY = 60_000;

/** `machine`: who reports, empty = this machine. `clock`: which time says when pages that were forbidden are tried again. */
interface NewsFrom {
  readonly machine: string;
  readonly now: number;
  readonly clock: 'retry_at' | 'due';
}

/** Writes the report down, as far as home believes it. */
export function learnNews(ledger: Ledger, lane: Lane, news: ServerNews, from: NewsFrom): void {
  const { server } = lane;
  const { machine, now } = from;
  const own = machine === '';
  if (!own) lane.views.set(machine, { ...lane.views.get(machine), ...viewOf(news) });
  server.address = own ? news.address || server.address : server.address || news.address;
  if (news.robotsBytes > 0) ledger.servers.account.add(now, server.id, 'robots', { spent: news.robotsBytes });
  ledger.servers.touch(server);
  if (!own && server.robots && server.rulesBy === '') return; // home has seen for itself
  if (news.robots) {
    server.rulesBy = machine;
    learnRobots(ledger, server, news.robots, from);
  }
  if (own && news.missing) server.soft404 = news.missing;
  server.crawlDelay = own ? news.crawlDelay : Math.min(news.crawlDelay, LONGEST_DELAY);
  server.latency ||= news.latency; // until pages are visited, which say it better (learning.ts)
  server.notBefore = Math.max(server.notBefore, Math.min(news.notBefore, now + LONGEST_ABSENCE));
  server.sitemaps = [...news.sitemaps];
}

function viewOf({ robots, missing }: ServerNews): Lane['views'] extends Map<string, infer View> ? View : never {
  return { ...(robots && { robots }), ...(missing && { missing }) };
}
