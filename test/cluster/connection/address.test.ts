import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SkeinError } from '../../../src/base/errors.ts';
import { readEngineAddress } from '../../../src/cluster/connection/address.ts';
import { isTooOld } from '../../../src/cluster/connection/version.ts';

const SEED = `SU${'A'.repeat(56)}`;

describe('the address of an engine', () => {
  test('names servers, with ports and without', () => {
    const { servers, tls, shown } = readEngineAddress('nats://a,b.example:5000,[::1]:4223');
    assert.deepEqual(servers, ['a:4222', 'b.example:5000', '[::1]:4223']);
    assert.equal(tls, false);
    assert.equal(shown, 'nats://a:4222,b.example:5000,[::1]:4223');
  });

  test('carries user and password, and shows neither', () => {
    const address = readEngineAddress('nats://me:p%40ss:word@a,b');
    assert.equal(address.user, 'me');
    assert.equal(address.password, 'p@ss:word');
    assert.equal(address.shown, 'nats://a:4222,b:4222');
    assert.throws(
      () => readEngineAddress('nats://me:secret@a b'),
      (error: SkeinError) => !/secret/.test(error.message),
    );
  });

  test('reads the files that it names', t => {
    const path = mkdtempSync(join(tmpdir(), 'skein-address-'));
    t.after(() => rmSync(path, { recursive: true }));
    const file = (name: string, text: string) => {
      writeFileSync(join(path, name), text);
      return join(path, name);
    };
    const pem = '-----BEGIN CERTIFICATE-----\n';
    const [ca, cert, key] = ['ca', 'cert', 'key'].map(name => file(name, pem));
    const nkey = file('peer.nk', `# peer\n${SEED}\n`);
    const full = readEngineAddress(`tls://a?ca=${ca}&cert=${cert}&key=${key}&nkey=${nkey}`);
    assert.deepEqual([full.ca, full.cert, full.key, full.nkey, full.tls], [pem, pem, pem, SEED, true]);
    assert.equal(readEngineAddress(`nats://me@a?password=${file('pw', 'secret\n')}`).password, 'secret');
    for (const wrong of [
      `nats://a?cert=${cert}`,
      `nats://a?nkey=${ca}`,
      `nats://a?ca=${nkey}`,
      `nats://a?ca=${path}/none`,
      `nats://me@a?nkey=${nkey}`,
      `nats://a?password=${nkey}`,
    ])
      assert.throws(() => readEngineAddress(wrong), badOption);
  });

  test('is refused in a sentence when it cannot be read', () => {
    for (const wrong of [
      '',
      'a',
      'http://a',
      'nats://',
      'nats://a,,b',
      'nats://a:0',
      'nats://a:99999',
      'nats://a b',
      'nats://a/path',
      'nats://a?what=1',
      'nats://%zz@a',
      `nats://${Array(40).fill('a').join(',')}`,
    ])
      assert.throws(() => readEngineAddress(wrong), badOption, wrong);
  });
});

function badOption(error: unknown): boolean {
  assert.ok(error instanceof SkeinError);
  assert.equal(error.code, 'bad-option');
  assert.match(error.message, /^[A-Z"].*\.$/s);
  assert.ok(error.hint);
  return true;
}

test('servers below 2.10.23 are too old', () => {
  for (const old of ['2.9.10', '2.10.22', '1.99.99', '', 'x', '2.10']) assert.ok(isTooOld(old), old);
  for (const good of ['2.10.23', '2.10.27', '2.11.0', '2.15.1', '3.0.0', '2.12.0-RC.1', 'v2.10.23'])
    assert.ok(!isTooOld(good), good);
});
