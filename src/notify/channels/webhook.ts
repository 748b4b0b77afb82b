/**
 * A POST of JSON to the address that the user named. Redirects are not followed, and a name that leads to a private address
 * is not asked unless the rule says so: whoever answers for the name could point it at a machine behind this one.
 */
import { createHmac } from 'node:crypto';
import { namesAddress } from '../../base/domain.ts';
import { send } from '../../crawler/send.ts';
import type { Message } from '../message.ts';
import type { Channel } from '../rule.ts';
import { type MessageSender, NotDelivered } from './channel.ts';

/** Header `skein-signature: sha256=…`: HMAC of the time in `skein-time`, a dot and the body. */
function signatureOf(secret: string, time: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}

export function webhook({ url, secret, allowPrivate = false }: Extract<Channel, { kind: 'webhook' }>): MessageSender {
  return {
    async send(message: Message, signal: AbortSignal) {
      const body = JSON.stringify(message);
      const time = new Date().toISOString();
      const headers = {
        ...{ 'content-type': 'application/json', 'idempotency-key': message.id, 'skein-time': time },
        ...(secret !== undefined && { 'skein-signature': signatureOf(secret, time, body) }),
      };
      const sending = { method: 'POST', url, headers, body, signal } as const;
      const { status } = await send({ ...sending, allowPrivate: allowPrivate || namesAddress(url) }).catch(error => {
        throw new NotDelivered((error as Error).message.replace(/\.$/, ''));
      });
      if (status < 200 || status > 299) throw new NotDelivered(`${new URL(url).host} answers ${status}`);
    },
  };
}
