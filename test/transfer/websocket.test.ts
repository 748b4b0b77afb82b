import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { DAY, systemClock } from '../../src/base/clock.ts';
import { startUnpacker } from '../../src/home/unpack/unpacker.ts';
import { joinParent, type RunOptions, StandingOutpost } from '../../src/outpost/standing-outpost.ts';
import type { Receiver } from '../../src/transfer/carrier.ts';
import { greetOutpost, greetParent, type Speaker } from '../../src/transfer/entry/greeting.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { readToken, writeToken } from '../../src/transfer/entry/token.ts';
import { StreamCarrier } from '../../src/transfer/stream-carrier.ts';
import { type Door, dial, openDoor } from '../../src/transfer/websocket.ts';
import { checkCarrier, errandOf, type Reached } from '../contracts/carrier.ts';
import { openWeb } from '../web/web.ts';
import { makePlace, makeSpeaker, openRelay, welcomeOf } from './places.ts';

const invitation = { host: '127.0.0.1', expires: Date.now() + DAY, uses: 1, servers: [], quotas: {} };

interface Parent extends AsyncDisposable {
  readonly members: Members;
  readonly door: Door;
  readonly carrier: StreamCarrier;
  readonly home: Speaker;
  refusals: number;
}

/** A home's door that gives every outpost to one carrier. */
async function openParent(path: string, receiver: Receiver, ahead = 0): Promise<Parent> {
  const members = new Members(join(path, 'door'));
  const home = makeSpeaker('home', { identity: members.identity(), now: () => Date.now() + ahead });
  const unpacker = startUnpacker({ directory: path, agentToken: 'skein' });
  const carrier = new StreamCarrier({ name: 'near', identity: home.identity, unpacker }, receiver);
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, members.certificate(), async stream => {
    const admit = (hello: Parameters<Members['admit']>[0]) => {
      try {
        members.admit(hello, Date.now());
        return welcomeOf(home);
      } catch (error) {
        parent.refusals++;
        throw error;
      }
    };
    const { line, hello } = await greetOutpost(stream, home, admit, { silence: 1000 });
    carrier.attach(line, hello);
  });
  const parent: Parent = {
    members,
    door,
    carrier,
    home,
    refusals: 0,
    async [Symbol.asyncDispose]() {
      await carrier.close();
      await door.close();
      await unpacker.close();
    },
  };
  return parent;
}

const quiet: Receiver = { parcel: () => {}, gaveUp: () => {}, changed: () => {}, lost: () => {} };

function runOutpost(directory: string, more: Partial<RunOptions> = {}): StandingOutpost {
  return new StandingOutpost({
    directory,
    software: '0.0.0-test',
    threads: 1,
    spoolBytes: 1 << 30,
    clock: systemClock,
    say: () => {},
    line: { silence: 1000 },
    backOff: { first: 50, longest: 200 },
    ...more,
  });
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise(resolve => setTimeout(resolve, 20));
}

async function reach(receiver: Receiver): Promise<Reached> {
  const place = makePlace();
  const parent = await openParent(place.path, receiver);
  const directory = join(place.path, 'outpost');
  const token = parent.members.invite({ ...invitation, port: parent.door.port });
  joinParent({ directory, token, name: 'near', servers: [], allowPrivate: true, ceilings: { pace: 0 } }, Date.now());
  const outpost = runOutpost(directory);
  const running = outpost.run();
  await until(() => parent.carrier.presence.connected);
  return {
    carrier: parent.carrier,
    async close() {
      await outpost.stop();
      await parent[Symbol.asyncDispose]();
      await running;
      place[Symbol.dispose]();
    },
  };
}

checkCarrier('websocket', reach);

test('a line that is cut again and again, and one that falls silent, lose no page and repeat none', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 60 });
  const urls: string[] = [];
  const sequences: number[] = [];
  let done = false;
  await using parent = await openParent(place.path, {
    ...quiet,
    taken: () => sequences.at(-1) ?? -1,
    parcel: (from, parcel) => {
      if (parcel.sequence <= (sequences.at(-1) ?? -1)) return from.acknowledge(parcel.errand, parcel.sequence);
      sequences.push(parcel.sequence);
      urls.push(...parcel.visits.map(visit => visit.url));
      done = parcel.done;
      from.acknowledge(parcel.errand, parcel.sequence);
    },
  });
  await using relay = await openRelay(parent.door.port);
  const directory = join(place.path, 'outpost');
  const token = parent.members.invite({ ...invitation, port: relay.port });
  joinParent({ directory, token, name: 'near', servers: [], allowPrivate: true, ceilings: { pace: 0 } }, Date.now());
  const outpost = runOutpost(directory);
  const running = outpost.run();
  await until(() => parent.carrier.presence.connected);
  const errand = errandOf('cut', web);
  parent.carrier.send({ ...errand, server: { ...errand.server, pace: 60, connections: 1 } });
  for (const count of [10, 25]) {
    await until(() => web.requests() >= count);
    relay.cut();
  }
  await until(() => web.requests() >= 40 && parent.carrier.presence.connected);
  relay.silence(true);
  const before = relay.count;
  await until(() => relay.count > before); // the outpost noticed by itself and dialled again
  relay.silence(false);
  await until(() => done);
  parent.carrier.forget('cut');
  assert.deepEqual(urls.sort(), web.mustFind());
  assert.deepEqual(
    sequences,
    sequences.map((_, i) => i),
  );
  assert.equal(web.requests(), 61); // robots.txt and each page once
  await outpost.stop();
  await running;
});

test('an outpost whose clock is wrong works in the time of its home', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 7, servers: 1, pagesPerServer: 5 });
  const times: number[] = [];
  let done = false;
  const collect: Receiver = {
    ...quiet,
    parcel: (_, parcel) => {
      times.push(...parcel.visits.map(visit => visit.time));
      done ||= parcel.done;
    },
  };
  await using parent = await openParent(place.path, collect, 3 * DAY);
  const directory = join(place.path, 'outpost');
  const token = parent.members.invite({ ...invitation, port: parent.door.port });
  joinParent({ directory, token, name: 'late', servers: [], allowPrivate: true, ceilings: { pace: 0 } }, Date.now());
  const outpost = runOutpost(directory);
  const running = outpost.run();
  await until(() => parent.carrier.presence.connected);
  const started = parent.home.now();
  parent.carrier.send({ ...errandOf('skewed', web), deadline: started + 60_000 });
  await until(() => done);
  parent.carrier.forget('skewed');
  assert.equal(times.length, 5);
  for (const time of times) assert.ok(Math.abs(time - started) < DAY, `${time - started} ms off`);
  await outpost.stop();
  await running;
});

test('wrong, expired and used tokens, and strangers, are refused with a sentence and counted', async () => {
  using place = makePlace();
  await using parent = await openParent(place.path, quiet);
  const { port } = parent.door;
  const good = parent.members.invite({ ...invitation, port });
  const attempt = (name: string, token: string) => {
    const directory = join(place.path, name);
    joinParent({ directory, token, name, servers: [], allowPrivate: false }, 0);
    return runOutpost(directory).run();
  };
  const wrong = writeToken({ ...readToken(good), secret: 'guessed' });
  await assert.rejects(attempt('wrong', wrong), { code: 'refused', message: /its token is wrong/ });
  const old = parent.members.invite({ ...invitation, port, expires: Date.now() - 1 });
  await assert.rejects(attempt('old', old), { code: 'refused', message: /has expired/ });
  const directory = join(place.path, 'first');
  joinParent({ directory, token: good, name: 'first', servers: [], allowPrivate: false }, Date.now());
  const first = runOutpost(directory);
  const running = first.run();
  await until(() => parent.carrier.presence.connected);
  await assert.rejects(attempt('second', good), { code: 'refused', message: /already used/ });
  await assert.rejects(attempt('stranger', writeToken({ ...readToken(good), id: '0'.repeat(16) })), {
    code: 'refused',
  });
  assert.equal(parent.refusals, 4);
  assert.equal(readFileSync(join(directory, 'token'), 'utf8'), '', 'the token is not kept');
  await first.stop();
  await running;
  // Its key is enough from now on.
  const again = runOutpost(directory);
  const runningAgain = again.run();
  await until(() => again.connected);
  await again.stop();
  await runningAgain;
});

test('another certificate than the token names is not talked to', async () => {
  using place = makePlace();
  await using parent = await openParent(place.path, quiet);
  const address = { host: '127.0.0.1', port: parent.door.port, fingerprint: '00'.repeat(32) };
  await assert.rejects(dial(address), { code: 'refused', message: /is not the one in the token/ });
});

test('a door closes though somebody stands in it who has said nothing', async () => {
  using place = makePlace();
  const parent = await openParent(place.path, quiet);
  const stranger = connect(parent.door.port, '127.0.0.1');
  const turnedOut = once(stranger, 'close');
  stranger.on('error', () => {}); // it may be turned out with a reset
  await once(stranger, 'connect');
  await new Promise(resolve => setTimeout(resolve, 50)); // until it has been let in
  await parent[Symbol.asyncDispose]();
  await turnedOut;
});

test('versions that differ are refused at both ends, and both are named', async () => {
  using place = makePlace();
  await using parent = await openParent(place.path, quiet);
  const { fingerprint } = readToken(parent.members.invite({ ...invitation, port: parent.door.port }));
  const newer = makeSpeaker('near', { protocol: 99, software: '9.9.9' });
  const stream = await dial({ host: '127.0.0.1', port: parent.door.port, fingerprint });
  const words = { token: '', cores: 1, room: 1, platform: '', servers: [], holding: [] };
  await assert.rejects(greetParent(stream, newer, words), {
    code: 'version-mismatch',
    message: /protocol 3 \(Skein 0\.0\.0-test\).*protocol 99 \(Skein 9\.9\.9\)/,
  });
});

test('processes that start at once in a new directory agree on its certificate and its key', async () => {
  using place = makePlace();
  const module = new URL('../../src/transfer/entry/members.ts', import.meta.url).href;
  const code = `const { Members } = await import(${JSON.stringify(module)});
    const members = new Members(${JSON.stringify(join(place.path, 'door'))});
    while (Date.now() < Number(process.argv[1]));
    console.log(JSON.stringify([members.certificate(), members.identity().key]));`;
  const together = String(Date.now() + 1000);
  const run = promisify(execFile);
  const all = await Promise.all(
    [1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', code, together])),
  );
  assert.equal(new Set(all.map(({ stdout }) => stdout)).size, 1);
});

test('who has not proved who they are cannot make the door hold a large message', async context => {
  using place = makePlace();
  const members = new Members(join(place.path, 'door'));
  const heard = Promise.withResolvers<string>();
  const come = (stream: Duplex) => {
    stream.on('data', () => heard.resolve('a message'));
    return new Promise(() => {}); // the greeting does not end
  };
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, members.certificate(), come);
  context.after(() => door.close());
  const stranger = new WebSocket(`wss://127.0.0.1:${door.port}/skein`, { rejectUnauthorized: false });
  stranger.on('error', () => {}); // closed on it
  stranger.on('close', () => heard.resolve('closed'));
  await once(stranger, 'open');
  stranger.send(Buffer.alloc(8 << 20));
  assert.equal(await heard.promise, 'closed');
});
