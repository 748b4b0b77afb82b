/**
 * Being told: each rule reads the changes that came since it last read, puts those that count on its desk, and sends what is
 * there through its channel. A change is on the desk before the rule's place moves on, and leaves it after the other side has
 * taken it: kill it anywhere, and each change is told, with the same id if it is told again.
 */
import { join } from 'node:path';
import { PRIVATE, replaceFile } from '../base/file.ts';
import { readCollection } from '../ledger/collection/collection.ts';
import { takeLock } from '../ledger/ledger.ts';
import { type MessageSender, NotDelivered } from './channels/channel.ts';
import { command } from './channels/command.ts';
import { atomOf, rssOf } from './channels/feed.ts';
import { mail } from './channels/mail.ts';
import { webhook } from './channels/webhook.ts';
import { Desk } from './desk.ts';
import { ChangeFinder } from './find.ts';
import { notifyDirectory } from './place.ts';
import type { Channel, Rule } from './rule.ts';
import { readRules } from './rules-file.ts';

interface NotifyCounts {
  /** Changes that count and were put on a desk. */
  readonly found: number;
  /** Messages that were taken. */
  readonly sent: number;
  /** Messages that were not, and go out again later. */
  readonly failed: number;
}

/** Milliseconds that a channel may take, before the first retry, and between later ones at most. */
const PATIENCE = 30_000;
const FIRST_RETRY = 10_000;
const LONGEST_WAIT = 3_600_000;

export class Notifier {
  readonly #data: string;
  readonly #now: () => number;
  readonly #lock: Disposable & { close(): void };

  /** Only one at a time works on a collection's desks. */
  constructor(data: string, now: () => number = Date.now) {
    this.#data = data;
    this.#now = now;
    const lock = takeLock(notifyDirectory(data));
    this.#lock = { close: () => lock.close(), [Symbol.dispose]: () => lock.close() };
  }

  /** One pass over all rules. `settled`: visits younger than this (milliseconds) may still turn out to be noise. */
  async pass(settled = 0, signal?: AbortSignal): Promise<NotifyCounts> {
    const told = { found: 0, sent: 0, failed: 0 };
    for (const rule of readRules(this.#data)) {
      const desk = new Desk(join(notifyDirectory(this.#data), rule.name));
      told.found += await this.#look(rule, desk, settled);
      const { sent, failed } = await this.#send(rule, desk, signal);
      told.sent += sent;
      told.failed += failed;
      if (signal?.aborted) break;
    }
    return told;
  }

  async #look(rule: Rule, desk: Desk, settled: number): Promise<number> {
    let found = 0;
    for (const { id, directory } of readCollection(this.#data).here) {
      const finder = new ChangeFinder(directory);
      try {
        const { visits, queries } = finder.ledger;
        const newest = visits.newest();
        const upTo = settled === 0 ? newest : Number.isFinite(settled) ? queries.news.upTo(this.#now() - settled) : 0;
        const { read } = desk.state;
        // A rule is about what comes after it was made.
        const after = read[id] ?? newest;
        for await (const { visit, change, weighed } of finder.since(rule, after, upTo)) {
          if (!weighed.counts) continue;
          desk.put(`${String(Date.parse(change.time)).padStart(15, '0')}-${id}-${visit}`, change);
          found++;
        }
        desk.keep({ read: { ...read, [id]: Math.max(after, upTo) } });
      } finally {
        finder.close();
      }
    }
    return found;
  }

  /** In order: a message that is not taken holds up those behind it. */
  async #send(rule: Rule, desk: Desk, signal?: AbortSignal): Promise<{ sent: number; failed: number }> {
    let sent = 0;
    for (;;) {
      const { sent: last, retryAt, failures } = desk.state;
      const now = this.#now();
      // A clock that was set back holds nothing up for longer than it would have waited.
      if (now < retryAt && retryAt - now <= LONGEST_WAIT) return { sent, failed: 0 };
      if (rule.atMost > 0 && now >= last && now - last < rule.atMost) return { sent, failed: 0 };
      const message = desk.next(rule.atMost > 0);
      if (!message || signal?.aborted) return { sent, failed: 0 };
      try {
        const limit = AbortSignal.timeout(PATIENCE);
        await senderOf(rule.channel).send(message, signal ? AbortSignal.any([signal, limit]) : limit);
      } catch (error) {
        if (!(error instanceof NotDelivered)) throw error;
        const wait = Math.min(LONGEST_WAIT, FIRST_RETRY * 2 ** Math.min(20, failures));
        desk.keep({ failures: failures + 1, retryAt: now + wait, trouble: error.message });
        return { sent, failed: 1 };
      }
      desk.done(message, now);
      this.#publish(rule, desk);
      sent++;
    }
  }

  /** Desks and feeds keep nothing of pages that were forgotten. */
  forget(matches: (url: string) => boolean): void {
    for (const rule of readRules(this.#data)) {
      const desk = new Desk(join(notifyDirectory(this.#data), rule.name));
      if (desk.forget(matches)) this.#publish(rule, desk);
    }
  }

  #publish(rule: Rule, desk: Desk): void {
    const messages = desk.sent();
    replaceFile(join(desk.directory, 'feed.atom'), atomOf(rule.name, messages), PRIVATE);
    replaceFile(join(desk.directory, 'feed.rss'), rssOf(rule.name, messages), PRIVATE);
    if (rule.channel.kind !== 'feed' || rule.channel.file === undefined) return;
    const { file } = rule.channel;
    replaceFile(file, file.endsWith('.rss') ? rssOf(rule.name, messages) : atomOf(rule.name, messages));
  }

  close(): void {
    this.#lock.close();
  }
}

function senderOf(channel: Channel): MessageSender {
  if (channel.kind === 'webhook') return webhook(channel);
  if (channel.kind === 'command') return command(channel.command);
  if (channel.kind === 'mail') return mail(channel);
  return { send: async () => {} }; // the feed is written with every message
}
