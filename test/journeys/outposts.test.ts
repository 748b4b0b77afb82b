/** Three levels of outposts, each a process of its own, crawl for a home that fetches nothing itself. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import type { Whence } from '../../src/home/answers/why.ts';
import { freePort } from '../free-port.ts';
import { openWeb } from '../web/web.ts';
import { askedAgain, invite, startOutpost, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, skeinJson, start, workplace } from './skein.ts';

test('three levels share the servers, and bring home what a crawl from here would have', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 11, servers: 9, pagesPerServer: 25, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const a = await startOutpost('a', place.path, await invite(data, port));
  const b = await startOutpost('b', place.path, await invite(a.directory, a.port));
  const c = await startOutpost('c', place.path, await invite(b.directory, b.port));
  let first: ReturnType<typeof start> | undefined;
  try {
    const crawl = [
      ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0.05', '--json'],
      ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`, '--levels', '3', ...UNAUDITED],
    ];
    // A first page, so that every outpost has met its parent before the servers are shared.
    first = start([...crawl, '--max-pages', '1']);
    await Promise.all([a, b, c].map(each => each.running.says('Serving')));
    assert.equal((await first.ended).code, 0);
    const ran = await start(crawl).ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    assert.deepEqual(askedAgain(web), []);
    const ledger = openLedger(data);
    const by = ledger['database']
      .prepare('SELECT DISTINCT outpost FROM visits')
      .all()
      .map(row => row['outpost']);
    const left = ledger.outbox.errands.all();
    ledger.close();
    assert.deepEqual(by.sort(), ['a', 'a/b', 'a/b/c']);
    assert.deepEqual(left, []);
    const tree = await skeinJson<{ machines: { name: string }[] }>('outposts', '--data', data);
    assert.ok(tree.machines.some(machine => machine.name === 'a'));
    const why = await skeinJson<{ machine: Whence }>('why', web.seeds[0]!, '--data', data);
    assert.equal(why.machine.placement!.machine, 'a');
    assert.equal(why.machine.placement!.reason, 'least-loaded');
    assert.match(why.machine.last, /^a(\/b(\/c)?)?$/);
    const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
    assert.deepEqual(books.problems, []);
  } finally {
    first?.child.kill('SIGKILL');
    await Promise.all([a, b, c].map(each => each.kill()));
  }
});
