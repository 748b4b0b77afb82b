import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connectTo } from '../../../src/cluster/connection/connect.ts';
import { noNats, openNats } from '../nats.ts';

const MINUTES = 60_000;

test('a connection comes back though somebody set the clock back', { skip: noNats() || false }, async t => {
  await using nats = await openNats();
  const connection = await connectTo(nats.address, { name: 'test' });
  try {
    const back = new EventTarget();
    void (async () => {
      for await (const { type } of connection.status()) if (type === 'reconnect') back.dispatchEvent(new Event(type));
    })();
    const { now } = Date;
    t.mock.method(Date, 'now', () => now() - 10 * MINUTES);
    const reconnected = once(back, 'reconnect', { signal: AbortSignal.timeout(20_000) });
    await nats.servers[0]!.kill();
    await nats.servers[0]!.start();
    await reconnected;
    assert.ok(!connection.isClosed());
  } finally {
    await connection.close();
  }
});
