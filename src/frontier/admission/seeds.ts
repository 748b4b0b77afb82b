/** The seeds of a collection: takes URLs in that its user named, and removes one that was named by mistake. */
import { namesAddress } from '../../base/domain.ts';
import { SkeinError } from '../../base/errors.ts';
import { originOf } from '../../base/url.ts';
import { patienceWith, type Reason, type ReasonCode, reasons } from '../../errand/reasons.ts';
import type { Settings } from '../../ledger/collection/settings.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { SeedRow } from '../../ledger/links/seeds.ts';
import type { Server } from '../../ledger/servers.ts';
import type { Lanes } from '../lanes/lanes.ts';
import type { Admission } from './admission.ts';
import { letGo } from './crawl-bounds.ts';

interface SeedParts {
  readonly ledger: Ledger;
  readonly admission: Admission;
  readonly lanes: Lanes;
}

/** `first`: seeds come before pages that wait already; `idle`: no page is under way. */
interface Seeding {
  readonly time: number;
  readonly first: boolean;
  readonly idle: boolean;
}

/** Takes seeds in; returns how many were new. */
export function takeSeeds(
  { ledger, admission, lanes }: SeedParts,
  urls: readonly string[],
  { time, first, idle }: Seeding,
): number {
  const before = ledger.pages.size;
  const source = { page: 0, depth: 0, hops: 0, time, nofollow: false };
  /** The page is in its lane: it is new, or no errand can have it. */
  const waits = (id: number) =>
    ledger.pages.get(id)?.refused === null && (id > before || (idle && !ledger.pages.known(id)));
  // The supply of a run under way may just have looked for retries up to now.
  const soon = idle ? time : time + 1;
  for (const url of urls) {
    const id = admission.one(url, source, { seed: true });
    const lane = lanes.of(originOf(url));
    // Whoever names a private address opens it: what links to it had found is asked for now.
    if (!lane.server.seeded && namesAddress(url))
      ledger.schedule.due.allow('private-address', soon, 'retry_at', lane.server.id);
    lane.server.seeded = true;
    askAgain(ledger, lane.server, id, soon);
    ledger.servers.touch(lane.server);
    if (first && waits(id)) lane.order.first(id);
  }
  return ledger.pages.size - before;
}

/** Whoever names a seed wants it now. Where nobody answered the last time, nobody has asked us to wait. */
function askAgain(ledger: Ledger, server: Server, id: number, time: number): void {
  const known = ledger.pages.known(id);
  const reason: Reason | undefined = reasons[known?.reason as ReasonCode];
  if (known?.status !== 0 || !reason?.retries || known.reason === 'robots-unreachable') return;
  ledger.schedule.due.setRetry(id, time);
  // A time that the server itself named to another of its pages is longer than our own patience, and stands.
  if (server.notBefore <= known.time + patienceWith(reason, server.failures)) server.notBefore = 0;
  // Its robots.txt was not answered either: what we have of it is expired, and its last good rules stay with it.
  const { robots } = server;
  if (robots?.status === 0) server.robots = { ...robots, body: robots.body, time: 0 };
}

/**
 * Removes a seed: it is no longer visited, and in a crawl without a scope its host no longer belongs to the crawl, unless
 * another seed is on it. The next crawl drops pages that wait on such hosts; stored pages stay. `ledgers`: all of the
 * collection; returns the one that has the seed. Inside the caller's transactions.
 */
export function removeSeed(ledgers: readonly Ledger[], settings: Settings, url: string): { readonly ledger: Ledger } {
  const all = ledgers.flatMap(ledger => ledger.links.seeds.all().map(seed => ({ ledger, seed })));
  const found = all.find(({ seed }) => seed.url === url);
  if (!found)
    throw new SkeinError('not-found', `${url} is not a seed of this collection.`, '"skein seeds" lists them.');
  const { ledger, seed } = found;
  const others = all.filter(each => each !== found);
  ledger.pages.judge(seed.id, 'removed', seed.server);
  ledger.links.seeds.settle(seed.id);
  const server = ledger.servers.byId(seed.server);
  if (!others.some(each => each.ledger === ledger && each.seed.server === seed.server)) {
    server.seeded = false;
    ledger.servers.touch(server);
  }
  const kept = new Set(others.flatMap(each => hostsOf(each.ledger, each.seed)));
  letGo(settings, new Set(hostsOf(ledger, seed).filter(origin => !kept.has(origin))));
  return { ledger };
}

/** Redirects in a row that are followed, which loops would make endless. */
const MOST = 20;

/** Origins of the seed and of where it redirects to. */
function hostsOf(ledger: Ledger, { id, url }: SeedRow): string[] {
  const hosts = [originOf(url)];
  let next = ledger.pages.known(id)?.moved_to ?? 0;
  for (let left = MOST; next !== 0 && left > 0; left--) {
    hosts.push(originOf(ledger.pages.get(next)!.url));
    next = ledger.pages.known(next)?.moved_to ?? 0;
  }
  return hosts;
}
