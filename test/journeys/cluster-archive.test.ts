/** A cluster that copies its archive to S3: a machine burns, and what it had fetched is read from the copies. */
import assert from 'node:assert/strict';
import { existsSync, globSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { segmentName } from '../../src/archive/segments.ts';
import { noNats } from '../cluster/nats.ts';
import { noSwift, type S3Server, startS3 } from '../home/offsite/s3-server.ts';
import { openWeb } from '../web/web.ts';
import { pause } from './kills.ts';
import { checkAllBooks, openCluster, type RunningPeer, visited } from './peers.ts';
import { skein, skeinJson, workplace } from './skein.ts';

const skip = noNats() || noSwift;

/** Pages of a peer whose stored copies lie in segments that its own disk does not have. */
function readElsewhere({ data }: RunningPeer): string[] {
  return globSync(join(data, 'partitions', '*', 'ledger.db')).flatMap(file => {
    using opened = new DisposableStack();
    const database = opened.adopt(new DatabaseSync(file, { readOnly: true, timeout: 5000 }), each => each.close());
    const stored = database
      .prepare('SELECT url, segment FROM known JOIN pages ON id = page WHERE segment IS NOT NULL')
      .all() as { url: string; segment: number }[];
    return stored
      .filter(({ segment }) => !existsSync(join(dirname(file), 'archive', segmentName(segment))))
      .map(({ url }) => url);
  });
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
    const copied = async () => (await server.names('pages')).filter(name => /partition-\d+\/segment/.test(name));
    while (visited([ann]).size < 40 || (await copied()).length < 8) await pause(100);
    ann.running.child.kill('SIGKILL');
    await ann.running.ended;
    const had = visited([ann]).size;
    rmSync(ann.data, { recursive: true });
    const said = [
      ...(await cluster.ended([ann]))[0]!.stderr.matchAll(/(\d+) stored pages were on a machine that is gone/g),
    ];
    const lost = said.reduce((sum, [, count]) => sum + Number(count), 0);
    const away = readElsewhere(bob);
    t.diagnostic(`ann had visited ${had}; ${away.length} of them are read from S3, ${lost} were fetched again`);
    assert.ok(away.length > 0, 'some pages are in S3 alone');
    assert.ok(lost < had, `${lost} of ${had} were fetched again`);
    const pages = [...visited([bob]).values()].filter(({ outcome }) => outcome === 'fetched' || outcome === 'same');
    assert.deepEqual(
      pages
        .map(({ url }) => url)
        .filter(url => !/\/sitemap[^/]*$/.test(url))
        .sort(),
      web.mustFind(),
    );
    await checkAllBooks([bob], 'with pages in S3');
    const read = await skein(['cat', away[0]!, '--data', bob.data]);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout.toString(), /<html/i);
    assert.equal((await skeinJson('status', '--data', bob.data))['notCopied'], 0);
    const verified = await skein(['verify', '--data', bob.data]);
    assert.equal(verified.code, 0, verified.stdout.toString() + verified.stderr);
    const exported = await skein(['export', '--format', 'jsonl', '--data', bob.data]);
    for (const url of away) assert.ok(exported.stdout.includes(JSON.stringify(url)), `${url} is exported`);
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
