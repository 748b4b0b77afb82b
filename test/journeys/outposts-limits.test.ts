/** What an invitation and the owner of a machine allow is kept to, by the parent and by the outpost, level by level. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import type { Whence } from '../../src/home/answers/why.ts';
import { freePort } from '../free-port.ts';
import { openWeb } from '../web/web.ts';
import { invite, startOutpost, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, skeinJson, start, workplace } from './skein.ts';

/** Visits by machine, or by machine and host. */
function visitsBy(data: string, key: (outpost: string, url: string) => string): Map<string, number> {
  const ledger = openLedger(data);
  const rows = ledger['database'].prepare('SELECT v.outpost, p.url FROM visits v JOIN pages p ON p.id = v.page').all();
  ledger.close();
  const counts = new Map<string, number>();
  for (const { outpost, url } of rows as { outpost: string; url: string }[]) {
    const name = key(outpost, url);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

test('quotas of the token and of the owner are kept to, and others do the rest', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 31, servers: 3, pagesPerServer: 40, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const outposts = [
    await startOutpost('invited', place.path, await invite(data, port, '--pages-a-day', '25')),
    await startOutpost('owned', place.path, await invite(data, port), { more: ['--pages-a-day', '15'] }),
  ];
  const token = await invite(data, port);
  const home = start([
    ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0', '--json'],
    ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`],
  ]);
  try {
    await home.says(
      'The outpost invited accepts no errands: It has reached its limit for today: the 25 pages a day are used up.',
    );
    await home.says(
      'The outpost owned accepts no errands: owned has reached its limit for today: the 15 pages a day are used up.',
    );
    await outposts[0]!.running.says('25 pages a day are used up');
    outposts.push(await startOutpost('free', place.path, token));
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    const by = visitsBy(data, outpost => outpost);
    assert.deepEqual([by.get('invited'), by.get('owned')], [25, 15]);
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all(outposts.map(each => each.kill()));
  }
});

/** Who is not done by then never will be: the test fails instead of waiting on. */
function soon<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, 90_000, new Error('it hangs')).unref());
  return Promise.race([promise, late]);
}

test('a server is visited by the outpost that stands for it and by nobody else, below home and below another outpost', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 32, servers: 4, pagesPerServer: 12, addresses: true });
  const hosts = web.origins.map(origin => new URL(origin).hostname);
  const data = join(place.path, 'home');
  const port = await freePort();
  const any = await startOutpost('any', place.path, await invite(data, port));
  // Its owner allows fewer than it was invited for.
  const own = await startOutpost('own', place.path, await invite(data, port, '--servers', `${hosts[1]},${hosts[2]}`), {
    more: ['--servers', `${hosts[1]},example.org`],
  });
  const deep = await startOutpost('deep', place.path, await invite(any.directory, any.port, '--servers', hosts[3]!));
  const crawl = (...more: string[]) => [
    ...['crawl', ...more, '--data', data, '--allow-private', '--json'],
    ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`, '--levels', '2'],
  ];
  // A page first: an outpost lets others in when it has met home. This home may end before `own` has dialled it.
  let home = start(crawl(web.seeds[0]!, '--scope', '*', '--pace', '0.02', '--max-pages', '1'));
  try {
    await soon(Promise.all([any, deep].map(each => each.running.says('Serving'))));
    assert.equal((await soon(home.ended)).code, 0);
    any.running.child.kill('SIGSTOP'); // or it might be there first, and get what waits for the other
    home = start(crawl(...web.seeds, '--scope', '*', '--pace', '0.02'));
    await soon(home.says('The outpost own is here.'));
    any.running.child.kill('SIGCONT');
    const ran = await soon(home.ended);
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    const by = visitsBy(data, (outpost, url) => `${hosts.indexOf(new URL(url).hostname)} ${outpost}`);
    assert.equal(by.get('1 own'), web.mustFind().filter(url => url.startsWith(`${web.origins[1]}/`)).length);
    assert.deepEqual(
      [...by.keys()].filter(name => /^1 (?!own)|^[023] own/.test(name)),
      [],
    );
    assert.deepEqual(
      [...by.keys()].filter(name => /deep/.test(name) && !name.startsWith('3 ')),
      [],
    );
    assert.ok((by.get('3 any/deep') ?? 0) > 0, [...by.keys()].join(', '));
    const why = await skeinJson<{ machine: Whence }>('why', `${web.origins[1]}/`, '--data', data);
    assert.deepEqual(why.machine.placement, { machine: 'own', reason: 'own', because: 'it stands for this server' });
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all([any, own, deep].map(each => each.kill()));
  }
});
