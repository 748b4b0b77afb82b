/**
 * What a cluster costs and gives, with one real nats-server:
 *
 *   node bench/cluster.ts speed [peers …]   paced crawls with 1, 2, 4 and 8 peers, each with 16 servers, in network namespaces with
 *                                           lines of 10 Mbit/s: pages a second beside one machine's (needs root and iproute2)
 *   node bench/cluster.ts death [peers]     the same with 4, one is killed: how long its servers and those of others wait
 *   node bench/cluster.ts takeover [urls]   one of two peers knows a million URLs and is killed: how long until the other has all
 *   node bench/cluster.ts redis [urls]      the queue and the filter that people would use instead: what scrapy-redis keeps in a Redis
 *   node bench/cluster.ts cost [pages of a server] [pairs]
 *                                           full speed on one machine, with and without an engine in turns: processor time, bytes, messages
 *
 * Times of a busy machine are noise; ratios within a run, counts and bytes hold.
 */
import { join } from 'node:path';
import { noNats } from '../test/cluster/nats.ts';
import { type Cluster, openCluster } from '../test/journeys/peers.ts';
import { type Ran, start, workplace } from '../test/journeys/skein.ts';
import { openWeb, type Web } from '../test/web/web.ts';
import { redis } from './cluster/redis.ts';
import { takeover } from './cluster/takeover.ts';
import { addMachine, connect, disconnect, impossible, inWorld, run, serveRange } from './migration/network.ts';

if (noNats() !== '') {
  console.log(noNats());
  process.exit(0);
}

const crawlOf = (web: Web, pace: number) => [
  ...web.seeds,
  ...['--allow-private', '--pace', String(pace), '--scope', '*', '--set', 'partitions=16', '--set', 'threads=1'],
];

interface Printed {
  readonly pages: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}
const printed = ({ stdout }: Ran): Printed => JSON.parse(stdout.toString()) as Printed;

/** Bytes and messages that the engine's streams hold by now. */
async function engineSums({ nats }: Cluster): Promise<{ messages: number; bytes: number }> {
  const { openEngine } = await import('../src/cluster/engine.ts');
  const engine = await openEngine({ address: nats.address, name: 'bench' });
  let [messages, bytes] = [0, 0];
  for await (const { state } of engine.manager.streams.list()) {
    messages += state.messages;
    bytes += state.bytes;
  }
  await engine.close();
  return { messages, bytes };
}

/** Paced crawls in worlds of their own, one for each peer, with a line of 10 Mbit/s each. */
async function paced(...words: readonly string[]): Promise<void> {
  const why = impossible();
  if (why !== '') return console.log(`skipped: ${why}`);
  const most = Math.max(...words.filter(word => /^\d+$/.test(word)).map(Number));
  try {
    connect('');
    const names = Array.from({ length: most }, (_, i) => `peer${i}`);
    for (const name of names) addMachine(name, '10mbit');
    serveRange('10.79.0.0/16');
    const { output, child } = run(
      'site',
      join(import.meta.dirname, 'cluster', 'paced.ts'),
      JSON.stringify(names.map(inWorld)),
      ...words,
    );
    child.stdout?.pipe(process.stdout);
    await output;
  } finally {
    await disconnect();
  }
}

async function cost(pagesPerServer: number, pairs: number): Promise<void> {
  const webOptions = { seed: 9, servers: 16, pagesPerServer, addresses: true };
  for (const kind of Array.from({ length: pairs }, () => ['alone', 'cluster'] as const).flat()) {
    await using web = await openWeb(webOptions);
    if (kind === 'alone') {
      using place = workplace();
      const { pages, cpuSeconds } = printed(
        await start(['crawl', ...crawlOf(web, 0), '--data', place.path, '--json']).ended,
      );
      console.log(`alone:   ${pages} pages, ${((cpuSeconds / pages) * 1e6).toFixed(0)} us of the processor a page`);
    } else {
      await using cluster = await openCluster();
      await cluster.join('p0', crawlOf(web, 0));
      const { pages, cpuSeconds } = printed((await cluster.ended())[0]!);
      const { messages, bytes } = await engineSums(cluster);
      const perPage = `${(bytes / pages).toFixed(0)} bytes and ${(messages / pages).toFixed(3)} messages a page`;
      console.log(`cluster: ${pages} pages, ${((cpuSeconds / pages) * 1e6).toFixed(0)} us; ${perPage} in the engine`);
    }
  }
}

const [what = 'cost', ...rest] = process.argv.slice(2);
if (what === 'speed') await paced('speed', ...(rest.length > 0 ? rest : ['1', '2', '4', '8']));
else if (what === 'death') await paced('death', rest[0] ?? '4');
else if (what === 'takeover') await takeover(Number(rest[0] ?? 1_000_000));
else if (what === 'redis') await redis(Number(rest[0] ?? 1_000_000));
else await cost(Number(rest[0] ?? 250), Number(rest[1] ?? 2));
process.exit();
