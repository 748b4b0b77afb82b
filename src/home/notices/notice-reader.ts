/** Home's end of the thread that asks faces and reads what they say, one for all partitions. Started with the first task. */
import { Worker } from 'node:worker_threads';
import type { OutpostOptions } from '../../outpost/workers/tools.ts';
import { type Done, type DoneMessage, NOTHING, type Task, type TaskMessage } from './messages.ts';

/** Milliseconds that a task may take; what takes longer is given up, though the thread may still be at it. */
const LONGEST = 300_000;

export class NoticeReader {
  readonly #data: OutpostOptions;
  readonly #waiting = new Map<
    number,
    { resolve(done: Done): void; readonly task: Task; readonly timer: NodeJS.Timeout }
  >();
  #thread: Worker | undefined;
  #count = 0;

  constructor(data: OutpostOptions) {
    this.#data = data;
  }

  /** `directory`: of the partition that the server is of. Never rejects: what goes wrong is trouble. */
  do(directory: string, task: Task): Promise<Done> {
    return new Promise(resolve => {
      this.#thread ??= this.#start();
      const id = this.#count++;
      const timer = setTimeout(() => this.#settle(id, troubled(task, 'it took too long')), LONGEST);
      timer.unref();
      this.#waiting.set(id, { resolve, task, timer });
      this.#thread.postMessage({ id, directory, task } satisfies TaskMessage);
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
    this.#giveUp('the run ended');
  }

  #start(): Worker {
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const thread = new Worker(new URL(`./reading/notice-thread.${ending}`, import.meta.url), {
      workerData: this.#data,
    });
    thread.unref();
    thread.on('message', ({ id, done }: DoneMessage) => this.#settle(id, done));
    // The next task starts another: a face that kills the thread costs the tasks of that moment.
    const over = () => {
      if (this.#thread === thread) this.#thread = undefined;
      this.#giveUp('the thread that reads notices died');
    };
    thread.on('error', over);
    thread.on('exit', over);
    return thread;
  }

  #settle(id: number, done: Done): void {
    const asked = this.#waiting.get(id);
    if (!asked) return;
    this.#waiting.delete(id);
    clearTimeout(asked.timer);
    asked.resolve(done);
  }

  #giveUp(why: string): void {
    for (const [id, { task }] of this.#waiting) this.#settle(id, troubled(task, why));
  }
}

function troubled(task: Task, trouble: string): Done {
  return { ...NOTHING, state: 'face' in task ? task.face.state : {}, every: 3_600_000, trouble };
}
