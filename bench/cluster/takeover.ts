/**
 * One peer knows so many URLs, another one next to none; the first is killed. How long until the other has them all, and
 * asks their servers again?
 */

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openEngine } from '../../src/cluster/engine.ts';
import { type ClusterView, viewCluster } from '../../src/cluster/view.ts';
import { pause } from '../../test/journeys/kills.ts';
import { openCluster } from '../../test/journeys/peers.ts';

const SERVERS = 64;
/** Entries of a sitemap. */
const MOST = 10_000;
/** Seconds between two requests to a server. */
const PACE = 2;

interface Listed {
  readonly origin: string;
  readonly server: Server;
  /** When a page was asked for last, by performance.now(). */
  last: number;
}

/** A server whose sitemaps list so many pages. */
async function openListed(number: number, pages: number): Promise<Listed> {
  let origin = '';
  const maps = Array.from({ length: Math.ceil(pages / MOST) }, (_, i) => `/map${i}.xml`);
  const server = createServer((request, answer) => {
    const path = request.url ?? '';
    const map = maps.indexOf(path);
    if (path === '/robots.txt') {
      answer.end(`User-agent: *\nAllow: /\n${maps.map(each => `Sitemap: ${origin}${each}\n`).join('')}`);
    } else if (map >= 0) {
      answer.setHeader('content-type', 'application/xml');
      const entries = Array.from({ length: Math.min(MOST, pages - map * MOST) }, (_, i) => {
        const page = map * MOST + i;
        return `<url><loc>${origin}/shelf-${page % 97}/some-title-of-a-page-${page}.html</loc></url>`;
      });
      answer.end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`);
    } else {
      listed.last = performance.now();
      answer.setHeader('content-type', 'text/html');
      answer.end(`<html><title>${path}</title><body><p>This is what stands at ${path}.</p></body></html>`);
    }
  });
  await new Promise<void>(resolve => server.listen(0, `127.0.${30 + number}.1`, resolve));
  const { address, port } = server.address() as AddressInfo;
  origin = `http://${address}:${port}`;
  const listed: Listed = { origin, server, last: 0 };
  return listed;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const memoryOf = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;

function knownBy({ peers }: ClusterView, name: string) {
  const { heartbeat } = peers.find(peer => peer.name === name) ?? {};
  return { pages: heartbeat?.pages ?? 0, lag: heartbeat?.changelogLag ?? 0 };
}

export async function takeover(urls: number): Promise<void> {
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, (_, i) => openListed(i, Math.ceil(urls / SERVERS))),
  );
  await using cluster = await openCluster();
  await using engine = await cluster
    .join('old', crawlOf(servers))
    .then(() => openEngine({ address: cluster.nats.address, name: 'bench', looks: true }));
  const old = cluster.peers[0]!;
  const start = performance.now();
  for (;;) {
    const { pages, lag } = knownBy(await viewCluster(engine), 'old');
    if (pages >= urls && lag === 0) break;
    await pause(500);
  }
  console.log(
    `${urls} URLs known to one peer after ${seconds(performance.now() - start)}; it has ${memoryOf(old.running.child.pid).toFixed(0)} MB of memory`,
  );
  // It may have next to nothing.
  const heir = await cluster.join('heir', ['--capacity', '0.01']);
  await pause(5000);
  const before = heldBy(await viewCluster(engine), 'heir');
  const idle = memoryOf(heir.running.child.pid);
  old.running.child.kill('SIGKILL');
  const died = performance.now();
  let claimed = 0;
  for (;;) {
    const view = await viewCluster(engine);
    if (claimed === 0 && heldBy(view, 'heir') === engine.layout.partitions) claimed = performance.now() - died;
    const { pages } = knownBy(view, 'heir');
    if (claimed > 0 && pages >= urls && servers.every(({ last }) => last > died + 9000)) break;
    await pause(250);
    if (performance.now() - died > 300_000) {
      const { pages } = knownBy(view, 'heir');
      console.log(`not after ${seconds(performance.now() - died)}: ${heldBy(view, 'heir')} partitions, ${pages} pages`);
      break;
    }
  }
  const back = performance.now() - died;
  console.log(
    `the other had ${before} of ${engine.layout.partitions} partitions; after the kill it had claimed all after ${seconds(claimed)},`,
  );
  console.log(
    `knew all and had asked every server again after ${seconds(back)} (10 s of it are the wait for a sign of life);`,
  );
  console.log(`its memory: ${idle.toFixed(0)} MB before, ${memoryOf(heir.running.child.pid).toFixed(0)} MB after`);
  for (const { server } of servers) server.close().closeAllConnections();
}

const heldBy = ({ claims }: ClusterView, name: string) => claims.filter(claim => claim?.peer === name).length;

function crawlOf(servers: readonly Listed[]): string[] {
  const seeds = servers.map(({ origin }) => `${origin}/`);
  return [
    ...seeds,
    ...['--allow-private', '--pace', String(PACE), '--scope', '*', '--set', 'threads=1', '--set', 'per-server=1000000'],
  ];
}
