/** A site whose face is for those with a certificate: home is refused, is given one, and shows it to that site alone. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { freePort } from '../free-port.ts';
import { folder, page, until } from '../site/site-here.ts';
import { fast, skein, start } from './skein.ts';

const long = Array.from({ length: 500 }, (_, i) => `word${(i * 7919) % 601}`).join(' ');

function makeKeys(context: TestContext, names: readonly string[]): string {
  const keys = folder(context);
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  for (const name of names) {
    const who = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', ['req', ...kind, ...who, '-keyout', `${name}.key`, '-out', `${name}.pem`], {
      ...{ cwd: keys, stdio: 'pipe' },
    });
  }
  return keys;
}

/** Another server of the collection, which would take any certificate; who showed one. */
async function openNosy(context: TestContext, keys: string) {
  const shown: string[] = [];
  const key = readFileSync(join(keys, 'server.key'));
  const cert = readFileSync(join(keys, 'server.pem'));
  const nosy = createSecureServer({ key, cert, requestCert: true, rejectUnauthorized: false }, (asked, response) => {
    const { subject } = (asked.socket as TLSSocket).getPeerCertificate();
    if (subject) shown.push(String(subject.CN));
    if (asked.url !== '/') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Nosy', 'Who are you?'));
  });
  await new Promise<void>(resolve => nosy.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    nosy.closeAllConnections();
    nosy.close();
  });
  return { shown, origin: `https://127.0.0.1:${(nosy.address() as AddressInfo).port}` };
}

test('a site that wants a certificate is shown the one that was given for it, and nobody else is', async context => {
  const keys = makeKeys(context, ['server', 'reader', 'stranger']);
  const file = (name: string) => join(keys, name);
  let words = 'first';
  const web = createServer((asked, response) => {
    if (asked.url !== '/') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Front', `${long} ${words}`));
  });
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
  context.after(() => web.close());
  const nosy = await openNosy(context, keys);
  const port = await freePort();
  const origin = `https://127.0.0.1:${port}`;
  const behind = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const served = ['--certificate', file('server.pem'), '--key', file('server.key'), '--client-ca', file('reader.pem')];
  const where = ['--public', `${origin}/`, '--listen', `127.0.0.1:${port}`, '--data', join(folder(context), 'site')];
  const site = start(['site', '--upstream', behind, '--front', '--every', '1', ...served, ...where]);
  context.after(async () => {
    site.child.kill('SIGKILL');
    await site.ended;
  });
  const data = join(folder(context), 'home');
  const trusting = { within: ['env', `NODE_EXTRA_CA_CERTS=${file('server.pem')}`] };
  const run = async (...line: string[]) => {
    const { code, stdout, stderr } = await skein([...line, '--data', data], trusting);
    return { code, text: stdout.toString(), stderr };
  };
  const cursor = async () => {
    const { text } = await run('subscriptions', '--json');
    const rows = text
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as Record<string, unknown>);
    return rows.find(row => row['kind'] === 'cursor' && row['server'] === origin);
  };
  await until(async () => {
    const { code } = await run('crawl', `${origin}/`, `${nosy.origin}/`, '--set', 'partitions=4', ...fast);
    return code === 0;
  });
  /** A round may end before the site was asked: rounds go on until it was. */
  const refreshUntil = (wanted: (row: Record<string, unknown> | undefined) => boolean) =>
    until(async () => {
      await run('refresh', '--budget', '100', ...fast);
      return wanted(await cursor());
    });
  await refreshUntil(row => row?.['trouble'] === 'it requires a certificate');

  const give = (certificate: string, key: string) =>
    run('subscriptions', '--certificate', `${origin}=${file(certificate)}`, '--key', file(key));
  assert.match((await give('reader.pem', 'stranger.key')).stderr, /not that of the certificate/);
  assert.match((await give('reader.key', 'reader.key')).stderr, /cannot be read/);
  assert.equal((await give('stranger.pem', 'stranger.key')).code, 0);
  // The owner has not signed that one: it is shown, and refused.
  await refreshUntil(row => /certificate/.test(String(row?.['trouble'])));

  assert.equal((await give('reader.pem', 'reader.key')).code, 0);
  const kept = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter(name =>
    /certificates\.json$/.test(name),
  );
  assert.deepEqual(
    kept.map(name => statSync(join(data, name)).mode & 0o777),
    [0o600],
  );
  await refreshUntil(row => row?.['trouble'] === '' && row['state'] === 'telling');
  // The page may be visited before the site tells of it, so it changes until the site was first.
  await refreshUntil(row => {
    words += ' more';
    return Number(row?.['notices']) >= 1;
  });
  assert.match((await run('cat', `${origin}/`)).text, /more/);
  assert.deepEqual(nosy.shown, []);
});
