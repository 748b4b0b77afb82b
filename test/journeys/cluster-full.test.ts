/** A cluster whose engine has no room any more, and one in which the disk of a machine is full: nothing is lost. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { type ClusterEngine, openEngine } from '../../src/cluster/engine.ts';
import { viewCluster } from '../../src/cluster/view.ts';
import { noNats } from '../cluster/nats.ts';
import { openWeb, type Web } from '../web/web.ts';
import { pause } from './kills.ts';
import { checkAllBooks, openCluster, type RunningPeer, requests, visited } from './peers.ts';

const skip = noNats() || false;

const crawlOf = (web: Web) => [
  ...web.seeds,
  ...['--allow-private', '--pace', '0.2', '--scope', '*', '--set', 'partitions=8', '--set', 'threads=1'],
];

/** What must be found is there, once. */
function checkWhole(web: Web, peers: readonly RunningPeer[]): void {
  const found = visited(peers);
  assert.deepEqual(
    web.mustFind().filter(url => !found.has(url)),
    [],
    'nothing is missing',
  );
  assert.deepEqual(
    [...found.values()].filter(({ places }) => places.length > 1),
    [],
    'each page is at one peer',
  );
}

/** Lets the changelogs take so many bytes more than they hold; undefined = as many as before. */
async function room({ manager }: ClusterEngine, before: Map<string, number>, more?: number): Promise<void> {
  for await (const { config, state } of manager.streams.list()) {
    if (!config.name.startsWith('SKEIN_CHG_')) continue;
    if (!before.has(config.name)) before.set(config.name, config.max_bytes);
    const bytes = more === undefined ? before.get(config.name)! : state.bytes + more;
    await manager.streams.update(config.name, { max_bytes: bytes });
  }
}

function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'pipe' });
    return true;
  } catch {
    return false; // no right, or no such tool: the test says that it is skipped
  }
}

describe('without room', { skip }, () => {
  test('an engine that is full holds the peers up and says why; with room they go on, and nothing is lost', async t => {
    await using web = await openWeb({ servers: 8, pagesPerServer: 60, seed: 21, latency: 5, addresses: true });
    await using cluster = await openCluster();
    const peers = [await cluster.join('ann', crawlOf(web)), await cluster.join('bob')];
    await using engine = await openEngine({ address: cluster.nats.address, name: 'test', looks: true });
    const before = new Map<string, number>();
    await requests(web, 40);
    await room(engine, before, 2000);
    await peers[0]!.running.says('The engine takes no changes (The engine has no room for more changes.).');
    const stopped = web.requests();
    await pause(3000);
    assert.ok(web.requests() - stopped < 20, 'what is under way ends, and nothing else begins');
    await room(engine, before);
    await cluster.ended();
    checkWhole(web, peers);
    await checkAllBooks(peers, 'after a full engine');
    t.diagnostic(`asked for twice: ${web.mustFind().filter(url => web.requests(url) > 1).length}`);
  });

  test('a machine whose disk fills gives its partitions to the others, and nothing is lost', async t => {
    await using web = await openWeb({ servers: 8, pagesPerServer: 60, seed: 22, latency: 5, addresses: true });
    await using cluster = await openCluster();
    const ann = await cluster.join('ann', crawlOf(web));
    const small = join(dirname(ann.data), 'eve');
    mkdirSync(small);
    if (!mount('-t', 'tmpfs', '-o', 'size=200m', 'skein-test', small)) {
      t.skip('a small file system can only be mounted by root');
      return;
    }
    using _mounted = { [Symbol.dispose]: () => execFileSync('umount', ['-l', small]) };
    const eve = await cluster.join('eve');
    while (visited([eve]).size < 5) await pause(50);
    // Something else takes the room: what is left is less than a fiftieth.
    const { bavail, bsize } = statfsSync(small);
    writeFileSync(join(small, 'other'), Buffer.alloc(bavail * bsize - 3_000_000));
    await using engine = await openEngine({ address: cluster.nats.address, name: 'test', looks: true });
    for (;;) {
      assert.equal(eve.running.child.exitCode, null, 'it goes on, without partitions');
      const { claims, peers } = await viewCluster(engine);
      const { heartbeat } = peers.find(({ name }) => name === 'eve') ?? {};
      if (heartbeat?.capacity === 0 && claims.every(claim => claim?.peer === 'ann')) break;
      await pause(200);
    }
    rmSync(join(small, 'other'));
    await cluster.ended();
    checkWhole(web, [ann, eve]);
    await checkAllBooks([ann, eve], 'after a full disk');
    t.diagnostic(`asked for twice: ${web.mustFind().filter(url => web.requests(url) > 1).length}`);
  });
});
