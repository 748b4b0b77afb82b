/** Who asks at a public port, and that nobody takes all of its places. */
import assert from 'node:assert/strict';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { askerOf, shareConnections } from '../../src/base/http.ts';

test('addresses of one network count as one asker, however they are written', () => {
  const alike = [
    ['2001:db8:0:0:1:2:3:4', '2001:db8::5:6:7:8', '2001:db8::1', '2001:DB8::', '2001:db8:0:0::9'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['fe80::1%eth0', 'fe80::2', 'fe80:0:0:0:ffff::'],
    ['::1', '::2'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ];
  for (const group of alike) assert.equal(new Set(group.map(askerOf)).size, 1, group.join(' '));
  assert.equal(new Set(alike.map(group => askerOf(group[0]!))).size, alike.length);
  assert.notEqual(askerOf('2001:db8:1:2::1'), askerOf('2001:db8:1:3::1'));
  for (const odd of ['', ':', ':::::::::', 'x'.repeat(100), '1::2::3']) assert.equal(typeof askerOf(odd), 'string');
});

test('whoever holds connections without a word keeps nobody else out', async () => {
  const server = createServer((_, response) => response.end('here'));
  shareConnections(server, { most: 40, alike: 15, isProxy: address => address === '127.0.0.9' });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (localAddress: string) =>
    new Promise<string>(resolve =>
      get({ host: '127.0.0.1', port, localAddress, agent: false }, answer => {
        answer.setEncoding('utf8').once('data', resolve);
      }).on('error', error => resolve((error as NodeJS.ErrnoException).code ?? '')),
    );
  const silent: Socket[] = [];
  /** Resolves when as many as should be are held, and the others were closed. */
  const hold = async (localAddress: string, count: number, closed: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let gone = 0;
    for (let i = 0; i < count; i++) {
      const socket = connect({ host: '127.0.0.1', port, localAddress });
      socket.on('error', () => {}); // closed by the other side
      socket.once('close', () => ++gone === closed && resolve());
      silent.push(socket);
    }
    if (closed > 0) await promise;
  };
  try {
    await hold('127.0.0.2', 30, 15);
    assert.equal(await ask('127.0.0.2'), 'ECONNRESET', 'its share is used up');
    assert.equal(await ask('127.0.0.3'), 'here');
    // A proxy may have many; when all places are taken, whoever has most of them makes room.
    await hold('127.0.0.9', 60, 35);
    assert.equal(await ask('127.0.0.3'), 'here');
    assert.equal(await ask('127.0.0.4'), 'here');
  } finally {
    for (const socket of silent) socket.destroy();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  }
});
