/** The owner's ceilings of one page and of all pages on their way, as bytes come; and a pause before threads that die at once. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { openFetcher } from '../../src/crawler/fetch/fetcher.ts';
import type { Answer } from '../../src/crawler/stages.ts';
import { gated } from '../../src/outpost/owner/counted-fetcher.ts';
import { Meter } from '../../src/outpost/owner/meter.ts';
import { WorkerPool } from '../../src/outpost/workers/worker-pool.ts';
import { serve } from '../crawler/fetch-server.ts';
import { plainErrand } from '../errand/plain-errand.ts';

const MEGABYTE = 1 << 20;

test('a page ends at the ceiling, and all pages on their way at theirs, whatever the errand allows', async t => {
  /** Pages of 3 MB without their last byte. It comes when only as many are left as can be on their way together. */
  const held: Socket[] = [];
  let cut = 0;
  const finish = () => {
    if (cut >= 6) for (const socket of held.splice(0)) socket.write(' ');
  };
  const server = await serve(t, (socket, request) => {
    const length = Number(/^GET \/(\d+)/.exec(request)?.[1]);
    socket.on('error', () => {}); // it is cut off
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nContent-Type: text/html\r\n\r\n`);
    socket.write(Buffer.alloc(length - 1, 32));
    if (length !== 3 * MEGABYTE) return void socket.write(' ');
    held.push(socket);
    socket.once('close', () => {
      cut++;
      finish();
    });
    finish();
  });
  const meter = new Meter();
  const plain = openFetcher({ userAgent: 'Skein/0' });
  t.after(() => plain.close());
  const fetcher = gated(plain, {
    meter: meter.shared,
    ceilings: () => ({ bodyBytes: 4 * MEGABYTE, memory: 6 * MEGABYTE }),
    open: async () => {},
    exhausted: () => {},
  });
  const ask = (length: number) =>
    fetcher.fetch({ url: `${server.origin}/${length}`, maxBytes: 2 ** 53 - 1, allowPrivate: true });
  const sizeOf = (answer: Answer) => (answer.kind === 'response' ? answer.body.length : answer.reason);
  assert.equal(sizeOf(await ask(MEGABYTE)), MEGABYTE);
  assert.equal(sizeOf(await ask(64 * MEGABYTE)), 4 * MEGABYTE, 'one page');
  const many = await Promise.all(Array.from({ length: 8 }, () => ask(3 * MEGABYTE)));
  const whole = many.filter(answer => sizeOf(answer) === 3 * MEGABYTE).length;
  assert.ok(whole <= 2, `${whole} of 8 pages of 3 MB fit into 6 MB at once`);
  assert.ok(many.every(answer => [3 * MEGABYTE, 'reset'].includes(sizeOf(answer))));
  assert.equal(sizeOf(await ask(3 * MEGABYTE)), 3 * MEGABYTE, 'and there is room again');
});

test('threads that end as soon as they start are started again after a pause that grows', {
  timeout: 120_000,
}, async () => {
  const failed: string[] = [];
  const options = {
    ...{ userAgent: 'Skein/0', agentToken: 'skein' },
    fetcher: { module: 'data:text/javascript,process.exit(7)', options: {} },
  };
  const pool = new WorkerPool(
    1,
    options as ConstructorParameters<typeof WorkerPool>[1],
    {
      parcel: () => {},
      trouble: () => {},
      failed: (_, why) => void failed.push(why),
    } as ConstructorParameters<typeof WorkerPool>[2],
  );
  try {
    const errand = plainErrand('k3-1', 'http://127.0.0.1:9');
    // Where threads were started again at once, this would go on until the time of the test is over.
    while (!failed.includes('its threads end as soon as they start')) {
      pool.send(errand, new Uint8Array());
      await new Promise(resolve => setTimeout(resolve, 25));
    }
  } finally {
    await pool.close();
  }
});
