/** A way to tell. It resolves when the other side has taken the message; whatever it throws, the message is sent again. */
import { harmless } from '../../base/harmless.ts';
import type { Message } from '../message.ts';

export interface MessageSender {
  send(message: Message, signal: AbortSignal): Promise<void>;
}

const LONGEST = 300;

/** In words that a person understands; it is kept and shown. Part of it may be what the other side said. */
export class NotDelivered extends Error {
  constructor(words: string) {
    super(harmless(words).slice(0, LONGEST));
  }
}
