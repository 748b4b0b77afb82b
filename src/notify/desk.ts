/**
 * The desk of a rule, on disk: changes that wait to be told, the message that is being sent, what was sent last, and how far
 * the rule has read. A change has a name of its own (its visit), so that finding it again after a kill writes the same file;
 * a message is written down before it is sent, so that it goes out again with the same id.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE, replaceFile } from '../base/file.ts';
import { type Message, messageOf, type ToldChange } from './message.ts';

interface DeskState {
  /** The last visit that the rule has seen, by partition. */
  readonly read: Readonly<Record<string, number>>;
  /** Milliseconds since 1970; 0 = never. */
  readonly sent: number;
  readonly messages: number;
  /** Failures in a row, when to try again, and what went wrong. */
  readonly failures: number;
  readonly retryAt: number;
  readonly trouble: string;
}

const FRESH: DeskState = { read: {}, sent: 0, messages: 0, failures: 0, retryAt: 0, trouble: '' };
/** Messages that are kept after they were sent, for feeds and for people. */
const KEPT = 50;
/** Changes that one message holds at most. */
const TOGETHER = 200;

export class Desk {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(join(directory, 'waiting'), { recursive: true, mode: 0o700 });
  }

  get state(): DeskState {
    return { ...FRESH, ...this.#read<Partial<DeskState>>('state.json') };
  }

  keep(state: Partial<DeskState>): void {
    this.#write('state.json', { ...this.state, ...state });
  }

  /** `key` says which change it is: the same one twice is one. */
  put(key: string, change: ToldChange): void {
    this.#write(join('waiting', `${key}.json`), change);
  }

  /** Keys in the order in which changes came. */
  waiting(): string[] {
    return readdirSync(join(this.directory, 'waiting'))
      .filter(name => name.endsWith('.json'))
      .map(name => name.slice(0, -5))
      .sort();
  }

  /** The message to be sent now: the one that was begun, or the next. */
  next(together: boolean): Message | undefined {
    const begun = this.#read<{ message: Message; keys: string[] }>('sending.json');
    if (begun) return begun.message;
    const keys = this.waiting().slice(0, together ? TOGETHER : 1);
    if (keys.length === 0) return undefined;
    const changes = keys.map(key => this.#read<ToldChange>(join('waiting', `${key}.json`))!);
    const message = messageOf(this.directory.split('/').at(-1)!, changes, keys);
    this.#write('sending.json', { message, keys });
    return message;
  }

  /** It was taken: it waits no more. */
  done(message: Message, now: number): void {
    this.#write('sent.json', [message, ...this.sent().filter(({ id }) => id !== message.id)].slice(0, KEPT));
    const { keys } = this.#read<{ keys: string[] }>('sending.json') ?? { keys: [] };
    for (const key of keys) rmSync(join(this.directory, 'waiting', `${key}.json`), { force: true });
    this.keep({ sent: now, messages: this.state.messages + 1, failures: 0, retryAt: 0, trouble: '' });
    rmSync(join(this.directory, 'sending.json'), { force: true });
  }

  /** Nothing is kept of pages that match; a message that was begun keeps its id. Returns whether any was there. */
  forget(matches: (url: string) => boolean): boolean {
    const without = (message: Message): Message => ({
      ...message,
      changes: message.changes.filter(({ url }) => !matches(url)),
    });
    const waiting = this.waiting().filter(key => matches(this.#read<ToldChange>(join('waiting', `${key}.json`))!.url));
    const begun = this.#read<{ message: Message; keys: string[] }>('sending.json');
    if (begun) {
      const message = without(begun.message);
      if (message.changes.length > 0) this.#write('sending.json', { ...begun, message });
      else rmSync(join(this.directory, 'sending.json'), { force: true });
    }
    for (const key of waiting) rmSync(join(this.directory, 'waiting', `${key}.json`), { force: true });
    const sent = this.sent();
    const kept = sent.map(without).filter(({ changes }) => changes.length > 0);
    if (JSON.stringify(kept) === JSON.stringify(sent)) return waiting.length > 0;
    this.#write('sent.json', kept);
    return true;
  }

  /** Newest first. */
  sent(): Message[] {
    return this.#read<Message[]>('sent.json') ?? [];
  }

  #read<T>(name: string): T | undefined {
    const file = join(this.directory, name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : undefined;
  }

  #write(name: string, value: unknown): void {
    replaceFile(join(this.directory, name), JSON.stringify(value), PRIVATE);
  }
}
