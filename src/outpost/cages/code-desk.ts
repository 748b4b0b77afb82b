/**
 * Where an outpost gets the code that errands name: from its own disk, else from its parent, once, however many errands
 * wait for it. Outposts below are served the same way, so that code travels as errands do. Whether it is let in is the
 * store's to say (code.ts).
 */
import { SkeinError } from '../../base/errors.ts';
import type { Link } from '../../transfer/link.ts';
import type { CodeFrame } from '../../transfer/wire/frames.ts';
import { type CodeStore, decodeCode } from './code.ts';

type HeldCode = Pick<CodeFrame, 'terms' | 'bytes'>;

interface AwaitedCode {
  readonly promise: Promise<HeldCode>;
  resolve(held: HeldCode): void;
  reject(error: unknown): void;
  readonly late: NodeJS.Timeout;
}

/** Milliseconds that the parent may take. */
const PATIENCE = 60_000;

interface DeskOptions {
  readonly store: CodeStore;
  /** Home's time. */
  readonly now: () => number;
  /** Sends a request to the parent, if there is a line. */
  readonly ask: (code: string) => void;
}

export class CodeDesk {
  readonly #options: DeskOptions;
  readonly #wanted = new Map<string, AwaitedCode>();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Throws 'refused' with the reason when it is not let in, or when nobody has it. */
  async get(code: string): Promise<HeldCode> {
    const { store, now, ask } = this.#options;
    const held = store.find(code, now());
    if (held) return held;
    const under = this.#wanted.get(code);
    if (under) return under.promise;
    const { promise, resolve, reject } = Promise.withResolvers<HeldCode>();
    const late = setTimeout(() => this.#settle(code)?.reject(refused('it did not arrive in time')), PATIENCE);
    this.#wanted.set(code, { promise, resolve, reject, late });
    ask(code);
    return promise;
  }

  /** The line to the parent is new: what was asked for on the old one may be lost. */
  resend(): void {
    for (const code of this.#wanted.keys()) this.#options.ask(code);
  }

  arrived({ code, terms, bytes }: CodeFrame): void {
    const wanted = this.#settle(code);
    if (!wanted) return; // nobody asked for it
    try {
      if (terms.length === 0) throw refused('home does not have it any more');
      const signed = decodeCode(terms);
      if (signed.digest !== code) throw refused('it is not the code that was requested');
      this.#options.store.take(signed, bytes, this.#options.now());
      wanted.resolve({ terms, bytes });
    } catch (error) {
      wanted.reject(error);
    }
  }

  /** An outpost below asks for it. */
  async pass(link: Link, code: string): Promise<void> {
    try {
      link.answer({ kind: 'code', code, ...(await this.get(code)) });
    } catch {
      // Not let in here, or not to be had: it is refused there, with a reason that home hears.
      link.answer({ kind: 'code', code, terms: new Uint8Array(), bytes: new Uint8Array() });
    }
  }

  close(): void {
    for (const code of this.#wanted.keys()) this.#settle(code)?.reject(refused('the outpost was stopped'));
  }

  #settle(code: string): AwaitedCode | undefined {
    const wanted = this.#wanted.get(code);
    clearTimeout(wanted?.late);
    this.#wanted.delete(code);
    return wanted;
  }
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `The code is refused: ${why}.`);
}
