/** Code that comes to an outpost: whose, which, and until when. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { makeIdentity } from '../../src/errand/keys.ts';
import { CodeStore, decodeCode, encodeCode, signCode } from '../../src/outpost/cages/code.ts';
import { randomly } from '../random.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-code-'));
after(() => rmSync(directory, { recursive: true }));

const NOW = 1_760_000_000_000;
const home = makeIdentity();
const bytes = Buffer.from('export default () => ({ keep: true })');
const terms = { name: 'decider', version: 3, expires: NOW + 1000 };
const open = (name: string, keys = [home.key]) => new CodeStore(join(directory, name), keys);

test('code of a trusted key is sent once and kept', () => {
  const code = decodeCode(encodeCode(signCode(home, bytes, terms)));
  const store = open('a');
  assert.equal(store.find(code.digest, NOW), undefined);
  store.take(code, bytes, NOW);
  assert.deepEqual(open('a').find(code.digest, NOW)?.bytes, bytes);
  assert.deepEqual(decodeCode(open('a').find(code.digest, NOW)!.terms), code);
  assert.equal(open('a').find(code.digest, NOW + 2000), undefined, 'past its date it has to be sent again');
  assert.equal(open('a', []).find(code.digest, NOW), undefined);
});

test('strangers, forgeries, other contents and old dates are refused', () => {
  const code = signCode(home, bytes, terms);
  const refuses = (name: string, work: (store: CodeStore) => void, why: RegExp) =>
    assert.throws(() => work(open(name)), { code: 'refused', message: why });
  refuses('b', store => store.take(signCode(makeIdentity(), bytes, terms), bytes, NOW), /does not trust/);
  refuses('b', store => store.take({ ...code, version: 9 }, bytes, NOW), /signature/);
  refuses('b', store => store.take({ ...code, key: makeIdentity().key }, bytes, NOW), /does not trust/);
  refuses('b', store => store.take(code, Buffer.from('something else'), NOW), /contents/);
  refuses('b', store => store.take(code, bytes, NOW + 2000), /expired/);
  assert.throws(() => open('b', []).take(code, bytes, NOW), { code: 'refused' });
});

test('an older version does not come back, not even after a restart', () => {
  const newer = signCode(home, Buffer.from('newer'), { ...terms, version: 4 });
  const older = signCode(home, bytes, terms);
  open('c').take(older, bytes, NOW);
  open('c').take(newer, Buffer.from('newer'), NOW);
  assert.equal(open('c').find(older.digest, NOW), undefined);
  assert.throws(() => open('c').take(older, bytes, NOW), { code: 'refused', message: /older than 4/ });
  // Another name has versions of its own.
  open('c').take(signCode(home, bytes, { ...terms, name: 'other', version: 1 }), bytes, NOW);
});

test('a home that signs ever more names fills no disk', () => {
  const named = (name: string) => signCode(home, bytes, { ...terms, name });
  for (let i = 0; i < 20; i++) open('f').take(named(`code-${i}`), bytes, NOW);
  assert.throws(() => open('f').take(named('code-20'), bytes, NOW), { code: 'refused', message: /too many names/ });
  assert.throws(() => open('g').take(named('n'.repeat(10_000)), bytes, NOW), { code: 'refused' });
  open('f').take(named('code-3'), bytes, NOW);
});

test('contents that the disk changed are not run', () => {
  const code = signCode(home, bytes, terms);
  open('d').take(code, bytes, NOW);
  writeFileSync(join(directory, 'd', code.digest), 'evil');
  assert.equal(open('d').find(code.digest, NOW), undefined);
});

test('1,000 mutations of a signed name are refused', () => {
  const random = randomly(5);
  const whole = encodeCode(signCode(home, bytes, terms));
  for (let i = 0; i < 1000; i++) {
    const mutant = Uint8Array.from(whole);
    const at = random.below(mutant.length);
    mutant[at] = mutant[at]! ^ (1 + random.below(255));
    assert.throws(() => open('e').take(decodeCode(mutant), bytes, NOW), SkeinError);
  }
});
