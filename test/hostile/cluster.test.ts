/** Somebody with a peer's key floods the engine beside two peers that crawl: with garbage, bombs, forgeries; real nats-server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { noNats } from '../cluster/nats.ts';
import { checkAllBooks, openCluster, visited } from '../journeys/peers.ts';
import { randomly } from '../random.ts';
import { openWeb } from '../web/web.ts';

const PARTITIONS = 8;
/** Milliseconds of flood. */
const FLOOD = 6000;
const MOST_BYTES = 900_000;

const random = randomly(20);
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

const heartbeat = (name: string, more: object) =>
  json({
    ...{ name, session: '0123456789abcdef', beat: 1, protocol: 1, skein: '0.1.0', phase: 'working', capacity: 1 },
    ...{ pages: 1, servers: 1, rate: 1, partitions: 1, moving: [], changelogLag: 0, exchangeLag: 0, ...more },
  });

function links(from: number, first: number, packed: Uint8Array): Uint8Array {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(0x534b5831, 0);
  head.writeUInt32BE(from, 4);
  head.writeDoubleBE(first, 8);
  return Buffer.concat([head, packed]);
}

const bomb = deflateRawSync(Buffer.alloc(200_000_000), { level: 9 });
const address = () => random.pick(['127.0.0.1', 'x'.repeat(64), '__proto__']);

/** What goes to the subjects that peers listen on. */
const MESSAGES: readonly (() => Uint8Array)[] = [
  () => random.bytes(2000),
  () => Buffer.from(random.garbage(500)),
  () => Buffer.from('['.repeat(200_000) + ']'.repeat(200_000)),
  () => new Uint8Array(MOST_BYTES),
  () => json({}),
  () => json(null),
  () => new Uint8Array(0),
  () => links(random.below(PARTITIONS + 2), 1 + random.below(5), deflateRawSync(random.bytes(500))),
  () => links(0, 1, bomb),
  () => links(1, Number.MAX_SAFE_INTEGER, deflateRawSync(Buffer.from([0, 0, 0, 2, 1, 2]))),
  () => links(2, 2 ** 40, deflateRawSync(Buffer.alloc(80_000))),
  () => heartbeat(`evil${random.below(2000)}`, { phase: 'leaving' }),
  () => heartbeat('ann', { phase: 'bye' }),
  () => heartbeat('bob', { session: 'ffffffffffffffff' }),
  () =>
    json({ name: random.pick(['ask', 'export', 'workbench', 'obey', '__proto__']), args: random.pick([null, [], {}]) }),
  () => json({ name: 'ask', args: { name: 'pages', args: { limit: 1e9 }, partitions: [0, 1, 4095] } }),
  () => json({ peer: 'evil', asks: [{ address: address(), pace: 3_600_000, held: 10_000 }], back: [] }),
];

/** What goes into the engine's buckets. */
const VALUES: readonly (() => string)[] = [
  () => random.garbage(100),
  () => '{}',
  () => '{"peer":"evil","session":"x","epoch":3}',
  () => '{"peer":null,"session":"","epoch":281474976710656}',
  () => '{"last":1e15,"orders":{}}',
  () => 'x'.repeat(500_000),
];

function key(bucket: string): string {
  if (bucket === 'skein_meta') return random.pick(['crawl', 'run', 'steering', 'budget-crawl']);
  return bucket === 'skein_peers' ? random.pick(['ann', 'zed']) : `p.${random.below(PARTITIONS)}`;
}

test('whoever writes garbage into an engine delays the crawl, and takes nothing from it', {
  skip: noNats() || false,
}, async () => {
  await using web = await openWeb({ servers: 8, pagesPerServer: 20, seed: 77, latency: 5, addresses: true });
  await using cluster = await openCluster();
  const crawl = ['--allow-private', '--pace', '0.3', '--scope', '*', '--set', `partitions=${PARTITIONS}`];
  const ann = await cluster.join('ann', [...web.seeds, ...crawl, '--set', 'threads=1']);
  const bob = await cluster.join('bob');
  const { connect } = await import('@nats-io/transport-node');
  const [{ Kvm }, { jetstream }] = [await import('@nats-io/kv'), await import('@nats-io/jetstream')];
  const connection = await connect({ servers: [...cluster.nats.address.servers] });
  const log = jetstream(connection);
  const names = ['skein_owner', 'skein_snapidx', 'skein_meta', 'skein_peers'] as const;
  const buckets = await Promise.all(names.map(name => new Kvm(log).open(name)));
  const kinds = ['hb', 'ask', 'lease', 'q', 'seg'];
  const subjects = kinds.flatMap(kind => [`${kind}.ann`, `${kind}.bob`]);
  for (let partition = 0; partition < PARTITIONS; partition++) subjects.push(`links.${partition}`);
  for (const start = performance.now(); performance.now() - start < FLOOD; ) {
    for (let i = 0; i < 20; i++)
      connection.publish(`skein.${random.pick(subjects)}`, random.pick(MESSAGES)(), { reply: `_INBOX.evil.${i}` });
    const which = random.below(names.length);
    await buckets[which]!.put(key(names[which]!), random.pick(VALUES)());
    await log.publish(`skein.g.0.${random.below(PARTITIONS)}`, random.bytes(3000));
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  await connection.close();
  await cluster.ended();
  const found = visited([ann, bob]);
  assert.deepEqual(
    web.mustFind().filter(url => !found.has(url)),
    [],
  );
  assert.deepEqual(
    [...found.values()].filter(({ places }) => places.length > 1),
    [],
  );
  await checkAllBooks([ann, bob], 'after the flood');
});
