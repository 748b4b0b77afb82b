/** The guide's own commands and configuration: keys, certificates and three servers, and what each role may do there. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { Claims } from '../../src/cluster/claims.ts';
import { readEngineAddress } from '../../src/cluster/connection/address.ts';
import { openEngine } from '../../src/cluster/engine.ts';
import { idle } from '../../src/cluster/members/heartbeat.ts';
import { PeerMembers } from '../../src/cluster/members/members.ts';
import { changelogSubject } from '../../src/cluster/topology/layout.ts';
import { freePort } from '../free-port.ts';
import { root, skein } from '../journeys/skein.ts';
import { natsServer, noNats, startThree } from './nats.ts';

const skip = noNats() || false;
const guide = readFileSync(join(root, 'docs', 'guides', 'cluster.md'), 'utf8');

/** The block of the guide with this name, for this directory and this machine. */
function block(name: string, path: string): string {
  const text = new RegExp(`^\`\`\`\\w+ ${name}\\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1];
  assert.ok(text, `the guide has a block ${name}`);
  return text.replaceAll('/etc/skein', path).replaceAll(/[abc]\.example/g, 'localhost');
}

test('three servers with TLS, keys and rights work as the guide says', { skip }, async t => {
  const path = mkdtempSync(join(tmpdir(), 'skein-guide-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  const bin = join(path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'skein'), `#!/bin/sh\nexec "${process.execPath}" "${root}/bin/skein.js" "$@"\n`);
  chmodSync(join(bin, 'skein'), 0o755);
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
  const run = (name: string) =>
    execFileSync('bash', ['-euc', block(name, path)], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [peerKey, viewerKey] = run('keys').trim().split('\n');
  assert.match(peerKey!, /^U[A-Z2-7]{55}$/);
  run('certificates');
  const ports = [await freePort(), await freePort(), await freePort()];
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = ports.map((port, i) => {
    const config = block('nats', path)
      .replace('server_name: a', `server_name: n${i}`)
      .replace('0.0.0.0:4222', `127.0.0.1:${port}`)
      .replace('0.0.0.0:6222', `127.0.0.1:${routes[i]}`)
      .replace(/routes: \[.*\]/, `routes: [ ${routes.map(route => `"tls://localhost:${route}"`).join(', ')} ]`)
      .replace('/var/lib/nats', join(path, `n${i}`, 'store'))
      .replace('max_file: 200GB', 'max_file: 4GB')
      .replace('PEER_KEY', peerKey!)
      .replace('VIEWER_KEY', viewerKey!);
    return natsServer(join(path, `n${i}`), port, config);
  });
  t.after(() => Promise.all(servers.map(server => server.kill())));
  const url = (key: string, ca = `ca=${path}/ca.pem`) =>
    `tls://${ports.map(port => `localhost:${port}`).join(',')}?${ca}&nkey=${path}/${key}.nk`;
  await startThree(servers, readEngineAddress(url('peer')));

  const collection = { id: 'guide', partitions: 8 };
  await using engine = await openEngine({ address: readEngineAddress(url('peer')), name: 'p', collection });
  assert.equal(engine.replicas, 3);
  assert.ok(engine.connection.info?.tls_required);
  await using members = await PeerMembers.join({ engine, name: 'machine-1', clock: systemClock, load: () => idle });
  members.start();
  await using claims = await Claims.open(engine.buckets.owner, members, 8);
  assert.equal(await claims.take(3), 1);
  await engine.jetstream.publish(changelogSubject(engine.layout, 3), 'change');
  await engine.snapshots.putBlob({ name: 'p3/1-1' }, new Uint8Array(300_000));
  assert.equal((await engine.snapshots.getBlob('p3/1-1'))?.length, 300_000);
  await engine.manager.streams.purge('SKEIN_CHG_0', { seq: 1 });
  await assert.rejects(engine.manager.streams.delete('SKEIN_CHG_0'), 'a peer deletes nothing');

  const seen = await skein(['peers', '--engine', url('viewer'), '--json']);
  assert.equal(seen.code, 0, seen.stderr);
  const { peers } = JSON.parse(seen.stdout.toString());
  assert.deepEqual([peers[0].peer, peers[0].state, peers[0].partitions], ['machine-1', 'working', 1]);
  await using viewer = await openEngine({ address: readEngineAddress(url('viewer')), name: 'v' });
  await assert.rejects(viewer.buckets.meta.put('settings', 'x'), 'a viewer writes nothing');
  const joining = { engine: viewer, name: 'machine-2', clock: systemClock, load: () => idle };
  await assert.rejects(PeerMembers.join(joining), { message: /does not allow this key/ });

  execFileSync('bash', ['-euc', `cd ${path} && PATH=${bin}:$PATH && skein peers key stranger.nk`], { stdio: 'ignore' });
  for (const [wrong, sentence] of [
    [url('stranger'), /refuses this key or password/],
    [url('peer', ''), /do not trust each other's certificates/],
    [
      url('peer')
        .replace('tls:', 'nats:')
        .replaceAll('localhost', '127.0.0.1')
        .replace(/ca=[^&]*&/, ''),
      /certificates/,
    ],
  ] as const)
    await assert.rejects(openEngine({ address: readEngineAddress(wrong), name: 'x' }), { message: sentence });
});

test('every command and option that the guide names is one', async () => {
  const { commands } = await import('../../src/cli/commands.ts');
  const known = new Set(commands.map(({ usage }) => usage.split(' ', 1)[0]));
  for (const [, name] of guide.matchAll(/(?:^|`)skein (\w+)/gm)) assert.ok(known.has(name!), `skein ${name}`);
});
