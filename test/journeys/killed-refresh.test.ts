/**
 * kill -9 at eight moments of a refresh over a web that has changed since the crawl. The next refresh goes on with the
 * round: what was looked at is not looked at again, every change is found and stored once, and the end is that of a
 * refresh left alone.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { randomly } from '../random.ts';
import { movableClock, openWeb } from '../web/web.ts';
import { checkBooks, killAt, pause } from './kills.ts';
import { fast, skeinJson, workplace } from './skein.ts';

const KILLS = 8;

interface Ended {
  readonly fetched: number;
  readonly since?: number;
}

test('a refresh that is killed eight times ends like one that is not', async t => {
  const clock = movableClock();
  await using web = await openWeb({
    ...{ seed: 5, servers: 3, pagesPerServer: 60, latency: 60, clock },
    ...{ rates: [0, 0.1, 1, 4], validators: ['right', 'none', 'date'] },
    features: ['redirects', 'robots', 'sitemaps', 'duplicates'],
  });
  using place = workplace();
  const data = join(place.path, 'killed');
  const alone = join(place.path, 'alone');
  await skeinJson('crawl', ...web.seeds, '--data', data, ...fast, '--scope', '*');
  cpSync(data, alone, { recursive: true });
  await clock.advance(DAY);

  const random = randomly(8);
  // A second look that was waited for when the process died is not made up for: nobody has to compare the rest with these.
  const alike = ['--connections', '2', '--set', 'images=off', '--set', 'second-look=0'];
  const refresh = ['refresh', '--budget', '100%', ...fast, ...alike];
  let died = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const moment = kill % 4 === 3 ? pause(random.below(400)) : web.hold(1 + random.below(40));
    if (await killAt(moment, [...refresh, '--data', data])) died++;
    web.release();
    await checkBooks(data, `after kill ${kill + 1}`);
  }
  assert.equal(died, KILLS, 'every process was alive when it was killed');
  const between = web.requests();
  const last = await skeinJson<Ended>(...refresh, '--data', data);
  const rest = web.requests() - between;
  assert.notEqual(last.since, undefined, 'it went on with the round that was killed');
  const whole = await skeinJson<Ended>(...refresh, '--data', alone);
  const all = web.requests() - between - rest;
  assert.equal(whole.since, undefined);
  // What the killed ones had committed need not have changed.
  assert.ok(last.fetched <= whole.fetched && rest < all, `${rest} of ${all} requests were left to do`);
  assert.deepEqual(historiesIn(data), historiesIn(alone));
  assert.deepEqual((await skeinJson('verify', '--data', data))['problems'], []);
  t.diagnostic(
    `${rest} requests after ${KILLS} kills, ${all} in a round left alone; ${whole.fetched} pages had changed`,
  );
});

/** Each page with the looks at it and the bodies that they stored; in words, so that a difference can be read. */
function historiesIn(data: string): string[] {
  const ledger = openLedger(data);
  const copies = openCopiesHere(ledger);
  const rows = ledger['database'].prepare('SELECT id, url FROM pages ORDER BY url').all() as {
    id: number;
    url: string;
  }[];
  const histories = rows.map(({ id, url }) => {
    const looks = ledger.visits.of(id).map(visit => {
      const body = copies.of(visit)?.decoded().bytes;
      return `${visit.outcome} ${visit.reason} ${body ? createHash('sha1').update(body).digest('hex') : '-'}`;
    });
    return `${url}: ${looks.join(', ')}`;
  });
  copies.close();
  ledger.close();
  return histories;
}
