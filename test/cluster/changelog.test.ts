/** The changelog without an engine, and what it makes of bytes that nobody wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangelogWriter } from '../../src/cluster/changelog/changelog-writer.ts';
import { decodeEntry, encodeEntry } from '../../src/cluster/changelog/entry.ts';
import { checkChangelog } from '../contracts/changelog.ts';
import { randomly } from '../random.ts';
import { memoryChangelog } from './memory-changelog.ts';

checkChangelog('memory', async () => ({ ...memoryChangelog(), [Symbol.asyncDispose]: async () => {} }));

test('changes may be given again after an error, whatever became of the first attempt', async () => {
  const log = memoryChangelog();
  const writer = new ChangelogWriter(log, 0, { writer: { peer: 'ann', epoch: 1 }, sequence: 0, number: 0 });
  log.loseAnswers(1);
  const changes = { number: 1, bytes: new Uint8Array(10) };
  await assert.rejects(writer.append(changes));
  assert.equal(writer.acknowledged, 0);
  await writer.append(changes);
  assert.equal(writer.acknowledged, 1);
});

test('an entry is what was written, and anything else is refused', () => {
  const random = randomly(1);
  const entry = { writer: { peer: 'a-1', epoch: 9 }, number: 3, part: 1, parts: 2, time: 5, bytes: random.bytes(50) };
  const message = encodeEntry(entry);
  const { bytes, ...rest } = decodeEntry(message);
  const { bytes: written, ...told } = entry;
  assert.deepEqual(rest, told);
  assert.deepEqual(new Uint8Array(bytes), written);
  const bad = [
    new Uint8Array(0),
    message.subarray(0, 20),
    Buffer.from('nothing of the kind, but long enough to be looked at'),
    encodeEntry({ ...entry, writer: { peer: '', epoch: 1 } }),
    encodeEntry({ ...entry, writer: { peer: 'a.b', epoch: 1 } }),
    encodeEntry({ ...entry, part: 2 }),
    encodeEntry({ ...entry, parts: 60_000 }),
    encodeEntry({ ...entry, number: -1 }),
    encodeEntry({ ...entry, number: 1.5 }),
    encodeEntry({ ...entry, time: Number.NaN }),
    encodeEntry({ ...entry, bytes: new Uint8Array(600_000) }),
  ];
  for (const [i, each] of bad.entries()) assert.throws(() => decodeEntry(each), { code: 'damaged' }, `${i}`);
  for (let i = 0; i < 2000; i++) {
    const garbled = Uint8Array.from(message, byte => (random.below(20) === 0 ? random.below(256) : byte));
    try {
      decodeEntry(garbled);
    } catch (error) {
      assert.equal((error as { code: string }).code, 'damaged');
    }
  }
});
