/** Code on its way from home to standing outposts: asked for once, checked, and refused with a reason that home hears. */

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import type { Errand } from '../../src/errand/errand.ts';
import { type Identity, makeIdentity } from '../../src/errand/keys.ts';
import { type CodeTerms, encodeCode, signCode } from '../../src/outpost/cages/code.ts';
import { joinParent } from '../../src/outpost/standing-outpost.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { errandOf } from '../contracts/carrier.ts';
import { makePlace } from '../transfer/places.ts';
import { openWeb, type Web } from '../web/web.ts';
import { openParent, type Parent, startOutpost } from './parent.ts';
import { wasm } from './wasm-module.ts';

/** Keeps nothing, follows everything; and two others that do the same. */
const codes = [0, 1, 2].map(nothings => wasm([0x41, 0x80, 0x04, ...Array<number>(nothings).fill(0x01)]));
const digests = codes.map(code => hash('sha256', code));

const terms = (version: number): CodeTerms => ({ name: 'decider', version, expires: Date.now() + DAY });

/** Sends what is asked for, signed by `who`. */
function signed(who: Identity, given: CodeTerms): Parent['code'] {
  return digest => {
    const bytes = codes[digests.indexOf(digest)]!;
    return { terms: encodeCode(signCode(who, bytes, given)), bytes };
  };
}

const errand = (id: string, web: Web, code = 0): Errand => ({ ...errandOf(id, web), code: digests[code]! });

function joinHome(home: Parent, directory: string, more: { code?: boolean } = {}): void {
  joinParent({ directory, token: home.token(), name: 'near', servers: [], allowPrivate: true, ...more }, Date.now());
}

test('code is asked for once, kept, and decides', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 6 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinHome(home, directory);
  const asked: string[] = [];
  home.code = digest => {
    asked.push(digest);
    return signed(home.identity, terms(1))(digest);
  };
  {
    await using _ = startOutpost(directory);
    const both = await Promise.all([home.run(errand('one', web)), home.run(errand('two', web))]);
    for (const visits of both) {
      assert.ok(typeof visits !== 'string', String(visits));
      assert.equal(visits.length, 6);
      assert.ok(visits.every(({ page, record }) => page?.filtered && !record));
    }
  }
  await using _ = startOutpost(directory);
  assert.equal((await home.run(errand('three', web))).length, 6);
  assert.deepEqual(asked, [digests[0]]);
});

test('code that is not to be trusted is refused, each time with its reason', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 4 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinHome(home, directory);
  await using _ = startOutpost(directory);
  const refusal = async (id: string, code: Parent['code'], number = 0) => {
    home.code = code;
    return String(await home.run(errand(id, web, number)));
  };
  const { identity } = home;
  assert.match(await refusal('stranger', signed(makeIdentity(), terms(5))), /does not trust who signed it/);
  assert.match(await refusal('old', signed(identity, { ...terms(5), expires: Date.now() - DAY })), /has expired/);
  assert.match(await refusal('gone', () => undefined), /home does not have it any more/);
  const other = signed(identity, terms(5))(digests[1]!);
  assert.match(await refusal('other', () => other), /not the code that was requested/);
  home.code = signed(identity, terms(5));
  assert.equal((await home.run(errand('right', web))).length, 4);
  assert.match(await refusal('older', signed(identity, terms(4)), 1), /version 4 is older than 5/);
  // After all that it works on.
  home.code = signed(identity, terms(6));
  assert.equal((await home.run(errand('newer', web, 2))).length, 4);
});

test('an outpost whose owner wants no code takes none', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 2 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinHome(home, directory, { code: false });
  await using _ = startOutpost(directory);
  home.code = signed(home.identity, terms(1));
  assert.match(String(await home.run(errand('one', web))), /does not trust/);
});

test('code reaches an outpost of an outpost through the one between', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 2, pagesPerServer: 8 });
  await using home = await openParent(join(place.path, 'home'));
  const [near, far] = [join(place.path, 'near'), join(place.path, 'far')];
  joinHome(home, near);
  await using middle = startOutpost(near);
  while (!middle.outpost.connected) await new Promise(resolve => setTimeout(resolve, 20));
  const { port } = middle.outpost.door!;
  const invitation = { host: '127.0.0.1', port, expires: Date.now() + DAY, uses: 1, servers: [], quotas: {} };
  const token = new Members(join(near, 'door')).invite(invitation);
  joinParent(
    { directory: far, token, name: 'far', servers: [], allowPrivate: true, ceilings: { pace: 0 } },
    Date.now(),
  );
  await using last = startOutpost(far);
  while (!last.outpost.connected) await new Promise(resolve => setTimeout(resolve, 20));
  home.code = signed(home.identity, terms(1));
  // The first keeps the machine between busy, so that it passes the second on.
  const slow = errandOf('slow', web);
  const first = home.run({ ...slow, server: { ...slow.server, pace: 200, connections: 1 } });
  while (web.requests() < 2) await new Promise(resolve => setTimeout(resolve, 20));
  const second = await home.run({ ...errandOf('second', web, 1), code: digests[0]!, levels: 1 });
  assert.ok(typeof second !== 'string', String(second));
  assert.equal(home.by.get('second'), 'near/far');
  assert.ok(second.every(({ page }) => page?.filtered));
  await first;
});
