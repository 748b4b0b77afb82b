/** A mail server that answers with escapes and without end: what is kept of it is one short harmless line. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { NotDelivered } from '../../src/notify/channels/channel.ts';
import { mail } from '../../src/notify/channels/mail.ts';

test('what a mail server says is kept without escapes, and not at length', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.write(`554 \u001b[2J\u001b]0;mine\u0007\u202e${'no '.repeat(5000)}\r\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const at = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sender = mail({ kind: 'mail', to: ['a@geese.example'], from: 'b@geese.example', server: at });
    const message = { id: 'x', rule: 'prices', time: '', changes: [] };
    await assert.rejects(
      sender.send(message as unknown as Parameters<typeof sender.send>[0], new AbortController().signal),
      error =>
        error instanceof NotDelivered &&
        /refused it: Invalid greeting/.test(error.message) &&
        !/[\0-\x1f\u202e]/.test(error.message) &&
        error.message.length <= 300,
    );
  } finally {
    server.close();
  }
});
