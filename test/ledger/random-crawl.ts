/** Crawls a web that exists only as random numbers, through a real frontier, so that a ledger gets rows of every kind. */

import { fingerprint } from '../../src/base/url.ts';
import type { Errand } from '../../src/errand/errand.ts';
import { bareFacts, packFacts } from '../../src/errand/facts.ts';
import type { Links, Visit } from '../../src/errand/visit.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Progress } from '../../src/home/progress.ts';
import { receive } from '../../src/home/receive.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { plainOptions } from '../frontier/plain-options.ts';
import type { Random } from '../random.ts';

const NO_ARCHIVE = undefined as never; // these visits bring no records

export interface RandomCrawl {
  readonly frontier: Frontier;
  /** Visits up to so many pages, of which some are seen before; commits now and then. Returns how many it visited. */
  visit(pages: number): number;
}

export function randomCrawl(ledger: Ledger, random: Random, clock: { now(): number; ticks(): number }): RandomCrawl {
  const time = { ...clock, sleep: () => Promise.resolve() } as never;
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore' }, time, new Schedule(ledger));
  const parts = { ledger, archive: NO_ARCHIVE, frontier };
  ledger.begin();
  frontier.restore();
  frontier.seed(['http://s0.test/', 'http://s1.test/']);
  ledger.commit();
  const step = (): number => {
    frontier.errands.wake();
    ledger.begin();
    const issued = frontier.errands.next();
    if (!issued) return 0;
    const { errand } = issued;
    const visits = errand.pages.map(({ url, depth }) => randomVisit(url, depth, random, clock.now()));
    const news = random.below(4) > 0 ? {} : { server: newsOf(errand, random, clock.now()) };
    const parcel = { errand: errand.id, sequence: 0, done: true, visits, members: new Uint8Array(0), ...news };
    receive(parts, { parcel }, `thread-${random.below(3)}`, new Progress(time));
    return visits.length;
  };
  return {
    frontier,
    visit(pages) {
      let visited = 0;
      for (let n = 1; n > 0 && visited < pages; visited += n) {
        n = step();
        if (n === 0) n = again(ledger, frontier, random) ? step() : 0;
        if (random.below(3) === 0) ledger.commit();
        if (random.below(9) === 0) writeAside(ledger, random);
      }
      ledger.commit();
      return visited;
    },
  };
}

/** Pages that were visited are looked at once more. */
function again(ledger: Ledger, frontier: Frontier, random: Random): boolean {
  const ids = Array.from({ length: 5 }, () => 1 + random.below(ledger.pages.size));
  const pages = [...new Set(ids)].filter(id => ledger.pages.get(id)!.refused === null && ledger.pages.known(id));
  frontier.again(pages.map(page => ({ page, server: ledger.pages.get(page)!.server })));
  return pages.length > 0;
}

/** Rows that other parts of a home write. */
function writeAside(ledger: Ledger, random: Random): void {
  ledger.begin();
  const page = 1 + random.below(ledger.pages.size);
  ledger.settings.set(`setting-${random.below(4)}`, random.garbage(20));
  ledger.storage.segments.setLength(1 + random.below(3), random.below(1e9));
  ledger.servers.account.addLine(random.below(1e12), { up: 1 + random.below(100), down: random.below(100) });
  ledger.outbox.errands.add({ id: `e${random.below(5)}`, outpost: 'far', bytes: random.bytes(100), issued: 1 });
  if (random.below(2) === 0) ledger.outbox.errands.remove(`e${random.below(5)}`);
  ledger.servers.masks.putServer(1 + random.below(3), { rules: random.garbage(9) });
  if (ledger.pages.known(page)) ledger.schedule.due.setPinged(page, 1 + random.below(3), random.below(1e12));
  ledger.commit();
}

function newsOf({ server: { origin } }: Errand, random: Random, time: number) {
  const robots = { status: 200, body: random.garbage(50), time, unreachableSince: 0 };
  const more = { sitemaps: [`${origin}/map.xml`], crawlDelay: 0, notBefore: 0, latency: random.below(100) };
  return { origin, address: '127.0.0.1', robots, robotsBytes: 100, ...more };
}

function randomVisit(url: string, depth: number, random: Random, time: number): Visit {
  const cost = { up: random.below(500), down: random.below(9000), cause: 'page', ms: random.below(50) } as const;
  const base = { url, depth, time, retryAfter: 0, cost };
  const kind = random.below(12);
  if (kind === 0) return { ...base, outcome: 'gone', reason: 'http-404', status: 404 };
  if (kind === 1) return { ...base, outcome: 'failed', reason: 'reset', status: 0 };
  if (kind === 2) return { ...base, outcome: 'moved', reason: 'http-301', status: 301, location: randomUrl(random) };
  const bytes = Uint8Array.from({ length: 16 }, () => random.below(kind === 3 ? 2 : 256));
  const notes = { title: random.garbage(40), mediaType: 'text/html', charset: 'utf-8', language: 'en', bytes: 3000 };
  const flags = { noindex: false, nofollow: false, noarchive: false, truncated: false, filtered: false };
  return {
    ...base,
    ...{ outcome: 'fetched', reason: 'ok', status: 200, stage: 'first', etag: `"${random.below(1e9)}"` },
    facts: packFacts({ ...bareFacts(bytes, bytes), words: 100, urls: 5 }),
    page: { ...notes, ...flags },
    links: linksTo(
      Array.from({ length: random.below(20) }, () => randomUrl(random)),
      random,
    ),
  };
}

const randomUrl = (random: Random): string =>
  `http://s${random.below(30)}.test/${random.below(3) === 0 ? random.below(1e9) : `p/${random.below(300)}`}`;

export function linksTo(urls: readonly string[], random: Random): Links {
  const unique = [...new Set(urls)];
  const fingerprints = new Uint32Array(unique.length * 2);
  for (const [i, url] of unique.entries()) {
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    fingerprints[i * 2] = high;
    fingerprints[i * 2 + 1] = low;
  }
  const text = (lines: readonly string[]) => new TextEncoder().encode(lines.join('\n'));
  return {
    ...{ count: unique.length, fingerprints, flags: new Uint8Array(unique.length) },
    ...{ relevance: new Uint8Array(unique.length), lastmod: new Float64Array(0) },
    urls: text(unique),
    anchors: text(unique.map(() => `link ${random.below(50)}`)),
  };
}
