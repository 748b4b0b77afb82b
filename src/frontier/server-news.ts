/**
 * What crawlers report of a server. What this machine's own threads saw is what home knows. What another machine saw is
 * its own view: it goes along with the errands to that machine, and is known to others only where home has seen nothing
 * itself; its robots.txt never lets a thread of this machine ask for anything.
 */
import type { ServerNews } from '../errand/parcel.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { learnRobots } from './admission/robots-changed.ts';
import type { Lane } from './lanes/lane.ts';
import { LONGEST_ABSENCE } from './schedule/clock-repair.ts';

/** Milliseconds: what anybody is made to wait by another machine's word. */
const LONGEST_DELAY = 60_000;

/** `machine`: whose news it is, empty = this one's. `clock`: by which pages wait that may be asked for again. */
interface NewsFrom {
  readonly machine: string;
  readonly now: number;
  readonly clock: 'retry_at' | 'due';
}

/** Writes it down, as far as it is to be believed. */
export function learnNews(ledger: Ledger, lane: Lane, news: ServerNews, from: NewsFrom): void {
  const { server } = lane;
  const { machine, now } = from;
  const own = machine === '';
  if (!own) lane.views.set(machine, { ...lane.views.get(machine), ...viewOf(news) });
  server.address = own ? news.address || server.address : server.address || news.address;
  if (news.robotsBytes > 0) ledger.account.add(now, server.id, 'robots', { spent: news.robotsBytes });
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
