/** The thread that compares pages with their stored copies: one for all partitions of a home, started when it is needed. */
import { Worker } from 'node:worker_threads';
import type { InferredRow } from '../../ledger/storage/inferred.ts';
import type { Comparison, ForgetQuestion, InferQuestion, JudgeAnswer, JudgeQuestion } from './questions.ts';

/** A page to compare, as whoever asks knows it. */
type Compared = Omit<JudgeQuestion, 'id'>;

export class Judge {
  #thread: Worker | undefined;
  #asked = 0;
  readonly #comparing = new Map<number, (found: Comparison | undefined) => void>();
  readonly #inferring = new Map<number, (rows: readonly InferredRow[]) => void>();

  /** Starts the thread ahead, while the first pages are fetched. */
  begin(): void {
    this.#thread ??= this.#start();
  }

  /** `answered` gets undefined if the two could not be compared. */
  compare(page: Compared & { readonly record: Uint8Array<ArrayBuffer> }, answered: (found?: Comparison) => void): void {
    this.begin();
    const id = ++this.#asked;
    this.#comparing.set(id, answered);
    this.#thread!.postMessage({ id, ...page } satisfies JudgeQuestion, [page.record.buffer]);
  }

  /** What the pages compared so far let expect of pages of the partition that were not fetched. */
  infer(directory: string): Promise<readonly InferredRow[]> {
    const thread = this.#thread;
    if (!thread) return Promise.resolve([]);
    const infer = ++this.#asked;
    return new Promise(resolve => {
      this.#inferring.set(infer, resolve);
      thread.postMessage({ infer, directory } satisfies InferQuestion);
    });
  }

  /** Closes the files of a partition. */
  forget(directory: string): void {
    this.#thread?.postMessage({ forget: directory } satisfies ForgetQuestion);
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const thread = new Worker(new URL(`./judge-thread.${ending}`, import.meta.url));
    thread.unref();
    thread.on('message', ({ id, found, inferred }: JudgeAnswer) => {
      if (inferred) this.#inferred(id, inferred);
      else this.#answered(id, found);
    });
    // Pages that nobody compares count as changed, so nothing is lost.
    const over = () => {
      if (this.#thread === thread) this.#thread = undefined;
      for (const id of this.#comparing.keys()) this.#answered(id, undefined);
      for (const id of this.#inferring.keys()) this.#inferred(id, []);
    };
    thread.on('error', over);
    thread.on('exit', over);
    return thread;
  }

  #answered(id: number, found: Comparison | undefined): void {
    const answered = this.#comparing.get(id);
    this.#comparing.delete(id);
    answered?.(found);
  }

  #inferred(id: number, rows: readonly InferredRow[]): void {
    const resolve = this.#inferring.get(id);
    this.#inferring.delete(id);
    resolve?.(rows);
  }
}
