/** A first crawl and rounds of refresh through an outpost: what home ends up with, and what crossed for it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { version } from '../../src/base/version.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { joinParent, StandingOutpost } from '../../src/outpost/standing-outpost.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { freePort } from '../free-port.ts';
import { chosen, makeCollection } from '../journeys/collection.ts';
import { openWeb } from '../web/web.ts';

test('pages come home through an outpost, and later only what changed', async t => {
  using collection = makeCollection();
  await using web = await openWeb({
    seed: 3,
    servers: 1,
    pagesPerServer: 60,
    clock: collection.clock,
    rates: [0, 0.3],
    codings: ['gzip'],
  });
  const port = await freePort();
  const directory = join(collection.directory, 'outpost');
  const token = new Members(join(collection.directory, 'door')).invite({
    ...{ host: '127.0.0.1', port, expires: Date.now() + 1e12, uses: 1, servers: [], quotas: {} },
  });
  joinParent({ directory, token, name: 'near', servers: [], allowPrivate: true, ceilings: { pace: 0 } }, Date.now());
  const outpost = new StandingOutpost({
    ...{ directory, software: version, threads: 1, spoolBytes: 1e8, clock: systemClock, say: () => {} },
    backOff: { first: 50, longest: 100 },
  });
  const running = outpost.run();
  t.after(async () => {
    await outpost.stop();
    await running;
  });
  const through = { listen: `127.0.0.1:${port}`, threads: 0 };
  const opened = await openHome(chosen(collection.directory, through), web.seeds, {});
  await opened.ready();
  await opened.run(crawlSupply(opened, 20_000));
  await opened.close();
  const bytesOfFirst = outpost.status.bytes;
  const found = opened.home.progress.outcomes.fetched;
  assert.ok(found >= 60, `${found} pages`);
  let changed = 0;
  let spent = 0;
  for (let day = 0; day < 3; day++) {
    collection.pass(1);
    const before = outpost.status.bytes;
    const summary = await collection.refresh({ ...through, budget: '100000' });
    changed += summary.changed;
    spent += outpost.status.bytes - before;
  }
  assert.ok(changed > 0);
  assert.ok(spent / 3 < bytesOfFirst / 4, `first ${bytesOfFirst}, then ${spent / 3} a day for ${changed} changes`);
  const ledger = openLedger(collection.directory);
  const report = await verifyCollection(ledger);
  assert.deepEqual(report.problems, []);
  assert.ok(report.copies >= found + changed);
  ledger.close();
});
