/** Code on its way from home to a standing outpost: asked for once, checked, and refused with a reason that home hears. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Identity } from '../../src/errand/keys.ts';
import { makeIdentity } from '../../src/errand/keys.ts';
import type { Parcel } from '../../src/errand/parcel.ts';
import { startUnpacker } from '../../src/home/unpacker.ts';
import { type CodeTerms, encodeCode, signCode } from '../../src/outpost/code.ts';
import { joinParent, StandingOutpost } from '../../src/outpost/standing.ts';
import type { Receiver } from '../../src/transfer/carrier.ts';
import { greetOutpost } from '../../src/transfer/greeting.ts';
import { Members } from '../../src/transfer/members.ts';
import { StreamCarrier } from '../../src/transfer/stream-carrier.ts';
import { openDoor } from '../../src/transfer/websocket.ts';
import { errandOf } from '../contracts/carrier.ts';
import { makePlace, makeSpeaker, welcomeOf } from '../transfer/places.ts';
import { openWeb, type Web } from '../web/web.ts';
import { wasm } from './wasm-module.ts';

const DAY = 86_400_000;
/** Keeps nothing, follows everything; and two others that do the same. */
const codes = [0, 1, 2].map(nothings => wasm([0x41, 0x80, 0x04, ...Array<number>(nothings).fill(0x01)]));
const digests = codes.map(code => hash('sha256', code));

interface Parent extends AsyncDisposable {
  readonly identity: Identity;
  /** Digests that were asked for. */
  readonly asked: string[];
  /** What is signed about each code from now on. */
  sign: (bytes: Uint8Array) => Uint8Array | undefined;
  token(): string;
  /** Sends an errand with this code: its visits, or why it was given up. */
  run(id: string, web: Web, code: string): Promise<Parcel['visits'] | string>;
}

async function openParent(path: string): Promise<Parent> {
  const members = new Members(join(path, 'door'));
  const home = makeSpeaker('home', { identity: members.identity() });
  const unpacker = startUnpacker({ directory: path, agentToken: 'skein' });
  const ends = new Map<string, (end: Parcel['visits'] | string) => void>();
  const visits = new Map<string, Parcel['visits'][number][]>();
  const receiver: Receiver = {
    parcel(from, parcel) {
      const all = [...(visits.get(parcel.errand) ?? []), ...parcel.visits];
      visits.set(parcel.errand, all);
      if (!parcel.done) return;
      from.forget(parcel.errand);
      ends.get(parcel.errand)?.(all);
    },
    gaveUp(from, errand, why) {
      from.forget(errand);
      ends.get(errand)?.(why);
    },
    changed: () => {},
    lost: () => {},
  };
  const parent: Pick<Parent, 'asked' | 'sign'> = { asked: [], sign: () => undefined };
  const code = (digest: string) => {
    parent.asked.push(digest);
    const bytes = codes[digests.indexOf(digest)]!;
    const terms = parent.sign(bytes);
    return terms && { terms, bytes };
  };
  const carrier = new StreamCarrier({ name: 'near', identity: home.identity, unpacker, code }, receiver);
  const here = Promise.withResolvers<void>();
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, members.certificate(), async stream => {
    const admit = (hello: Parameters<Members['admit']>[0]) => {
      members.admit(hello, Date.now());
      return welcomeOf(home);
    };
    const { line, hello } = await greetOutpost(stream, home, admit);
    carrier.attach(line, hello);
    here.resolve();
  });
  return Object.assign(parent, {
    identity: home.identity,
    token: () =>
      members.invite({
        host: '127.0.0.1',
        port: door.port,
        expires: Date.now() + DAY,
        uses: 1,
        servers: [],
        quotas: {},
      }),
    async run(id: string, web: Web, digest: string) {
      await here.promise;
      const end = new Promise<Parcel['visits'] | string>(resolve => ends.set(id, resolve));
      carrier.send({ ...errandOf(id, web), code: digest });
      return end;
    },
    async [Symbol.asyncDispose]() {
      await carrier.close();
      await door.close();
      await unpacker.close();
    },
  });
}

function startOutpost(directory: string): AsyncDisposable {
  const outpost = new StandingOutpost({
    ...{ directory, software: '0.0.0-test', threads: 1, spoolBytes: 1 << 30, clock: systemClock, say: () => {} },
    backOff: { first: 50, longest: 200 },
  });
  const running = outpost.run();
  return {
    async [Symbol.asyncDispose]() {
      await outpost.stop();
      await running;
    },
  };
}

const terms = (version: number): CodeTerms => ({ name: 'decider', version, expires: Date.now() + DAY });
const signed = (who: Identity, given: CodeTerms) => (bytes: Uint8Array) => encodeCode(signCode(who, bytes, given));

test('code is asked for once, kept, and decides', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 6 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinParent({ directory, token: home.token(), name: 'near', servers: [], allowPrivate: true }, Date.now());
  home.sign = signed(home.identity, terms(1));
  {
    await using _ = startOutpost(directory);
    const both = await Promise.all([home.run('one', web, digests[0]!), home.run('two', web, digests[0]!)]);
    for (const visits of both) {
      assert.ok(typeof visits !== 'string', String(visits));
      assert.equal(visits.length, 6);
      assert.ok(visits.every(({ page, record }) => page?.filtered && !record));
    }
  }
  await using _ = startOutpost(directory);
  assert.equal((await home.run('three', web, digests[0]!)).length, 6);
  assert.deepEqual(home.asked, [digests[0]]);
});

test('code that is not to be trusted is refused, each time with its reason', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 4 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinParent({ directory, token: home.token(), name: 'near', servers: [], allowPrivate: true }, Date.now());
  await using _ = startOutpost(directory);
  const refusal = async (id: string, sign: Parent['sign'], code = digests[0]!) => {
    home.sign = sign;
    return String(await home.run(id, web, code));
  };
  assert.match(await refusal('stranger', signed(makeIdentity(), terms(5))), /does not trust who signed it/);
  assert.match(
    await refusal('old', signed(home.identity, { ...terms(5), expires: Date.now() - DAY })),
    /past its date/,
  );
  assert.match(await refusal('gone', () => undefined), /home does not have it any more/);
  const other = signed(home.identity, terms(5))(codes[1]!);
  assert.match(await refusal('other', () => other), /not the one that was asked for/);
  home.sign = signed(home.identity, terms(5));
  assert.equal((await home.run('right', web, digests[0]!)).length, 4);
  assert.match(await refusal('older', signed(home.identity, terms(4)), digests[1]), /version 4 is older than 5/);
  // After all that it works on.
  home.sign = signed(home.identity, terms(6));
  assert.equal((await home.run('newer', web, digests[2]!)).length, 4);
});

test('an outpost whose owner wants no code takes none', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 2 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  const joining = { directory, token: home.token(), name: 'near', servers: [], allowPrivate: true, code: false };
  joinParent(joining, Date.now());
  await using _ = startOutpost(directory);
  home.sign = signed(home.identity, terms(1));
  assert.match(String(await home.run('one', web, digests[0]!)), /does not trust/);
});
