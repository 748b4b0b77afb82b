/** A watch of several machines that are one, of which some come and go meanwhile; real nats-server. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WELL_KNOWN } from '../../src/notices/site/discovery.ts';
import { noNats } from '../cluster/nats.ts';
import { pause } from './kills.ts';
import { html, openPages, type Pages, prose } from './pages.ts';
import { checkAllBooks, openCluster, visited } from './peers.ts';

const skip = noNats() || false;
const SERVERS = 10;
const crawlOptions = ['--allow-private', '--pace', '0', '--scope', '*', '--set', 'partitions=10', '--set', 'threads=1'];

interface Site {
  readonly pages: Pages;
  /** How often it was asked whether it tells of its changes; it never says, so that every machine asks once. */
  readonly sought: () => number;
}

async function openSites(stack: AsyncDisposableStack): Promise<Site[]> {
  return Promise.all(
    Array.from({ length: SERVERS }, async (_, i) => {
      const pages = stack.use(await openPages(`127.0.${60 + i}.1`));
      let sought = 0;
      pages.set('/', { body: html(`Front ${i}`, [prose(i)], ['/one.html']) });
      pages.set('/one.html', { body: html(`One ${i}`, [prose(100 + i)]) });
      pages.set(WELL_KNOWN, count => {
        sought = count + 1;
        return { status: 302, headers: { location: 'http://127.0.0.9:9/' } };
      });
      return { pages, sought: () => sought };
    }),
  );
}

describe('a watch', { skip }, () => {
  test('goes on while machines come and die, and what sites tell is asked by whoever has them', async () => {
    await using stack = new AsyncDisposableStack();
    const sites = await openSites(stack);
    const origins = sites.map(({ pages }) => pages.origin);
    await using cluster = await openCluster();
    await cluster.join('ann', [...origins.map(origin => `${origin}/`), ...crawlOptions]);
    await cluster.ended();
    cluster.peers.length = 0;
    const askedBy = async (machines: number, which: (origin: string) => boolean) => {
      const wanted = sites.filter(({ pages }) => which(pages.origin));
      while (!wanted.every(({ sought }) => sought() >= machines)) {
        for (const { name, running } of cluster.peers)
          assert.ok(running.child.exitCode === null || running.child.signalCode !== null, `${name} has ended`);
        await pause(50);
      }
      return wanted.length;
    };

    const ann = await cluster.join('ann', [], 'watch');
    await askedBy(1, () => true);
    const bob = await cluster.join('bob', [], 'watch');
    while (visited([bob]).size < 2) await pause(50);
    const moved = new Set([...visited([bob]).keys()].map(url => new URL(url).origin));
    assert.ok((await askedBy(2, origin => moved.has(origin))) > 0);

    bob.running.child.kill('SIGKILL');
    await askedBy(3, origin => moved.has(origin));
    ann.running.child.kill('SIGINT');
    const { code, stderr } = await ann.running.ended;
    assert.equal(code, 0, stderr);
    await checkAllBooks([ann], 'at the end');
    assert.equal([...visited([ann]).values()].filter(({ outcome }) => outcome !== 'failed').length, 2 * SERVERS);
  });
});
