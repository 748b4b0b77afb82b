/** Mail by SMTP. The Message-ID is the id of the message, so that a mailbox can tell one that came twice. */

import { htmlOf, type Message, subjectOf, textOf } from '../message.ts';
import type { Channel } from '../rule.ts';
import { type MessageSender, NotDelivered } from './channel.ts';

export function mail({ to, from, server }: Extract<Channel, { kind: 'mail' }>): MessageSender {
  return {
    async send(message: Message, signal: AbortSignal) {
      const { createTransport } = await import('nodemailer');
      const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
      const transport = createTransport({ url: server, ...limits, disableFileAccess: true, disableUrlAccess: true });
      const stop = () => transport.close();
      signal.addEventListener('abort', stop);
      try {
        await transport.sendMail({
          ...{ from, to, subject: subjectOf(message), text: textOf(message), html: htmlOf(message) },
          messageId: `<${message.id}@${from.split('@')[1]}>`,
          headers: { 'X-Skein-Rule': message.rule },
        });
      } catch (error) {
        throw new NotDelivered(`the mail server refused it: ${(error as Error).message}`);
      } finally {
        signal.removeEventListener('abort', stop);
        transport.close();
      }
    },
  };
}
