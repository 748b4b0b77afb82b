/** An outpost that brings pages which no server shows is found out, gets nothing more, and what it brought is replaced. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { openWeb } from '../web/web.ts';
import { LIE, openImpostor } from './impostor.ts';
import { invite, type OutpostProcess, startOutpost } from './outpost-processes.ts';
import { collected, lookInto, pagesOf, skein, skeinJson, start, workplace } from './skein.ts';

interface Tree {
  readonly machines: readonly { readonly name: string; readonly state: string; readonly trouble: string }[];
}

test('a lying outpost is quarantined, and its pages are visited again from elsewhere', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 17, servers: 2, pagesPerServer: 250, validators: ['right'] });
  await using impostor = await openImpostor(
    web.origins.map(origin => Number(new URL(origin).port)),
    place.path,
  );
  const data = join(place.path, 'home');
  const port = await freePort();
  const liar = await startOutpost('liar', place.path, await invite(data, port), { node: impostor.node });
  const token = await invite(data, port);
  const home = start([
    ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0', '--json'],
    // So many pages are looked at that no chance keeps the liar.
    ...['--set', 'threads=0', '--set', 'audit=0.2', '--listen', `127.0.0.1:${port}`],
  ]);
  let honest: OutpostProcess | undefined;
  try {
    await home.says('is quarantined: its copy of');
    honest = await startOutpost('honest', place.path, token);
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    using look = lookInto(data);
    for (const url of web.mustFind()) {
      assert.ok(!Buffer.from(look.body(url)).toString().includes(LIE), `${url} is as the liar brought it`);
    }
    const { machines } = await skeinJson<Tree>('outposts', '--data', data);
    const shown = machines.find(({ name }) => name === 'liar')!;
    assert.equal(shown.state, 'quarantined');
    assert.match(shown.trouble, /differs from the page on the server/);
    assert.deepEqual((await skeinJson('verify', '--data', data))['problems'], []);
    const forgiven = await skein(['outpost', 'forgive', 'liar', '--data', data]);
    assert.equal(forgiven.code, 0, forgiven.stderr);
    assert.equal((await skein(['outpost', 'forgive', 'liar', '--data', data])).code, 3);
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all([liar.kill(), honest?.kill()]);
  }
});
