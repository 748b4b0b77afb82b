/** Keeps a lively site fresh, round after round, and holds what Skein tells of it against what is true. */
import { DAY } from '../../src/base/clock.ts';
import { changesIn } from '../../src/home/answers/changes.ts';
import { templateEdits } from '../../src/home/answers/template-edits.ts';
import { type Lively, openLively } from '../web/lively/lively.ts';
import type { PagePlan } from '../web/lively/plan.ts';
import { type Seen, stepBefore, Tally } from '../web/lively/tally.ts';
import { type Collection, makeCollection } from './collection.ts';
import { lookInto } from './skein.ts';

/** `plans`: other pages than those of the seed. */
export async function keepLively(seed: number, rounds: number, plans?: readonly PagePlan[]): Promise<Seen> {
  using collection = makeCollection();
  await using site = await openLively({ seed, clock: collection.clock, ...(plans && { plans }) });
  await collection.crawl(site.seeds);
  const tally = new Tally();
  for (const page of site.pages) tally.begin(page, site.served(page.url));
  for (let round = 1; round <= rounds; round++) {
    collection.pass(stepBefore(seed, round) / DAY);
    site.beginRound();
    const since = collection.clock.now();
    await collection.refresh({ budget: '1000%', secondLook: 0.2 });
    judgeRound({ collection, site, tally, since });
  }
  return tally.seen;
}

interface Round {
  readonly collection: Collection;
  readonly site: Lively;
  readonly tally: Tally;
  readonly since: number;
}

function judgeRound({ collection, site, tally, since }: Round): void {
  const told = collection.look(
    ledger =>
      new Set(
        changesIn(ledger, { since, limit: 100_000 })
          .filter(({ kind }) => kind === 'changed')
          .map(({ url }) => url),
      ),
  );
  using look = lookInto(collection.directory);
  const tellings = site.pages.map(page => ({
    ...{ page, served: site.served(page.url), told: told.has(page.url) },
    copy: Buffer.from(look.body(page.url)).toString(),
  }));
  tally.judge(tellings, collection.look(ledger => templateEdits(ledger, since)).length);
}
