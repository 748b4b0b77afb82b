/**
 * What a parent knows of one outpost: whether it is there, what it said of itself, how it does. While it is away a lease
 * runs, and at its end the outpost is lost.
 */
import type { Line } from './line.ts';
import { type Hello, NO_STATUS, type OutpostStatus } from './wire/messages.ts';

interface PresenceParts {
  /** Milliseconds that it may be away, and that it may be away after its line was closed without a goodbye. */
  readonly lease: { readonly away: number; readonly closed: number };
  /** Errands that it has, which count until it says so itself. */
  readonly errands: () => number;
  readonly lost: (why: string) => void;
}

export class Presence {
  readonly name: string;
  readonly #parts: PresenceParts;
  #line: Line | undefined;
  #hello: Hello | undefined;
  #status: OutpostStatus | undefined;
  /** When the last line ended. */
  #heard = 0;
  #absence: NodeJS.Timeout | undefined;
  /** When its line was closed without a goodbye, by performance.now(); undefined = it is there, or away in another way. */
  #closed: number | undefined;
  #trouble = '';

  constructor(name: string, parts: PresenceParts) {
    this.name = name;
    this.#parts = parts;
    this.#wait('it has not connected yet', parts.lease.away);
  }

  get connected(): boolean {
    return this.#line !== undefined;
  }

  /** Milliseconds since its line was closed without a goodbye: by the system, most likely, when its process ended. */
  get deserted(): number | undefined {
    return this.#closed === undefined ? undefined : performance.now() - this.#closed;
  }

  /** What it said of itself when it came; undefined = it never did. */
  get hello(): Hello | undefined {
    return this.#hello;
  }

  /** Pages that may be under way there; 0 while it is away or its disk is full. */
  get room(): number {
    if (!this.#line || this.#status?.state === 'full') return 0;
    return this.#status?.room ?? this.#hello?.room ?? 0;
  }

  /** It has said on this line how it does, and which outposts it has. */
  get told(): boolean {
    return this.#status !== undefined;
  }

  get status(): OutpostStatus {
    const base = this.#status ?? { ...NO_STATUS, errands: this.#parts.errands() };
    return {
      ...base,
      name: this.name,
      heard: this.#line ? Date.now() - this.#line.silent : this.#heard,
      trouble: this.#trouble || base.trouble,
      ...(!this.#line && { state: 'away', rate: 0 }),
    };
  }

  came(line: Line, hello: Hello): void {
    this.#line = line;
    this.#hello = hello;
    this.#status = undefined;
    this.#trouble = '';
    this.#closed = undefined;
    this.stopWaiting();
  }

  says(news: Partial<OutpostStatus>): void {
    this.#status = { ...(this.#status ?? NO_STATUS), ...news };
  }

  /** Its line has ended. `said`: the goodbye; undefined = there was none. */
  left(line: Line, why: string, said: string | undefined): void {
    this.#heard = Date.now() - line.silent;
    this.#line = undefined;
    this.#trouble = why;
    if (line.closed && said === undefined) this.#closed = performance.now();
    if (said === 'done') this.#parts.lost(why);
    else this.#wait(why, this.#closed === undefined ? this.#parts.lease.away : this.#parts.lease.closed);
  }

  /** Its line is given up from here. */
  gone(): void {
    this.#line = undefined;
    this.stopWaiting();
  }

  stopWaiting(): void {
    clearTimeout(this.#absence);
  }

  #wait(why: string, lease: number): void {
    clearTimeout(this.#absence);
    this.#absence = setTimeout(() => this.#parts.lost(why), lease);
    this.#absence.unref();
  }
}
