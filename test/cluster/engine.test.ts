/** Opening an engine: what is made there, who is let in, and the sentence for each thing that may be wrong. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SkeinError } from '../../src/base/errors.ts';
import { readEngineAddress } from '../../src/cluster/connection/address.ts';
import { untilItPasses } from '../../src/cluster/connection/retry.ts';
import { type ClusterEngine, openEngine } from '../../src/cluster/engine.ts';
import { forgotten, readStreamMarks } from '../../src/cluster/topology/amnesia.ts';
import { changelogSubject, partitionOfSubject } from '../../src/cluster/topology/layout.ts';
import { freePort } from '../free-port.ts';
import { noNats, openNats } from './nats.ts';

const skip = noNats() || false;
const own = { id: 'collection-1', partitions: 64 };

async function refusedWith(opening: Promise<ClusterEngine>): Promise<SkeinError> {
  const error = await opening.then(
    engine => engine.close().then(() => assert.fail('opened')),
    (error: SkeinError) => error,
  );
  assert.equal(error.name, 'SkeinError', String(error));
  assert.ok(error.hint);
  return error;
}

test('without --engine no client is loaded', () => {
  // The whole command line, and the library, as a crawl loads them.
  const script = `
    const { registerHooks } = await import('node:module');
    registerHooks({ load(url, context, next) {
      if (url.includes('@nats-io') || url.includes('/src/cluster/')) console.log('loaded ' + url);
      return next(url, context);
    } });
    await import(${JSON.stringify(new URL('../../src/cli/commands/crawl.ts', import.meta.url).href)});
    await import(${JSON.stringify(new URL('../../src/engine/library/skein.ts', import.meta.url).href)});
  `;
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const args = ['--input-type=module', '-e', script];
  assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8', cwd }), '');
});

describe('one server', { skip }, () => {
  test('everything of a collection is made once, and found by the next peer', async () => {
    await using nats = await openNats();
    await using first = await openEngine({ address: nats.address, name: 'one', collection: own });
    assert.equal(first.replicas, 1);
    assert.equal(first.made.length, 4);
    await using second = await openEngine({ address: nats.address, name: 'two' });
    assert.deepEqual(second.made, []);
    assert.deepEqual(second.collection, first.collection);
    assert.equal(second.layout.partitions, 64);
    for (let partition = 0; partition < 64; partition++) {
      const subject = changelogSubject(second.layout, partition);
      assert.equal(partitionOfSubject(second.layout, subject), partition);
      await second.jetstream.publish(subject, 'x');
    }
    for (const wrong of ['skein.g.0.1', 'skein.g.0.64', 'skein.q.0.0', 'skein.g.0.0.0'])
      assert.equal(partitionOfSubject(second.layout, wrong), undefined);
    const { config } = await second.manager.streams.info('SKEIN_CHG_0');
    assert.equal(config.discard, 'new');
    // The server may store 4 GB: a stream gets what fits, not 20 GB.
    assert.ok(config.max_bytes >= 16e6 && config.max_bytes <= 4e9 / 8);
  });

  test('several peers that open an empty engine at once agree on one collection', async () => {
    await using nats = await openNats();
    const ids = ['a', 'b', 'c', 'd'];
    const opened = await Promise.allSettled(
      ids.map(id => openEngine({ address: nats.address, name: id, collection: { id, partitions: 4 } })),
    );
    const engines = opened.filter(result => result.status === 'fulfilled').map(({ value }) => value);
    assert.equal(engines.length, 1);
    for (const { reason } of opened.filter(result => result.status === 'rejected')) {
      assert.equal(reason.code, 'refused');
      assert.match(reason.message, /another collection/);
    }
    await engines[0]!.close();
  });

  test('several that begin a crawl at once, and have no files of any, are one', async () => {
    await using nats = await openNats();
    const ids = ['a', 'b', 'c', 'd'];
    const begin = (id: string) =>
      openEngine({ address: nats.address, name: id, collection: { id, partitions: 4, isNew: true } });
    const engines = await Promise.all(ids.map(begin));
    assert.equal(new Set(engines.map(({ collection }) => collection.id)).size, 1);
    await Promise.all(engines.map(engine => engine.close()));
  });

  test('another collection, another number of partitions, and none at all are refused', async () => {
    await using nats = await openNats();
    const { address } = nats;
    assert.equal((await refusedWith(openEngine({ address, name: 'p' }))).code, 'not-found');
    await using _ = await openEngine({ address, name: 'p', collection: own });
    const other = await refusedWith(openEngine({ address, name: 'p', collection: { ...own, id: 'collection-2' } }));
    assert.match(other.message, /another collection \(collection-1\).*\(collection-2\)/);
    const fewer = await refusedWith(openEngine({ address, name: 'p', collection: { ...own, partitions: 8 } }));
    assert.match(fewer.message, /64 partitions/);
  });

  test('a Skein of another protocol is refused, and both versions named', async () => {
    await using nats = await openNats();
    await using engine = await openEngine({ address: nats.address, name: 'p', collection: own });
    const entry = await engine.buckets.meta.get('collection');
    const newer = { ...entry!.json<object>(), protocol: 99, skein: '9.9.9' };
    await engine.buckets.meta.put('collection', JSON.stringify(newer));
    const error = await refusedWith(openEngine({ address: nats.address, name: 'q', collection: own }));
    assert.equal(error.code, 'version-mismatch');
    assert.match(error.message, /9\.9\.9 \(protocol 99/);
  });

  test('the engine that was wiped is noticed, and made anew for the same collection', async () => {
    await using nats = await openNats();
    const [server] = nats.servers;
    await using engine = await openEngine({ address: nats.address, name: 'p', collection: own });
    const { seq } = await engine.jetstream.publish(changelogSubject(engine.layout, 5), 'change');
    const marks = await readStreamMarks(engine.manager, engine.layout);
    const remembered = new Map([[5, { created: marks[1]!.created, sequence: seq }]]);
    assert.deepEqual(forgotten(engine.layout, marks, remembered), []);
    await server!.kill();
    server!.wipe();
    await server!.start();
    await using again = await openEngine({ address: nats.address, name: 'p', collection: own });
    assert.equal(again.made.length, 4);
    await again.jetstream.publish(changelogSubject(engine.layout, 5), 'other change');
    assert.deepEqual(forgotten(engine.layout, await readStreamMarks(again.manager, again.layout), remembered), [5]);
    // The old connection has found the server again by itself.
    await untilItPasses(() => engine.connection.flush());
  });

  test('no JetStream is one sentence', async () => {
    await using nats = await openNats({ jetstream: false });
    const error = await refusedWith(openEngine({ address: nats.address, name: 'p', collection: own }));
    assert.equal(error.code, 'bad-config');
    assert.match(error.message, /no JetStream/);
  });

  test('a wrong password and a wrong key are one sentence', async () => {
    const config = 'authorization { users: [ { user: "peer", password: "right" } ] }';
    await using nats = await openNats({ config });
    const url = (login: string) => readEngineAddress(nats.url.replace('//', `//${login}`));
    for (const login of ['peer:wrong@', 'other:right@', '']) {
      const error = await refusedWith(openEngine({ address: url(login), name: 'p', collection: own }));
      assert.equal(error.code, 'refused', error.message);
      assert.match(error.message, /refuses this key or password/);
      assert.ok(!/wrong|right/.test(error.message));
    }
    await using engine = await openEngine({ address: url('peer:right@'), name: 'p', collection: own });
    assert.equal(engine.made.length, 4);
  });

  test('tls:// is not satisfied by a server without', async () => {
    await using nats = await openNats();
    const error = await refusedWith(
      openEngine({ address: readEngineAddress(nats.url.replace('nats:', 'tls:')), name: 'p', collection: own }),
    );
    assert.equal(error.code, 'refused', error.message);
    assert.match(error.message, / has no TLS\./);
  });
});

test('nobody there, or somebody else, is one sentence', async t => {
  const address = readEngineAddress(`nats://127.0.0.1:${await freePort()}`);
  const none = await refusedWith(openEngine({ address, name: 'p', collection: own }));
  assert.equal(none.code, 'no-engine');
  const web: Server = createServer(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n').on('error', () => {}));
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
  t.after(() => web.close());
  const { port } = web.address() as { port: number };
  const other = readEngineAddress(`nats://127.0.0.1:${port}`);
  assert.equal((await refusedWith(openEngine({ address: other, name: 'p', collection: own }))).code, 'no-engine');
});

test('a program that listens there and says nothing is one sentence, and keeps nobody waiting after it', async t => {
  const closed = Promise.withResolvers<void>();
  const silent = createServer(socket => socket.on('error', () => {}).on('close', () => closed.resolve()));
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const { port } = silent.address() as { port: number };
  const address = readEngineAddress(`nats://127.0.0.1:${port}`);
  assert.equal((await refusedWith(openEngine({ address, name: 'p', collection: own }))).code, 'no-engine');
  await closed.promise;
});

test('an old server is refused, and the reason given', async t => {
  // What a server of that version says first; nothing more of it is needed.
  const old: Server = createServer(socket => {
    socket.on('error', () => {});
    socket.write('INFO {"server_id":"x","version":"2.9.10","max_payload":1048576,"proto":1,"headers":true}\r\n');
    socket.on('data', data => data.includes('PING') && socket.write('PONG\r\n'));
  });
  await new Promise<void>(resolve => old.listen(0, '127.0.0.1', resolve));
  t.after(() => old.close());
  const { port } = old.address() as { port: number };
  const address = readEngineAddress(`nats://127.0.0.1:${port}`);
  const error = await refusedWith(openEngine({ address, name: 'p', collection: own }));
  assert.equal(error.code, 'version-mismatch');
  assert.match(error.message, /nats-server 2\.9\.10; a cluster needs 2\.10\.23/);
});

describe('three servers', { skip }, () => {
  test('everything has three copies, and outlives any one server', async () => {
    await using nats = await openNats({ servers: 3 });
    await using engine = await openEngine({ address: nats.address, name: 'p', collection: { ...own, partitions: 16 } });
    assert.equal(engine.replicas, 3);
    const info = await engine.manager.streams.info('SKEIN_CHG_0');
    assert.equal(info.config.num_replicas, 3);
    const subject = changelogSubject(engine.layout, 3);
    const publish = (text: string) => untilItPasses(() => engine.jetstream.publish(subject, text, { msgID: text }));
    await publish('one');
    const leader = nats.servers.find(({ name }) => name === info.cluster?.leader)!;
    await leader.kill();
    await publish('two');
    assert.equal((await untilItPasses(() => engine.buckets.meta.get('collection')))?.operation, 'PUT');
    await leader.start();
    const last = await untilItPasses(() => engine.manager.streams.getMessage('SKEIN_CHG_0', { last_by_subj: subject }));
    assert.equal(last?.string(), 'two');
    assert.equal(last?.seq, 2);
  });
});
