/** A cluster that copies its archive to S3: a machine burns, and what it had fetched is read from the copies. */
import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { noNats } from '../cluster/nats.ts';
import { noSwift, type S3Server, startS3 } from '../home/offsite/s3-server.ts';
import { openWeb } from '../web/web.ts';
import { pause } from './kills.ts';
import { checkAllBooks, openCluster, type RunningPeer, visited } from './peers.ts';
import { skein, skeinJson, workplace } from './skein.ts';

const skip = noNats() || noSwift;

/** Resolves when S3 has new pieces of two partitions that a peer has: pages of both that were fetched by now are there. */
async function copiedOnce(server: S3Server, { data }: RunningPeer): Promise<void> {
  const pieces = async () => {
    const own = new Set(globSync(join(data, 'partitions', '*')).map(directory => Number(basename(directory))));
    const names = await server.names('pages');
    return names.filter(name => own.has(Number(/partition-(\d+)\/segment/.exec(name)?.[1] ?? -1)));
  };
  const known = new Set(await pieces());
  const partitionOf = (name: string) => name.replace(/\/segment.*/, '');
  for (;;) {
    const fresh = (await pieces()).filter(name => !known.has(name));
    if (new Set(fresh.map(partitionOf)).size >= 2) return;
    await pause(100);
  }
}

if (skip) test('a cluster with its archive in S3', { skip }, () => {});
else {
  let server: S3Server;
  before(async () => {
    server = await startS3();
    await server.makeBucket('pages');
    Object.assign(process.env, server.environment);
  });
  after(async () => server[Symbol.asyncDispose]());

  test('a machine burns, and the others read what it had from the copies', async t => {
    await using web = await openWeb({ seed: 81, servers: 8, pagesPerServer: 30, latency: 10, addresses: true });
    await using cluster = await openCluster();
    const terms = ['--allow-private', '--pace', '0.5', '--scope', '*', '--set', 'partitions=8', '--set', 'threads=1'];
    const ann = await cluster.join('ann', [...web.seeds, ...terms, '--archive', 's3://pages/crawl']);
    const bob = await cluster.join('bob');
    while (visited([ann]).size < 40) await pause(100);
    await copiedOnce(server, ann);
    ann.running.child.kill('SIGKILL');
    await ann.running.ended;
    const had = [...visited([ann]).values()].filter(({ outcome }) => outcome === 'fetched');
    rmSync(ann.data, { recursive: true });
    const said = [
      ...(await cluster.ended([ann]))[0]!.stderr.matchAll(/(\d+) stored pages were on a machine that is gone/g),
    ];
    const lost = said.reduce((sum, [, count]) => sum + Number(count), 0);
    // Nobody but S3 had these when the machine burned, and nobody has asked for them since.
    const copied = had.map(({ url }) => url).filter(url => web.requests(url) === 1);
    t.diagnostic(`ann had ${had.length} pages; ${copied.length} of them were in S3, ${lost} were fetched again`);
    assert.ok(copied.length > 0, 'what S3 had is not fetched again');
    const pages = [...visited([bob]).values()].filter(({ outcome }) => outcome === 'fetched' || outcome === 'same');
    assert.deepEqual(
      pages
        .map(({ url }) => url)
        .filter(url => !/\/sitemap[^/]*$/.test(url))
        .sort(),
      web.mustFind(),
    );
    await checkAllBooks([bob], 'with pages in S3');
    const read = await skein(['cat', copied[0]!, '--data', bob.data]);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout.toString(), /<html/i);
    assert.equal((await skeinJson('status', '--data', bob.data))['notCopied'], 0);
    const verified = await skein(['verify', '--data', bob.data]);
    assert.equal(verified.code, 0, verified.stdout.toString() + verified.stderr);
    const exported = await skein(['export', '--format', 'jsonl', '--data', bob.data]);
    for (const url of copied) assert.ok(exported.stdout.includes(JSON.stringify(url)), `${url} is exported`);
  });

  test("a place that takes nothing, or is another collection's, is one sentence, and the engine hears nothing of it", async () => {
    await using cluster = await openCluster();
    using place = workplace();
    const words = ['crawl', 'http://127.0.0.1:1/', '--engine', cluster.nats.url, '--allow-private', '--data'];
    const nowhere = await skein([...words, join(place.path, 'one'), '--archive', 's3://nowhere/x']);
    assert.match(nowhere.stderr, /There is no bucket nowhere at 127/);
    assert.match((await skein(['peers', '--engine', cluster.nats.url])).stderr, /The engine holds no crawl yet\./);
    await skein([
      ...words.slice(0, 2),
      '--allow-private',
      '--data',
      join(place.path, 'alone'),
      '--archive',
      's3://pages/x',
    ]);
    const others = await skein([...words, join(place.path, 'two'), '--archive', 's3://pages/x']);
    assert.notEqual(others.code, 0);
    assert.match(others.stderr, /s3:\/\/pages\/x holds the archive of another collection\./);
    assert.doesNotMatch(others.stderr, /should not happen|at .*\.ts/);
  });
}
