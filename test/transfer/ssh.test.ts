import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startUnpacker } from '../../src/home/unpack/unpacker.ts';
import type { Receiver } from '../../src/transfer/carrier.ts';
import { greetOutpost } from '../../src/transfer/entry/greeting.ts';
import { openSsh, spoolName } from '../../src/transfer/ssh/ssh.ts';
import { parseSsh } from '../../src/transfer/ssh/ssh-target.ts';
import { StreamCarrier } from '../../src/transfer/stream-carrier.ts';
import { checkCarrier, type Reached } from '../contracts/carrier.ts';
import { makePlace, makeSpeaker, welcomeOf } from './places.ts';
import { noSshd, openSshd } from './sshd.ts';

const missing = noSshd();
const node = dirname(process.execPath);

async function reach(receiver: Receiver): Promise<Reached> {
  const place = makePlace();
  const sshd = await openSshd(place.path, { node });
  const home = makeSpeaker('home');
  const spool = spoolName(home.identity.key, sshd.url);
  const stream = await openSsh(parseSsh(sshd.url), { spool, software: '0.0.0-test', command: sshd.command });
  const { line, hello } = await greetOutpost(stream, home, () => welcomeOf(home));
  const unpacker = startUnpacker({ directory: place.path, agentToken: 'skein' });
  const carrier = new StreamCarrier({ name: sshd.url, identity: home.identity, unpacker }, receiver);
  carrier.attach(line, hello);
  return {
    carrier,
    async close() {
      await carrier.close();
      await unpacker.close();
      while (readdirSync(sshd.temporary).length > 0) await new Promise(resolve => setTimeout(resolve, 50)); // nothing stays there
      await sshd[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

if (missing === '') checkCarrier('ssh', reach);

test('what keeps ssh from working is said in one sentence', { skip: missing || false }, async () => {
  using place = makePlace();
  await using sshd = await openSshd(place.path, { node });
  const options = { spool: 'x', software: '0.0.0-test', command: sshd.command };
  const target = parseSsh(sshd.url);
  const opening = (more: Partial<typeof options>, to = target) => openSsh(to, { ...options, ...more });
  await assert.rejects(opening({ command: ['no-such-ssh'] }), { code: 'refused', message: /ssh is not installed/ });
  await assert.rejects(opening({}, parseSsh(sshd.url.replace(/\d+$/, '1'))), { message: /refused/ });
  await assert.rejects(opening({}, parseSsh('ssh://no.such.machine.invalid')), { message: /cannot be used: .+\.$/ });
  writeFileSync(join(place.path, 'authorized'), '');
  await assert.rejects(opening({}), { code: 'refused', message: /Permission denied/ });
});

test('outposts are written as ssh URLs', () => {
  assert.deepEqual(parseSsh('ssh://me@near.example.org:2222/~/skein'), {
    url: 'ssh://me@near.example.org:2222/~/skein',
    destination: 'me@near.example.org',
    port: '2222',
    directory: '~/skein',
  });
  assert.equal(parseSsh('ssh://near').destination, 'near');
  assert.equal(parseSsh('ssh://[::1]:22').destination, '::1');
  for (const wrong of [
    'near',
    'http://near',
    'ssh://',
    'ssh://-oProxyCommand=x',
    'ssh://a b',
    'ssh://a:port',
    'ssh://a/~bob/x',
  ]) {
    assert.throws(() => parseSsh(wrong), { code: 'bad-option' });
  }
});

test('what a visit left behind that was killed is swept by the next', { skip: missing || false }, async () => {
  using place = makePlace();
  await using sshd = await openSshd(place.path, { node });
  const leave = (name: string, mark: string, text: string) => {
    mkdirSync(join(sshd.temporary, name));
    if (mark !== '') writeFileSync(join(sshd.temporary, name, mark), text);
  };
  const dead = String(spawnSync('true').pid);
  leave('skein-AbC123', 'pid', dead);
  leave('skein-spool-old', 'owner', `${dead} 1`);
  utimesSync(join(sshd.temporary, 'skein-spool-old', 'owner'), 1, 1);
  leave('skein-spool-new', 'owner', `${dead} 1`);
  leave('skein-aLive1', 'pid', String(process.pid));
  leave('skein-letter', '', '');
  const target = parseSsh(sshd.url);
  const stream = await openSsh(target, { spool: 'x', software: '0.0.0-test', command: sshd.command });
  const left = readdirSync(sshd.temporary).filter(
    name =>
      !/^skein-(?:spool-x|[A-Za-z0-9]{6})$/.test(name) ||
      name === 'skein-aLive1' ||
      name === 'skein-letter' ||
      name === 'skein-AbC123',
  );
  stream.on('error', () => {}).destroy();
  assert.deepEqual(left.sort(), ['skein-aLive1', 'skein-letter', 'skein-spool-new']);
});
