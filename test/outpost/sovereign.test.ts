/** The owner's rules hold whatever an errand says: which servers, which pages of them, and what robots.txt allows. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { joinParent } from '../../src/outpost/standing-outpost.ts';
import { errandOf } from '../contracts/carrier.ts';
import { makePlace } from '../transfer/places.ts';
import { openWeb } from '../web/web.ts';
import { openParent, startOutpost } from './parent.ts';

test('an errand leads to no other server, and brings no rules of its own', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 8, servers: 2, pagesPerServer: 6, features: ['robots'] });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinParent(
    { directory, token: home.token(), name: 'near', servers: ['127.0.0.1'], allowPrivate: true, ceilings: { pace: 0 } },
    Date.now(),
  );
  await using _ = startOutpost(directory);
  const [own, other] = web.origins as [string, string];
  const plain = errandOf('one', web);
  const known = (url: string) => ({ url, role: 'page', depth: 0, hops: 0, tries: 0 }) as const;

  const elsewhere = await home.run({ ...plain, pages: [known(`${own}/`), known(`${other}/`)] });
  assert.ok(typeof elsewhere !== 'string', String(elsewhere));
  const reasonOf = (url: string) => elsewhere.find(visit => visit.url === url)?.reason;
  assert.deepEqual([reasonOf(`${own}/`), reasonOf(`${other}/`)], ['ok', 'out-of-scope']);
  assert.equal(web.requests(`${other}/`), 0);

  // As if the server allowed everything.
  const robots = { status: 404, body: '', unreachableSince: 0, time: Date.now() };
  const secret = `${own}/private/secret.html`;
  const forged = { ...plain, id: 'two', server: { ...plain.server, robots }, pages: [known(secret)] };
  const visits = await home.run(forged);
  assert.ok(typeof visits !== 'string', String(visits));
  assert.deepEqual(
    visits.map(visit => visit.reason),
    ['robots'],
  );
  assert.equal(web.requests(secret), 0);
  assert.equal(web.requests(`${own}/robots.txt`), 1, 'the file that it read itself is remembered');

  const spelled = (origin: string) =>
    home.run({ ...plain, id: `odd-${origin.length}`, server: { ...plain.server, origin } });
  assert.match(String(await spelled('http://[::1]#.127.0.0.1')), /not normalised/);
  assert.match(String(await spelled('http://geese.example')), /rules of near exclude/);
});
