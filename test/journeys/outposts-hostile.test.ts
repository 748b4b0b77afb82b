/**
 * A real home sends a real standing outpost code that tries everything that code should not do. Nothing of it succeeds,
 * home hears of each attempt, and the outpost goes on: in the same crawl, and with an honest errand after it.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { wasm } from '../outpost/wasm-module.ts';
import { invite, startOutpost } from './outpost-processes.ts';
import { lookInto, pagesOf, type Ran, skeinJson, start, workplace } from './skein.ts';

/** What the code tries at the page of that name, and what home is told. */
interface Attempt {
  readonly code: string;
  readonly report: RegExp;
}

function attempts(secret: string, target: string, port: number): Record<string, Attempt> {
  const text = JSON.stringify;
  return {
    read: { code: `fs.readFileSync(${text(secret)})`, report: /may not do: FileSystemRead \S+secret/ },
    write: { code: `fs.writeFileSync(${text(target)}, 'x')`, report: /may not do: FileSystemWrite/ },
    socket: {
      code: `await new Promise(done => net.connect(${port}, '127.0.0.1').on('close', done))`,
      report: /may not do: Net/,
    },
    process: { code: `child.execFileSync('/node', ['--version'])`, report: /may not do: ChildProcess/ },
    memory: {
      code: 'for (const held = []; ; ) held.push(new Array(1e5).fill(held))',
      report: /heap|memory|ended|longer/,
    },
    spin: { code: 'for (;;);', report: /took longer than 2000 milliseconds/ },
    forge: { code: 'process.stdout.write(forged)', report: /wrote to standard output/ },
  };
}

function hostile(all: Record<string, Attempt>): string {
  const cases = Object.entries(all).map(([name, { code }]) => `if (url.endsWith('/${name}')) { ${code}; return; }`);
  return `import fs from 'node:fs';
import net from 'node:net';
import child from 'node:child_process';
const visit = JSON.stringify({ url: 'http://victim.example/', outcome: 'fetched', reason: 'ok', status: 200, depth: 0 });
const forged = Buffer.concat([Buffer.of(visit.length, 0, 0, 0, 1, 2, 3, 4, 3), Buffer.from(visit)]);
export default async ({ url }) => {
  ${cases.join('\n  ')}
  await 0;
};`;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('hostile code fails at everything, is reported, and the outpost goes on', async context => {
  if (!existsSync('/usr/bin/bwrap')) return context.skip('bubblewrap is not installed');
  using place = workplace();
  let knocks = 0;
  const trap = createServer(() => knocks++);
  const secret = join(place.path, 'secret');
  const target = join(place.path, 'written');
  writeFileSync(secret, 'the secret');
  const all = attempts(secret, target, await listen(trap));
  const site = createHttpServer((request, response) => {
    response.writeHead(request.url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' });
    response.end(`<title>${request.url}</title><p>All about ${request.url} and the geese that live there.`);
  });
  const origin = `http://127.0.0.1:${await listen(site)}`;
  const data = join(place.path, 'home');
  const port = await freePort();
  const outpost = await startOutpost('far', place.path, await invite(data, port));
  const crawl = (decider: string, ...paths: string[]): Promise<Ran> => {
    const seeds = paths.map(path => `${origin}/${path}`);
    const far = ['--data', data, '--set', 'threads=0', '--listen', `127.0.0.1:${port}`, '--decider', decider];
    return start(['crawl', ...seeds, ...far, '--allow-private', '--pace', '0', '--json']).ended;
  };
  try {
    const code = join(place.path, 'hostile.js');
    writeFileSync(code, hostile(all));
    const ran = await crawl(code, 'first', ...Object.keys(all), 'last');
    assert.equal(ran.code, 0, ran.stderr);
    for (const [name, { report }] of Object.entries(all)) {
      const line = ran.stderr.split('\n').find(each => each.endsWith(`It was at ${origin}/${name}.`));
      assert.match(line ?? `nothing about ${name} in: ${ran.stderr}`, report);
    }
    const pages = await pagesOf(data);
    for (const name of Object.keys(all)) assert.equal(pages.get(`${origin}/${name}`)?.reason, 'decider', name);
    assert.deepEqual(
      ['first', 'last'].map(name => pages.get(`${origin}/${name}`)?.outcome),
      ['fetched', 'fetched'],
    );
    assert.equal(
      [...pages.keys()].find(url => !url.startsWith(origin)),
      undefined,
      'a forged visit was believed',
    );
    assert.equal(knocks, 0);
    assert.equal(existsSync(target), false);
    const { machines } = await skeinJson<{ machines: { trouble: string }[] }>('outposts', '--data', data);
    assert.match(machines[0]!.trouble, /The decider was ended/);

    const honest = join(place.path, 'honest.wasm');
    writeFileSync(honest, wasm([0x41, 0x80, 0x06])); // keeps and follows
    const after = await crawl(honest, 'honest');
    assert.equal(after.code, 0, after.stderr);
    assert.doesNotMatch(after.stderr, /decider/);
    using look = lookInto(data);
    assert.match(Buffer.from(look.body(`${origin}/honest`)).toString(), /All about \/honest/);
    const kept = readdirSync(join(outpost.directory, 'parcels-code')).filter(name => /^[0-9a-f]{64}$/.test(name));
    const sent = [readFileSync(code), readFileSync(honest)];
    const stored = kept.map(name => readFileSync(join(outpost.directory, 'parcels-code', name)));
    assert.deepEqual(stored.map(String).sort(), sent.map(String).sort());
  } finally {
    await outpost.kill();
    trap.close();
    site.closeAllConnections();
    site.close();
  }
});
