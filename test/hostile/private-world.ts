/**
 * A small Internet in a network of its own that has loopback alone: public and private addresses, and a name server that
 * changes its mind. Run by private-world.test.ts inside `unshare`; `skein` is crawled with there, and what the private
 * addresses were asked for is printed. Usage: private-world.ts <place> <door of skein> <how>
 */
import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const [place = '', door = '', how = ''] = process.argv.slice(2);
const PUBLIC = ['8.8.4.4', '8.8.4.5'];
const PRIVATE = ['10.0.0.5', '192.168.7.7', '169.254.169.254', '172.16.3.4'];

execFileSync('ip', ['link', 'set', 'lo', 'up']);
for (const address of [...PUBLIC, ...PRIVATE]) execFileSync('ip', ['addr', 'add', `${address}/32`, 'dev', 'lo']);

const turns = new Map<string, number>();
/** Addresses of a name, by how often it was asked for. */
const names: Readonly<Record<string, (turn: number) => string[]>> = {
  'public.test': () => ['8.8.4.4'],
  'robots.test': () => ['8.8.4.5'],
  'private.test': () => ['10.0.0.5'],
  'metadata.test': () => ['169.254.169.254'],
  'rebind.test': turn => [turn % 2 === 0 ? '8.8.4.4' : '10.0.0.5'],
  'both.test': () => ['10.0.0.5', '8.8.4.5'],
};

const resolver = createSocket('udp4', (query, from) => {
  let at = 12;
  const labels: string[] = [];
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    at += 1 + query[at]!;
  }
  const name = labels.join('.').toLowerCase();
  const isA = query.readUInt16BE(at + 1) === 1;
  const turn = turns.get(name) ?? 0;
  if (isA) turns.set(name, turn + 1);
  const found = isA ? (names[name]?.(turn) ?? []) : [];
  const head = Buffer.from(query.subarray(0, at + 5));
  head.writeUInt16BE(names[name] ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(found.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  // A name of two bytes that points to the question, type A, class IN, no time to live.
  const answers = found.map(address =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  resolver.send(Buffer.concat([head, ...answers]), from.port, from.address);
});
await new Promise<void>(resolve => resolver.bind(53, '127.0.0.1', resolve));

const asked: string[] = [];
/** What the public addresses were asked for. */
const heard: string[] = [];
const moved: Readonly<Record<string, string>> = {
  'public.test/to-address': 'http://10.0.0.5/secret',
  'public.test/to-metadata': 'http://169.254.169.254/latest/meta-data',
  'public.test/to-name': 'http://private.test/secret',
  'public.test/to-rebind': 'http://rebind.test/secret',
  'public.test/moved.xml': 'http://192.168.7.7/sitemap.xml',
  'public.test/moved.png': 'http://172.16.3.4/picture.png',
  'public.test/.well-known/skein': 'http://10.0.0.5/skein',
  'public.test/.well-known/resourcesync': 'http://169.254.169.254/changelist.xml',
  'public.test/feed.xml': 'http://192.168.7.7/feed.xml',
  'public.test/hops': 'http://robots.test/hops',
  'robots.test/hops': 'http://metadata.test/hops',
  'robots.test/robots.txt': 'http://192.168.7.7/robots.txt',
};
const links = [
  ...['/to-address', '/to-metadata', '/to-name', '/to-rebind', '/hops', 'http://private.test/page'],
  ...['http://rebind.test/page', 'http://both.test/page', 'http://robots.test/page', 'http://[::ffff:10.0.0.5]/page'],
];
const faces = `<link rel="alternate" type="application/rss+xml" href="/feed.xml">
<link rel="hub" href="http://10.0.0.5/hub"><link rel="self" href="/topic.xml">`;
const home = `<title>Public</title>${faces}<img src="http://10.0.0.5/picture.png"><img src="/moved.png">
${links.map(link => `<a href="${link}">${link}</a>`).join(' ')}`;
for (const address of [...PUBLIC, ...PRIVATE]) {
  const server = createServer((request, response) => {
    (PRIVATE.includes(address) ? asked : heard).push(`${address} ${request.headers.host}${request.url}`);
    const challenge = new URL(request.url!, 'http://x').searchParams.get('hub.challenge');
    if (challenge !== null) return response.end(challenge);
    const to = moved[`${request.headers.host}${request.url}`];
    if (to !== undefined) return response.writeHead(302, { location: to }).end();
    const rules = 'Sitemap: http://10.0.0.5/sitemap.xml\nSitemap: http://public.test/moved.xml\n';
    const robots = request.url === '/robots.txt';
    response.writeHead(200, { 'content-type': robots ? 'text/plain' : 'text/html' });
    if (request.url === '/news') return response.end(`<title>News</title><p>${'herring '.repeat(20 + heard.length)}`);
    return response.end(robots ? rules : request.url === '/' ? home : `<title>${request.url}</title>a page`);
  });
  await new Promise<void>(resolve => server.listen(80, address, resolve));
}

const skein = (...words: string[]) => spawn(process.execPath, [door, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
function ended(child: ReturnType<typeof skein>): Promise<{ code: number | null; out: string; said: string }> {
  const [out, said]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes));
  return new Promise(resolve =>
    child.on('close', code =>
      resolve({ code, out: Buffer.concat(out).toString(), said: Buffer.concat(said).toString() }),
    ),
  );
}

const data = join(place, 'data');
if (how === 'pushes') {
  await pushes();
  console.log(JSON.stringify({ asked, heard }));
  process.exit(0);
}

/** What others are told, at addresses that a subscriber or a user named. */
async function pushes(): Promise<void> {
  await ended(skein('crawl', 'http://public.test/news', '--pace', '0', '--data', data));
  const hooks = [
    'private.test/hook',
    'metadata.test/',
    'rebind.test/hook',
    'public.test/to-address',
    'public.test/hook',
  ];
  // This one names the very address.
  hooks.push('10.0.0.5/named');
  const rules = hooks.map((hook, i) => ({ name: `rule-${i}`, channel: { kind: 'webhook', url: `http://${hook}` } }));
  mkdirSync(join(data, 'notify'));
  writeFileSync(join(data, 'notify', 'rules.json'), JSON.stringify(rules));
  await ended(skein('notify', 'run', '--data', data)); // a rule is about what comes after it
  await ended(skein('refresh', '--budget', '100%', '--pace', '0', '--data', data, '--set', 'second-look=0'));
  const folder = join(place, 'site');
  mkdirSync(folder);
  writeFileSync(join(folder, 'index.html'), '<title>Site</title>a page');
  const words = ['--public', 'http://site.test/', '--listen', '127.0.0.1:7722', '--hub', 'own'];
  const site = skein('site', folder, ...words, '--data', join(place, 'journal'));
  const at = 'http://127.0.0.1:7722/.well-known/skein';
  const begun = async () => (await fetch(at).catch(() => undefined))?.status === 200;
  while (!(await begun())) await new Promise(resolve => setTimeout(resolve, 100));
  const callbacks = ['10.0.0.5/', '[::ffff:10.0.0.5]/', '0x0a000005/', '167772165/', 'private.test/', 'metadata.test/'];
  callbacks.push(
    'rebind.test/',
    'rebind.test/2',
    'rebind.test/3',
    'public.test/to-address',
    'localhost/',
    'public.test/cb',
  );
  for (const callback of callbacks) {
    const form = { 'hub.mode': 'subscribe', 'hub.topic': 'http://site.test/.well-known/skein/atom.xml' };
    const body = new URLSearchParams({ ...form, 'hub.callback': `http://${callback}` });
    await fetch(`${at}/hub`, { method: 'POST', body });
  }
  const verified = () => heard.some(line => line.includes('public.test/cb?'));
  while (!verified()) await new Promise(resolve => setTimeout(resolve, 50));
  site.kill();
  await ended(site);
}

const seeds = ['http://public.test/', 'http://robots.test/', 'http://rebind.test/', 'http://both.test/'];
const crawl = ['crawl', ...seeds, '--scope', '*', '--pace', '0', '--set', 'images=store', '--data', data];
let outpost: ReturnType<typeof skein> | undefined;
if (how === 'outpost') {
  // Home opens everything; the owner of the outpost opens nothing.
  const made = await ended(skein('outpost', 'invite', '--listen', '127.0.0.1:7700', '--data', data, '--json'));
  const { token } = JSON.parse(made.out) as { token: string };
  outpost = skein('outpost', 'join', token, '--name', 'far', '--directory', join(place, 'far'), '--least-pace', '0');
  crawl.push('--allow-private', '--listen', '127.0.0.1:7700', '--set', 'threads=0', '--set', 'audit=0');
}
if (how === 'open') crawl.push('--allow-private');
const ran = await ended(skein(...crawl));
// The next process asks the name server anew, which now says something else.
const refresh = ['refresh', '--budget', '100%', '--pace', '0', '--data', data];
// Faces of the sites are looked for there, and a hub is asked to tell us.
refresh.push('--listen', '127.0.0.1:7711', '--set', 'public=http://127.0.0.1:7711', '--set', 'threads=1');
if (how === 'open') refresh.push('--allow-private');
if (how !== 'outpost') await ended(skein(...refresh));
outpost?.kill();
const pages = await ended(skein('pages', '--data', data, '--limit', '1000', '--json'));
console.log(JSON.stringify({ code: ran.code, said: ran.said, asked, pages: pages.out, turns: [...turns] }));
process.exit(0);
