/**
 * A process that answers questions, for what cannot be stopped from within: whoever is tired of waiting kills it, and the
 * next question starts a new one. It runs answering.ts, which kills it when nobody is left to wait.
 */
import { type ChildProcess, fork } from 'node:child_process';

interface AskedOptions {
  /** Of the module that its thread runs. */
  readonly thread: URL;
  /** Given to the thread. */
  readonly data: string;
  /** Megabytes that it may take; undefined = as many as there are. */
  readonly megabytes?: number;
  /** Options of Node. */
  readonly granted?: readonly string[];
}

interface WaitingQuestion {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** `problem` with the number 0 is that of the process itself. */
export type ProcessAnswer =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly problem: string };

const isSource = import.meta.url.endsWith('.ts');
const MODULE = new URL(isSource ? './answering.ts' : './answering.js', import.meta.url);

/** The module beside a file of this folder, as it is here: a source, or compiled. */
export function moduleHere(name: string): URL {
  return new URL(`./${name}.${isSource ? 'ts' : 'js'}`, import.meta.url);
}

export class AskedProcess {
  readonly #options: AskedOptions;
  readonly #waiting = new Map<number, WaitingQuestion>();
  #process: ChildProcess | undefined;
  #last = 0;

  constructor(options: AskedOptions) {
    this.#options = options;
  }

  /** Rejects with the reason; when `seconds` are over, for whatever is under way. */
  ask(question: unknown, { seconds, late }: { readonly seconds: number; readonly late: string }): Promise<unknown> {
    const process = this.#open();
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.end(late), seconds * 1000);
      this.#waiting.set(id, { resolve, reject, timer });
      process.send({ id, question });
    });
  }

  /** Whatever is under way fails with `why`; the next question starts a new process. */
  end(why: string): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
    for (const id of this.#waiting.keys()) this.#settle({ id, problem: why });
  }

  #open(): ChildProcess {
    if (this.#process) return this.#process;
    const { thread, data, megabytes = 0, granted = [] } = this.#options;
    const started = fork(MODULE, [thread.href, data, String(megabytes)], {
      execArgv: [...granted],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    started.on('message', told => this.#settle(told as ProcessAnswer));
    started.on('error', error => this.end(error.message));
    started.on('exit', () => {
      if (this.#process === started) this.end('the process that reads it has ended');
    });
    // Neither it nor its channel keeps us alive: questions that are under way do, by their timers.
    started.unref();
    started.channel?.unref();
    this.#process = started;
    return started;
  }

  #settle(told: ProcessAnswer): void {
    if (told.id === 0 && 'problem' in told) this.end(told.problem);
    const waiting = this.#waiting.get(told.id);
    if (waiting === undefined) return;
    this.#waiting.delete(told.id);
    clearTimeout(waiting.timer);
    if ('answer' in told) waiting.resolve(told.answer);
    else waiting.reject(new Error(told.problem));
  }
}
