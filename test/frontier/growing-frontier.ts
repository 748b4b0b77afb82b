/**
 * A frontier that grows until its process is killed: it visits pages that exist only as random numbers, and commits as home
 * does. `node growing-frontier.ts DIRECTORY SEED` prints a line a commit.
 */
import { systemClock } from '../../src/base/clock.ts';
import { bareFacts, packFacts } from '../../src/errand/facts.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { linksTo } from '../ledger/random-crawl.ts';
import { type Random, randomly } from '../random.ts';
import { plainOptions } from './plain-options.ts';

export const SERVERS = 7;
/** More than the number from which a file is worth it. */
export const SEEDS = Array.from({ length: 20_500 }, (_, i) => `http://${i % SERVERS}.example/page-${i}`);
const PAGES_A_COMMIT = 3000;

const notes = { title: '', mediaType: 'text/html', charset: 'utf-8', language: 'en', bytes: 3000 };
const flags = { noindex: false, nofollow: false, noarchive: false, truncated: false, filtered: false };

/** Some are copies of others, of the same shape, and some link to pages that nobody knows yet. */
function visitOf(url: string, depth: number, random: Random): Visit {
  const digest = Uint8Array.from({ length: 16 }, () => random.below(random.below(4) === 0 ? 2 : 256));
  const simhash = BigInt(1 + random.below(random.below(4) === 0 ? 2 : 2 ** 31));
  const links = Array.from(
    { length: random.below(3) },
    () => `http://${random.below(SERVERS)}.example/${random.below(1e9)}`,
  );
  return {
    ...{ url, depth, time: 1, retryAfter: 0, outcome: 'fetched', reason: 'ok', status: 200, stage: 'first' },
    ...{ cost: { up: 1, down: 1, cause: 'page', ms: 1 }, page: { ...notes, ...flags }, links: linksTo(links, random) },
    facts: packFacts({ ...bareFacts(digest, digest), simhash }),
  };
}

/** Visits up to so many pages of what waits. */
export function visitSome(frontier: Frontier, pages: number, random: Random): void {
  for (let visited = 0; visited < pages; ) {
    frontier.errands.wake();
    const issued = frontier.errands.next();
    if (!issued) return;
    const { errand } = issued;
    for (const { url, depth } of errand.pages) {
      const stored = { segment: 1, offset: visited++, length: 1, requestLength: 1 };
      frontier.errands.learn(errand.id, visitOf(url, depth, random), { outpost: 'thread-1', stored });
    }
    frontier.errands.finish(errand.id);
  }
}

function grow(directory: string, random: Random): void {
  const ledger = new Ledger(directory, 'write');
  ledger.begin();
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore' }, systemClock);
  frontier.restore();
  frontier.seed(SEEDS);
  for (;;) {
    frontier.saveMemory();
    ledger.commit();
    console.log(ledger.visits.last);
    ledger.begin();
    visitSome(frontier, PAGES_A_COMMIT, random);
  }
}

if (import.meta.main) grow(process.argv[2]!, randomly(Number(process.argv[3])));
