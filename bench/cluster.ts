/**
 * What a cluster costs and gives, on loopback with one real nats-server:
 *
 *   node bench/cluster.ts speed [peers …]   a paced crawl with 1, 2 and 4 peers, with 16 servers for each: pages a second beside one machine's
 *   node bench/cluster.ts cost              full speed on one machine, with and without an engine: processor time, bytes, messages
 *
 * Times of a busy machine are noise; ratios within a run, counts and bytes hold.
 */
import { noNats } from '../test/cluster/nats.ts';
import { type Cluster, openCluster } from '../test/journeys/peers.ts';
import { type Ran, start, workplace } from '../test/journeys/skein.ts';
import { openWeb, type Web } from '../test/web/web.ts';

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

/** Pages a second between the first quarter of the requests and the last, by the web's own log: peers join, and servers end. */
function middleRate({ log }: Web): number {
  const [from, to] = [Math.floor(log.length / 4), Math.floor((3 * log.length) / 4)];
  return ((to - from) * 1000) / (log[to]!.time - log[from]!.time);
}

async function speed(counts: readonly number[]): Promise<void> {
  let one = 0;
  for (const count of counts) {
    // What one machine can do is bounded here by the servers it has, not by its line: each peer brings as many.
    await using web = await openWeb({ seed: 4, servers: 16 * count, pagesPerServer: 40, latency: 5, addresses: true });
    await using cluster = await openCluster();
    await cluster.join('p0', crawlOf(web, 0.5));
    for (let i = 1; i < count; i++) await cluster.join(`p${i}`);
    const ran = await cluster.ended();
    const pages = ran.reduce((sum, each) => sum + printed(each).pages, 0);
    const rate = middleRate(web);
    one ||= rate;
    console.log(`${count} peers: ${pages} pages, ${rate.toFixed(1)} a second, ${(rate / one).toFixed(2)} times one`);
  }
}

async function cost(): Promise<void> {
  const webOptions = { seed: 9, servers: 16, pagesPerServer: 250, addresses: true };
  for (const kind of ['alone', 'cluster', 'alone', 'cluster'] as const) {
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
if (what === 'speed') await speed(rest.length > 0 ? rest.map(Number) : [1, 2, 4]);
else await cost();
process.exit();
