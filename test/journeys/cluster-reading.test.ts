/** What any machine of a cluster tells, it tells of the whole collection; and it says when it cannot. Real nats-server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { openEngine } from '../../src/cluster/engine.ts';
import { viewCluster } from '../../src/cluster/view.ts';
import { exportWanted } from '../../src/engine/library/data-out.ts';
import { askWhole } from '../../src/engine/open-collection.ts';
import { exporterOf } from '../../src/export/formats.ts';
import { findHome } from '../../src/home/door.ts';
import type { OpenCollection } from '../../src/questions/collection.ts';
import { copyQuestion, readCopy } from '../../src/questions/page/copies.ts';
import { historyQuestion } from '../../src/questions/page/history.ts';
import { linksInQuestion, linksOutQuestion } from '../../src/questions/page/links.ts';
import { aboutUrl } from '../../src/questions/page/page.ts';
import { showQuestion } from '../../src/questions/page/show.ts';
import { whyQuestion } from '../../src/questions/page/why.ts';
import { lagQuestion } from '../../src/questions/search/parts.ts';
import { searchCollection } from '../../src/questions/search/searching.ts';
import { accountQuestion, accountWanted } from '../../src/questions/whole/account.ts';
import { changesListing } from '../../src/questions/whole/changes.ts';
import { pagesListing } from '../../src/questions/whole/pages.ts';
import { statusQuestion } from '../../src/questions/whole/status.ts';
import { verifyQuestion } from '../../src/questions/whole/verify.ts';
import { openWorkbench } from '../../src/workbench/server.ts';
import { noNats } from '../cluster/nats.ts';
import { openWeb, type Web } from '../web/web.ts';
import { pause } from './kills.ts';
import { type Cluster, openCluster, type RunningPeer, visited } from './peers.ts';
import { skein } from './skein.ts';

const skip = noNats() || false;

const crawlOf = (web: Web) => [
  ...web.seeds,
  ...['--allow-private', '--pace', '0.2', '--scope', '*', '--set', 'partitions=12', '--set', 'threads=1'],
];

/** Two peers that both have something, and stand still. */
async function twoPaused(cluster: Cluster, web: Web): Promise<[RunningPeer, RunningPeer]> {
  const ann = await cluster.join('ann', crawlOf(web));
  const bob = await cluster.join('bob');
  for (const { data } of [ann, bob])
    while (
      ((
        await findHome(data)
          ?.state()
          .catch(() => undefined)
      )?.pages ?? 0) < 10
    )
      await pause(50);
  await findHome(ann.data)!.order({ kind: 'pause' });
  await findHome(bob.data)!.order({ kind: 'pace', seconds: 0.05 });
  await standStill([ann, bob]);
  // An order is obeyed when all that came before is committed.
  for (const { data } of [ann, bob]) await findHome(data)!.order({ kind: 'pace', seconds: 0.05 });
  return [ann, bob];
}

/** What one of them was told has reached all. */
async function standStill(peers: readonly RunningPeer[]): Promise<void> {
  for (const { data } of peers) {
    for (;;) {
      const now = await findHome(data)
        ?.state()
        .catch(() => undefined);
      if (now?.state === 'paused' && now.settings.pace === 0.05 && now.underWay === 0) break;
      await pause(50);
    }
  }
}

/** Nothing moves, and what was found for others has reached them: links and their texts bear on what is searched. */
async function exchanged({ nats }: Cluster): Promise<void> {
  await using engine = await openEngine({ address: nats.address, name: 'test', looks: true });
  for (let quiet = false; !quiet; await pause(200)) {
    const { peers } = await viewCluster(engine);
    quiet = peers.every(
      ({ heartbeat: now }) => now && now.moving.length + now.exchangeLag + now.changelogLag === 0 && now.partitions > 0,
    );
  }
}

/** As it crosses to another machine: what is undefined is not there. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const FETCHED = { pattern: undefined, outcome: 'fetched', order: 'id', type: undefined, outOfScope: true } as const;

async function urlsOf(collection: OpenCollection): Promise<string[]> {
  const rows = await collection.some(pagesListing, { ...FETCHED, limit: 10_000 }, 10_000);
  return rows.map(({ page }) => String(page['url'])).sort();
}

async function exportedOf(collection: OpenCollection, data: string, format: string): Promise<Buffer> {
  const out = new PassThrough({ highWaterMark: 1e9 });
  await exporterOf(format).write(exportWanted(collection, data, { body: false }), out);
  out.end();
  return buffer(out);
}

type Told = Record<string, unknown>;

/** What the workbench of a machine answers. */
async function askWorkbench(port: number, path: string): Promise<{ status: number; told: Told }> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`);
  return { status: response.status, told: (await response.json()) as Told };
}

/** All rows of a list, part by part. */
async function listed(port: number, path: string, name: string): Promise<Told[]> {
  const all: Told[] = [];
  for (let after = ''; ; ) {
    const { status, told } = await askWorkbench(port, `${path}?limit=7${after}`);
    assert.equal(status, 200, JSON.stringify(told));
    all.push(...(told[name] as Told[]));
    if (told['next'] === null) return all;
    after = `&${name === 'changes' ? 'before' : 'after'}=${encodeURIComponent(String(told['next']))}`;
  }
}

/** Sums are those of all machines. */
async function checkSums(port: number, fetched: number): Promise<void> {
  const overview = (await askWorkbench(port, '/overview')).told as Told & { account: Told };
  const { visits, missing } = (await askWorkbench(port, '/changes/days')).told;
  const account = (await askWorkbench(port, '/account')).told as { causes: Told[]; days: Told[]; missing: string };
  const pages = account.causes.find(({ cause }) => cause === 'page');
  assert.equal(pages?.['visits'], fetched);
  assert.ok((account.days[0]?.['visits'] as number) >= fetched, JSON.stringify(account.days));
  assert.deepEqual(overview['account'], account);
  assert.equal(overview['visited'], fetched);
  assert.equal(overview['looks'], visits);
  assert.ok((visits as number) >= fetched);
  assert.deepEqual([missing, account.missing], ['', '']);
}

/** The workbench of a machine shows what another one has, as if it were here. */
async function checkWorkbench(data: string, urls: readonly string[], ofBob: string): Promise<void> {
  const workbench = await openWorkbench({ directory: data, port: 0, version: 'test' });
  const { port } = workbench;
  try {
    const pages = await listed(port, '/pages', 'pages');
    const fetched = pages.filter(({ outcome }) => outcome === 'fetched').map(({ url }) => String(url));
    assert.deepEqual(fetched.sort(), urls);
    assert.equal(new Set(pages.map(({ id }) => id)).size, pages.length, 'each once');
    const origins = new Set(urls.map(url => new URL(url).origin));
    const servers = (await listed(port, '/servers', 'servers')).map(({ origin }) => String(origin));
    assert.deepEqual(
      [...origins].filter(origin => !servers.includes(origin)),
      [],
    );
    const found = (await askWorkbench(port, `/find?url=${encodeURIComponent(ofBob)}`)).told;
    assert.equal(found['url'], ofBob);
    const id = found['id'] as number;
    assert.equal((await askWorkbench(port, `/pages/${id}`)).told['url'], ofBob);
    assert.equal((await askWorkbench(port, `/pages/${id}/why`)).told['url'], ofBob);
    const visits = (await askWorkbench(port, `/pages/${id}/visits`)).told['visits'] as Told[];
    assert.ok(visits.length > 0);
    const out = (await askWorkbench(port, `/pages/${id}/links?direction=out`)).told['links'] as Told[];
    assert.ok(out.length > 0);
    const { links } = (await askWorkbench(port, `/pages/${id}/links?direction=in`)).told as { links: Told[] };
    assert.ok(links.every(({ url }) => urls.includes(String(url))));
    const copy = await fetch(`http://127.0.0.1:${port}/copy/${visits.at(-1)!['id']}`);
    assert.match(await copy.text(), /<html/i);
    const { hits, missing } = (await askWorkbench(port, '/search?q=page')).told as { hits: Told[]; missing: string };
    assert.ok(hits.length > 0);
    assert.equal(missing, '');
    const { cluster } = (await askWorkbench(port, '/peers')).told as { cluster: { peers: Told[]; partitions: Told[] } };
    assert.deepEqual(
      cluster.peers.map(({ peer, state }) => [peer, state]),
      [
        ['ann', 'working'],
        ['bob', 'working'],
      ],
    );
    assert.equal(cluster.partitions.length, 12);
    await checkSums(port, urls.length);
  } finally {
    await workbench.close();
  }
}

describe('any machine of a cluster', { skip }, () => {
  test('has a workbench that shows the whole collection', async () => {
    await using web = await openWeb({ servers: 12, pagesPerServer: 300, seed: 12, addresses: true });
    await using cluster = await openCluster();
    const peers = await twoPaused(cluster, web);
    await exchanged(cluster);
    const fetched = [...visited(peers).values()].filter(({ outcome }) => outcome === 'fetched');
    const ofBob = fetched.find(({ places }) => places.some(place => place.startsWith('bob')))!.url;
    for (const { data } of peers) await checkWorkbench(data, fetched.map(({ url }) => url).sort(), ofBob);
    // Sums without somebody say so.
    peers[1].running.child.kill('SIGKILL');
    await peers[1].running.ended;
    const workbench = await openWorkbench({ directory: peers[0].data, port: 0, version: 'test' });
    const { told } = await askWorkbench(workbench.port, '/overview');
    await workbench.close();
    assert.ok((told['visited'] as number) < fetched.length);
    assert.match(JSON.stringify(told['attention']), /The peer bob does not answer: what it has is missing here\./);
  });

  test('speaks for the whole collection, and names who does not answer', async () => {
    await using web = await openWeb({ servers: 12, pagesPerServer: 300, seed: 11, addresses: true });
    await using cluster = await openCluster();
    const [ann, bob] = await twoPaused(cluster, web);
    await exchanged(cluster);
    const fetched = () => [...visited([ann, bob]).values()].filter(({ outcome }) => outcome === 'fetched');
    // Partitions may still be on their way to bob.
    for (let same = false; !same; await pause(100)) {
      await using collection = await askWhole(bob.data);
      same = (await urlsOf(collection)).join() === [...fetched().map(({ url }) => url)].sort().join();
    }
    const truth = fetched();
    const urls = truth.map(({ url }) => url).sort();
    const ofBob = truth.find(({ places }) => places.some(place => place.startsWith('bob')))!.url;
    const nowhere = join(ann.data, '..', 'nobody');
    const told: Record<string, unknown>[] = [];
    for (const [data, engine] of [[ann.data], [bob.data], [nowhere, cluster.nats.url]] as const) {
      await using collection = await askWhole(data, engine);
      assert.deepEqual(await urlsOf(collection), urls, data);
      const about = aboutUrl(ofBob, 1e12);
      const { copy } = await collection.ask(copyQuestion, { ...about, which: 'current' });
      while ((await collection.ask(lagQuestion, {})).behind > 0) await pause(50);
      const { hits } = await searchCollection(collection, 'page', { limit: 5, now: 1e12 });
      told.push({
        // Files grow by what is read: the log of an index, say.
        status: { ...(await collection.ask(statusQuestion, {})), diskBytes: 0 },
        account: await collection.ask(accountQuestion, accountWanted(0, collection.partitions)),
        verify: await collection.ask(verifyQuestion, {}),
        show: await collection.ask(showQuestion, about),
        why: await collection.ask(whyQuestion, about),
        history: await collection.ask(historyQuestion, about),
        links: [await collection.ask(linksInQuestion, about), await collection.ask(linksOutQuestion, about)],
        changes: await collection.some(changesListing, { since: 0, limit: 1000, first: true, template: true }, 1000),
        body: readCopy(copy!).decoded().bytes.toString(),
        found: hits.map(({ url, score }) => [url, score]),
      });
      assert.equal(collection.incomplete, '');
      if (data !== nowhere) continue;
      const exported = (await exportedOf(collection, data, 'jsonl')).toString().trim().split('\n');
      assert.deepEqual([...new Set(exported.map(line => JSON.parse(line).url as string))].sort(), urls);
      const warc = await exportedOf(collection, data, 'warc');
      assert.ok(warc.length > 1000);
      for (const format of ['csv', 'parquet', 'markdown'])
        assert.ok((await exportedOf(collection, data, format)).length > 1000, format);
    }
    for (const name of Object.keys(told[0]!))
      for (const other of told.slice(1)) assert.deepEqual(asJson(other[name]), asJson(told[0]![name]), name);
    assert.equal((told[0]!['status'] as { stored: number }).stored, urls.length);
    assert.deepEqual((told[0]!['verify'] as { problems: unknown[] }).problems, []);
    assert.match(String(told[0]!['body']), /<html/i);

    const order = await skein(['steer', 'retry', ofBob, '--data', ann.data]);
    assert.equal(order.code, 0, order.stderr);
    assert.match(order.stdout.toString(), /Skein retries it in a moment\. \(bob\)/);
    const unknown = await skein(['steer', 'retry', `${ofBob}?nobody=knows`, '--data', ann.data]);
    assert.match(unknown.stderr, /The collection does not know .*nobody=knows/);

    bob.running.child.kill('SIGKILL');
    await bob.running.ended;
    const [partly, missing] = await Promise.all([
      skein(['status', '--data', ann.data]),
      skein(['show', ofBob, '--data', ann.data]),
    ]);
    for (const { code, stderr } of [partly, missing]) {
      assert.equal(code, 8, stderr);
      assert.match(stderr, /The peer bob does not answer: what it has is missing here\./);
    }
    await standStill([await cluster.join('eve')]); // who joins sees what was ordered before
    await cluster.nats.servers[0]!.kill();
    const alone = await skein(['status', '--data', ann.data, '--json']);
    assert.equal(alone.code, 8, alone.stderr);
    assert.match(alone.stderr, /No engine answers .* This answer covers only this machine\./);
  });
});
