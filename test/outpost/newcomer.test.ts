/** What somebody meets who sets up a first machine: the same directory everywhere, options that do what they say, no waits. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { type Clock, DAY, systemClock } from '../../src/base/clock.ts';
import { joinParent, StandingOutpost } from '../../src/outpost/standing-outpost.ts';
import { greetOutpost, greetParent } from '../../src/transfer/entry/greeting.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { errandOf } from '../contracts/carrier.ts';
import { skein, workplace } from '../journeys/skein.ts';
import { makePlace, makeSpeaker, welcomeOf } from '../transfer/places.ts';
import { openWeb } from '../web/web.ts';
import { openParent } from './parent.ts';

/** A port where nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}

const invitation = { host: '127.0.0.1', expires: Date.now() + DAY, uses: 1, servers: [], quotas: {} };
const plain = { software: '0.0.0-test', threads: 1, spoolBytes: 1 << 30 };

test('who dials a home that does not run yet tries every few seconds, and says so once', async () => {
  using place = makePlace();
  const token = new Members(join(place.path, 'door')).invite({ ...invitation, port: await closedPort() });
  const directory = join(place.path, 'outpost');
  joinParent({ directory, token, name: 'near', servers: [], allowPrivate: false }, Date.now());
  const waits: number[] = [];
  const said: string[] = [];
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      waits.push(ms);
      if (waits.length === 20) void outpost.stop();
      await systemClock.sleep(1, signal);
    },
  };
  const outpost: StandingOutpost = new StandingOutpost({ ...plain, directory, clock, say: text => said.push(text) });
  await outpost.run();
  assert.ok(waits.length >= 20 && Math.max(...waits) <= 6000, `${Math.max(...waits)} ms`);
  assert.equal(said.length, 1, said.join('\n'));
  assert.match(said[0]!, /Reconnecting to 127\.0\.0\.1:\d+/);
});

test('outpost run --allow-private opens private addresses for that run', async () => {
  using place = makePlace();
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 3 });
  await using home = await openParent(join(place.path, 'home'));
  const directory = join(place.path, 'outpost');
  joinParent({ directory, token: home.token(), name: 'near', servers: [], allowPrivate: false }, Date.now());
  const fetched = async (id: string, allowPrivate: boolean) => {
    const options = { ...plain, directory, allowPrivate, clock: systemClock, say: () => {} };
    const outpost = new StandingOutpost({ ...options, backOff: { first: 50, longest: 200 } });
    const running = outpost.run();
    const visits = await home.run(errandOf(id, web));
    await outpost.stop();
    await running;
    return typeof visits === 'string' ? visits : visits.filter(visit => visit.reason === 'ok').length;
  };
  assert.equal(await fetched('closed', false), 0);
  assert.equal(await fetched('open', true), 3);
});

test('join, run and install name the same directory', async () => {
  using place = workplace();
  const token = new Members(join(place.path, 'door')).invite({ ...invitation, port: await closedPort() });
  const here = { cwd: place.path };
  const early = await skein(['outpost', 'install'], here);
  assert.match(early.stderr, /skein-outpost has not joined a home yet: skein outpost join --once/);
  const joined = await skein(['outpost', 'join', token, '--once'], here);
  assert.equal(joined.code, 0, joined.stderr);
  const unit = await skein(['outpost', 'install', '--user', 'somebody'], here);
  assert.equal(unit.stderr, '');
  const text = String(unit.stdout);
  const directory = /outpost run --directory (\S+)$/m.exec(text)?.[1] ?? '';
  assert.ok(existsSync(join(directory, 'outpost.json')), text);
  assert.match(text, new RegExp(`^ReadWritePaths=${directory}$`, 'm'));
  assert.ok(String(joined.stdout).includes(`--directory ${directory}`), String(joined.stdout));
});

test('two versions that do not understand each other say which machine has which, and what to do', async () => {
  const [one, two] = duplexPair();
  const home = makeSpeaker('home', { protocol: 7 });
  const near = makeSpeaker('near', { protocol: 6 });
  const words = { ...{ token: '', cores: 1, room: 1, platform: '' }, servers: [], holding: [] };
  const outcomes = await Promise.allSettled([
    greetOutpost(one, home, () => welcomeOf(home)),
    greetParent(two, near, words),
  ]);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.match(
      String(outcome.status === 'rejected' && outcome.reason.message),
      /(home|near) speaks protocol \d.*(home|near) speaks protocol \d.*newer version on near/,
    );
  }
});
