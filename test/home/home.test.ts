/** Home's side of a line that loses things: every parcel counts once, and none is skipped. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openArchive } from '../../src/archive/archive.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Errand } from '../../src/errand/errand.ts';
import type { Parcel } from '../../src/errand/parcel.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Home } from '../../src/home/home.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { Carrier } from '../../src/transfer/carrier.ts';
import { plainOptions } from '../frontier/plain-options.ts';
import { carrier } from './plain-carrier.ts';

interface Heard {
  readonly sent: Errand[];
  readonly forgotten: string[];
  readonly acknowledged: [errand: string, sequence: number][];
}

/** Crawls one page through an outpost that answers the nth errand as `answer` says, until nothing is left. */
async function crawl(answer: (n: number, errand: Errand) => Partial<Parcel>[]): Promise<Heard & { visits: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-home-'));
  mkdirSync(join(directory, 'archive'));
  const ledger = new Ledger(directory, 'write');
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore', depth: 0 }, systemClock);
  const home = new Home({ clock: systemClock });
  home.adopt({ id: 0, ledger, archive: openArchive(join(directory, 'archive')), frontier });
  const heard: Heard = { sent: [], forgotten: [], acknowledged: [] };
  const far: Carrier = carrier('far', {
    send(errand) {
      const empty = { errand: errand.id, sequence: 0, done: false, visits: [], members: new Uint8Array(0) };
      for (const parcel of answer(heard.sent.push(errand), errand)) home.reception.parcel(far, { ...empty, ...parcel });
    },
    forget: errand => heard.forgotten.push(errand),
    acknowledge: (errand, sequence) => heard.acknowledged.push([errand, sequence]),
  });
  try {
    ledger.begin();
    frontier.restore();
    frontier.seed(['http://a.test/']);
    home.dispatch.join(far);
    await home.run({ fill: () => {}, worthWaiting: () => !frontier.backlog.quiet, left: 0 });
    return { ...heard, visits: ledger.visits.of(1).length };
  } finally {
    ledger.close();
    rmSync(directory, { recursive: true });
  }
}

const visited = ({ pages }: Errand): Pick<Parcel, 'visits'> => ({
  visits: pages.map(({ url, depth }) => ({
    ...{ url, depth, time: Date.now(), outcome: 'gone', reason: 'http-404', status: 404, retryAfter: 0 },
    cost: { up: 1, down: 1, cause: 'error', ms: 1 },
  })),
});

test('a parcel that follows a lost one ends its errand, and the pages are sent for again', async () => {
  const { sent, forgotten, visits } = await crawl((n, errand) =>
    n === 1 ? [{ sequence: 2, done: true, ...visited(errand) }] : [{ done: true, ...visited(errand) }],
  );
  assert.deepEqual(
    sent.map(({ pages }) => pages.map(({ url }) => url)),
    [['http://a.test/'], ['http://a.test/']],
  );
  assert.deepEqual(
    forgotten,
    sent.map(({ id }) => id),
  );
  assert.equal(visits, 1);
});

test('a parcel that comes twice counts once, and is acknowledged again', async () => {
  const { sent, acknowledged, visits } = await crawl((_, errand) => [
    visited(errand),
    visited(errand),
    { sequence: 1, done: true },
  ]);
  assert.equal(sent.length, 1);
  assert.equal(visits, 1);
  assert.deepEqual(acknowledged[0], [sent[0]!.id, 0]);
});
