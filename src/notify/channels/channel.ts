/** A way to tell. It resolves when the other side has taken the message; whatever it throws, the message is sent again. */
import type { Message } from '../message.ts';

export interface MessageSender {
  send(message: Message, signal: AbortSignal): Promise<void>;
}

/** In words that a person understands; it is kept and shown. */
export class NotTaken extends Error {}
