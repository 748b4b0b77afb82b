/** Archive segments go from one peer to another over a real nats-server. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectTo } from '../../src/cluster/connection/connect.ts';
import { fetchSegments, serveSegments } from '../../src/cluster/peer/moving-segments.ts';
import { segmentsSubject } from '../../src/cluster/topology/layout.ts';
import { noNats, openNats } from './nats.ts';

test('segments come whole, in pieces, and their owner hears when it has all', {
  skip: noNats() || false,
}, async context => {
  await using nats = await openNats();
  const root = mkdtempSync(join(tmpdir(), 'skein-moving-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const [here, there] = [join(root, 'a'), join(root, 'b')];
  mkdirSync(join(here, 'archive'), { recursive: true });
  const large = Buffer.alloc(1_300_000, 'abc');
  writeFileSync(join(here, 'archive', 'segment-000001.warc.gz'), large);
  writeFileSync(join(here, 'archive', 'segment-000002.warc.gz'), '');
  writeFileSync(join(here, 'archive', 'secret.txt'), 'not yours');
  const owner = await connectTo(nats.address, { name: 'ann' });
  const heir = await connectTo(nats.address, { name: 'bob' });
  const done: number[] = [];
  const directoryOf = (partition: number) => (partition === 7 ? here : undefined);
  using _serving = serveSegments(owner, 'ann', { directoryOf, done: partition => void done.push(partition) });
  await owner.flush();
  const wanted = new Map([
    [1, large.length],
    [2, 0],
  ]);
  const to = (name: string) => ({ directory: join(root, name), wanted });
  assert.equal(await fetchSegments(heir, 'ann', 7, to('b')), large.length);
  assert.deepEqual(readdirSync(join(there, 'archive')), ['segment-000001.warc.gz', 'segment-000002.warc.gz']);
  assert.equal(Buffer.compare(readFileSync(join(there, 'archive', 'segment-000001.warc.gz')), large), 0);
  assert.deepEqual(done, [7]);
  assert.equal(await fetchSegments(heir, 'ann', 8, to('c')), 0, 'she never had it');
  assert.equal(await fetchSegments(heir, 'eve', 7, to('d')), 0, 'nobody of that name is there');
  for (const file of ['secret.txt', '../../etc/passwd', 'segment-1.warc.gz']) {
    const question = JSON.stringify({ ask: 'piece', partition: 7, file, offset: 0 });
    await assert.rejects(heir.request(segmentsSubject('ann'), question, { timeout: 200 }), 'no answer');
  }
  // A segment that goes away between the look into the directory and the look at the file.
  symlinkSync(join(root, 'gone'), join(here, 'archive', 'segment-000003.warc.gz'));
  assert.equal(await fetchSegments(heir, 'ann', 7, to('f')), large.length, 'the others come');
  assert.deepEqual(readdirSync(join(root, 'f', 'archive')), ['segment-000001.warc.gz', 'segment-000002.warc.gz']);
  // A disk that fails: no answer, and nobody deletes what was not given.
  rmSync(join(here, 'archive'), { recursive: true });
  writeFileSync(join(here, 'archive'), 'no directory');
  done.length = 0;
  assert.equal(await fetchSegments(heir, 'ann', 7, to('g')), 0);
  assert.deepEqual(done, []);
  // One who has a segment that nobody speaks of, and more of another than was ever committed.
  const liar = await connectTo(nats.address, { name: 'lea' });
  const asked: unknown[] = [];
  liar.subscribe(segmentsSubject('lea'), {
    callback: (_, message) => {
      const question = message.json<{ ask: string }>();
      asked.push(question);
      const list = [1, 9].map(id => ({ file: `segment-00000${id}.warc.gz`, bytes: 2 ** 50 }));
      message.respond(question.ask === 'list' ? JSON.stringify(list) : Buffer.alloc(900_000));
    },
  });
  await liar.flush();
  assert.equal(await fetchSegments(heir, 'lea', 7, to('e')), large.length);
  assert.deepEqual(readdirSync(join(root, 'e', 'archive')), ['segment-000001.warc.gz']);
  assert.equal(readFileSync(join(root, 'e', 'archive', 'segment-000001.warc.gz')).length, large.length);
  assert.equal(asked.length, 4, 'the list, two pieces, and that it is done');
  // What came before the heir was killed is not asked for again.
  asked.length = 0;
  assert.equal(await fetchSegments(heir, 'lea', 7, to('e')), large.length);
  assert.equal(asked.length, 2, 'the list, and that it is done');
  for (const each of [owner, heir, liar]) await each.close();
});

test('where the disk of the heir ends nothing is taken for whole, and the owner keeps it', {
  skip: noNats() || false,
}, async context => {
  await using nats = await openNats();
  const root = mkdtempSync(join(tmpdir(), 'skein-moving-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const [here, disk] = [join(root, 'a'), join(root, 'disk')];
  mkdirSync(join(here, 'archive'), { recursive: true });
  mkdirSync(disk);
  const large = Buffer.alloc(700_000, 'abc');
  writeFileSync(join(here, 'archive', 'segment-000001.warc.gz'), large);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600k', 'skein-test', disk], { stdio: 'pipe' });
  } catch {
    return context.skip('a small file system can only be mounted by root');
  }
  using _mounted = { [Symbol.dispose]: () => execFileSync('umount', [disk]) };
  const owner = await connectTo(nats.address, { name: 'ann' });
  const heir = await connectTo(nats.address, { name: 'bob' });
  const done: number[] = [];
  using _serving = serveSegments(owner, 'ann', { directoryOf: () => here, done: each => void done.push(each) });
  await owner.flush();
  const came = fetchSegments(heir, 'ann', 7, { directory: disk, wanted: new Map([[1, large.length]]) });
  await assert.rejects(came, { code: 'ENOSPC' });
  assert.deepEqual([done, readdirSync(join(disk, 'archive'))], [[], []]);
  for (const each of [owner, heir]) await each.close();
});
