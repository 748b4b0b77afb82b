/** One peer, filled and asked: `node peer.ts NAME PAGES`. Tells its parent how many pages it holds. */
import { join } from 'node:path';
import { ask, fill, QUERIES } from './measure.ts';
import { openPeer } from './peers.ts';
import { corpus } from './synthetic.ts';

const milliseconds = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;
const [name = '', documents = '0'] = process.argv.slice(2);
const peer = await openPeer(join(import.meta.dirname, '..', '..'), name);
const made = corpus(1);
const memory = () => Math.round(process.memoryUsage.rss() / 1e6);
const rates = await fill(
  Number(documents),
  made,
  batch => peer.put(batch),
  pages => process.send?.({ pages, processor: milliseconds(process.cpuUsage()), memory: memory() }),
);
console.log(`${peer.name}: ${rates}, ${memory()} MB of memory`);
for (const [kind, queries] of made.queries(QUERIES)) {
  if (kind === 'phrase' || kind === 'beginning') continue; // not in their language, or not comparable
  ask(kind, queries, query => peer.query(query));
  ask('… with snippets', queries, query => peer.query(query).map(page => peer.shown(page, query)));
}
process.exit(0);
