/** Home's door for those who come with a pass: what they may do, and everything that they may not. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Identity } from '../../src/errand/keys.ts';
import { encodeWarrant, extendWarrant, issueWarrant } from '../../src/errand/warrant.ts';
import { DirectLines } from '../../src/transfer/direct-lines.ts';
import { fingerprintOf } from '../../src/transfer/entry/certificate.ts';
import { greetOutpost, greetParent, type Speaker } from '../../src/transfer/entry/greeting.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { issuePass, type Pass, readPass } from '../../src/transfer/entry/pass.ts';
import type { Line } from '../../src/transfer/line.ts';
import { dial, openDoor } from '../../src/transfer/websocket.ts';
import type { ClaimFrame, Frame } from '../../src/transfer/wire/frames.ts';
import { makePlace, makeSpeaker, welcomeOf } from './places.ts';

const MINUTE = 60_000;
const WORDS = { cores: 0, room: 0, platform: '', servers: [], holding: [] };
const parcel = (errand: string, sequence: number, by = ''): Frame => {
  return { kind: 'parcel', errand, sequence, done: false, visits: 1, by, bytes: Buffer.from('parcel') };
};

test('a pass is good for the outpost that it was made for, by the home that it obeys, for a while', () => {
  const [home, other, child] = ['home', 'other', 'child'].map(name => makeSpeaker(name).identity) as [
    Identity,
    ...Identity[],
  ];
  const pass: Pass = { host: 'h', port: 1, fingerprint: 'f', path: 'a/b', expires: MINUTE };
  const text = issuePass(home, pass, child!.key);
  const holder = { key: child!.key, home: home.key, now: 0 };
  assert.deepEqual(readPass(text, holder), pass);
  assert.throws(() => readPass(text, { ...holder, key: other!.key }), { code: 'refused', message: /another outpost/ });
  assert.throws(() => readPass(text, { ...holder, home: other!.key }), { code: 'refused' });
  assert.throws(() => readPass(text, { ...holder, now: 2 * MINUTE }), { code: 'refused', message: /has expired/ });
  const altered = JSON.parse(Buffer.from(text.slice(6), 'base64url').toString());
  for (const change of [
    { host: 'elsewhere' },
    { path: 'z/b' },
    { expires: 9 * MINUTE },
    { port: null },
    { signature: 7 },
  ]) {
    const forged = `pass1.${Buffer.from(JSON.stringify({ ...altered, ...change })).toString('base64url')}`;
    assert.throws(() => readPass(forged, holder), { code: 'refused' });
  }
  for (const junk of ['pass1.', 'pass1.bnVsbA', 'pass1.%%%'])
    assert.throws(() => readPass(junk, holder), { code: 'refused' });
});

interface Reached extends AsyncDisposable {
  /** The child's end. */
  readonly line: Line;
  readonly lines: DirectLines;
  /** What home took, and what the child heard. */
  readonly taken: { readonly errand: string; readonly sequence?: number; readonly by?: string }[];
  readonly heard: Frame[];
  readonly ended: Promise<{ why: string; said: string | undefined }>;
  /** Proof of an errand that home gave to `a` and a to this one, or to someone else. */
  claim(errand: string, given?: Speaker): ClaimFrame;
}

/** A line from a child, through a real door, to what home does with it. */
async function reach(path: string): Promise<Reached> {
  const members = new Members(join(path, 'door'));
  const home = makeSpeaker('home', { identity: members.identity() });
  const [a, child] = [makeSpeaker('a'), makeSpeaker('child')];
  const taken: Reached['taken'] = [];
  const lines = new DirectLines(home.identity.key, {
    parcel: ({ errand, sequence, by }) => taken.push({ errand, sequence, by }),
    gaveUp: errand => taken.push({ errand }),
  });
  const certificate = members.certificate();
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, certificate, async stream => {
    const { line, hello } = await greetOutpost(stream, home, () => welcomeOf(home));
    lines.attach(line, 'b', hello.key);
  });
  const fingerprint = fingerprintOf(certificate.certificate);
  const { line } = await greetParent(await dial({ ...door, fingerprint }), child, { ...WORDS, token: 'pass' });
  const heard: Frame[] = [];
  const ended = new Promise<{ why: string; said: string | undefined }>(resolve => {
    line.listen({ frame: frame => heard.push(frame), ended: (_, why, said) => resolve({ why, said }) });
  });
  return {
    ...{ line, lines, taken, heard, ended },
    claim(errand, given = child) {
      const bytes = Buffer.from(errand);
      const issued = issueWarrant(home.identity, { errand, levels: 1, deadline: 1, bytes }, a.identity.key);
      const warrant = encodeWarrant(extendWarrant(issued, a.identity, given.identity.key)!);
      return { kind: 'claim', errand, digest: hash('sha256', bytes), warrant };
    },
    async [Symbol.asyncDispose]() {
      line.destroy('the test ends');
      await door.close();
    },
  };
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise(resolve => setTimeout(resolve, 5));
}

test('parcels of an errand are taken once its warrant was shown, and acknowledged on the same line', async () => {
  using place = makePlace();
  await using reached = await reach(place.path);
  const { line, lines, taken, heard } = reached;
  line.send(parcel('x', 0)); // not shown yet
  line.send(reached.claim('x'));
  line.send(parcel('x', 0, 'forged/name'));
  line.send({ kind: 'give-up', errand: 'y', why: 'not its own' });
  line.send(parcel('x', 1));
  await until(() => taken.length === 2);
  assert.deepEqual(
    taken,
    [0, 1].map(sequence => ({ errand: 'x', sequence, by: 'b' })),
  );
  assert.deepEqual([...lines.paths], ['b']);
  lines.acknowledge('other', 5);
  lines.ended('x', 1);
  line.send(parcel('x', 2)); // it has ended
  line.send(reached.claim('z'));
  line.send({ kind: 'give-up', errand: 'z', why: 'started again' });
  await until(() => taken.length === 3 && heard.length === 1);
  assert.deepEqual(taken[2], { errand: 'z' });
  assert.deepEqual(heard, [{ kind: 'acknowledge', errand: 'x', sequence: 1 }]);
});

test('the warrant of another, and any frame that is no delivery, end the line', async () => {
  using place = makePlace();
  const bad: ((reached: Reached) => Frame)[] = [
    ({ claim }) => claim('x', makeSpeaker('another')),
    ({ claim }) => ({ ...claim('x'), errand: 'y' }),
    ({ claim }) => ({ ...claim('x'), warrant: new Uint8Array(3) }),
    () => ({ kind: 'want-code', code: 'c' }),
    () => ({ kind: 'status', news: { pages: 3 } }),
    () => ({ kind: 'want-pass', by: '', key: 'k' }),
  ];
  for (const [at, make] of bad.entries()) {
    await using reached = await reach(place.path);
    reached.line.send(make(reached));
    reached.line.send(parcel('x', 0));
    const { said } = await reached.ended;
    assert.equal(said, at === 2 ? 'bad-frame' : 'refused');
    assert.deepEqual(reached.taken, []);
    await until(() => reached.lines.paths.size === 0);
  }
});
