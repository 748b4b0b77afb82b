/**
 * Runs of collections as child processes: the same commands that people type. They are started by hand or by a schedule, and
 * stopped as by Ctrl-C. A run that fails stays ended: the list says so, with its last lines, and only somebody who starts
 * it, or the next time of the schedule, begins another. What was chosen is kept in a file beside the collections.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { HOUR } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { runningHome } from '../../home/door.ts';
import {
  type CollectionLine,
  type CollectionRunOptions,
  collectionName,
  type FinishedRun,
  type RunCommand,
  runOptions,
} from './forms.ts';
import type { CollectionShelf } from './shelf.ts';

const FILE = 'workbench-runs.json';
/** Milliseconds between two looks at the schedules. */
const LOOK_EVERY = 10_000;
/** Characters of a failed run's last words. */
const LAST_WORDS = 2000;
/** Runs at once: each is a process with threads of its own. */
const MOST_RUNS = 8;

const plan = z.object({
  options: runOptions.default({}),
  everyHours: z.number().min(0.1).max(8760).optional(),
  /** When the schedule last began to count: set, or a run started. */
  counted: z.number().optional(),
});
type RunPlan = z.infer<typeof plan>;

interface RunningCommand {
  readonly command: RunCommand;
  readonly started: number;
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  stopping: boolean;
}

interface CollectionRunParts {
  /** Where the collections are. */
  readonly directory: string;
  readonly shelf: CollectionShelf;
  /** What starts Skein: Node and its script, and arguments that every run gets. */
  readonly program: readonly string[];
  readonly now?: () => number;
}

export class CollectionRuns {
  readonly #parts: CollectionRunParts;
  readonly #now: () => number;
  readonly #running = new Map<string, RunningCommand>();
  readonly #last = new Map<string, FinishedRun>();
  readonly #plans: Map<string, RunPlan>;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: CollectionRunParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#plans = readPlans(join(parts.directory, FILE));
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY).unref();
  }

  async lines(shown: string): Promise<CollectionLine[]> {
    const names = [...new Set([...this.#parts.shelf.names(), ...this.#running.keys(), ...this.#last.keys()])].sort();
    return Promise.all(names.map(name => this.#line(name, shown)));
  }

  async #line(name: string, shown: string): Promise<CollectionLine> {
    const { shelf } = this.#parts;
    const run = this.#running.get(name);
    const other = run ? undefined : await runningHome(shelf.directoryOf(name));
    const { options, everyHours, counted } = this.#planOf(name);
    return {
      name,
      state: run ? (run.stopping ? 'stopping' : 'running') : other ? 'elsewhere' : 'idle',
      command: run?.command ?? other?.state.command ?? '',
      since: run?.started ?? null,
      pages: shelf.has(name) ? shelf.pages(name) : null,
      shown: name === shown,
      last: this.#last.get(name) ?? null,
      options,
      everyHours: everyHours ?? null,
      next: everyHours === undefined ? null : (counted ?? 0) + everyHours * HOUR,
    };
  }

  /** Starts a run with these options, or with those of the last time where none are given. */
  async start(name: string, command: RunCommand, given: CollectionRunOptions): Promise<void> {
    const { shelf } = this.#parts;
    const before = this.#planOf(name);
    const options = Object.keys(given).length > 0 ? given : before.options;
    if (command !== 'crawl' && !shelf.has(name)) throw new SkeinError('not-found', `There is no collection "${name}".`);
    if (!shelf.has(name) && !options.seeds?.length)
      throw new SkeinError('bad-option', 'A new collection needs a seed.', 'Give a URL such as https://example.org/.');
    if (this.#running.has(name)) throw new SkeinError('refused', `"${name}" is running already.`, 'Stop it first.');
    if (this.#running.size >= MOST_RUNS)
      throw new SkeinError('refused', `${MOST_RUNS} runs are going on already.`, 'Wait for one to end, or stop one.');
    if (await runningHome(shelf.directoryOf(name)))
      throw new SkeinError(
        'refused',
        `Another process runs "${name}".`,
        'Stop that run first, with "skein steer stop".',
      );
    if (this.#running.has(name)) throw new SkeinError('refused', `"${name}" is running already.`); // meanwhile
    this.#keep(name, { ...before, options, counted: this.#now() });
    this.#spawn(name, command, options);
  }

  /** As Ctrl-C does: what is under way ends, and what was collected stays. */
  stop(name: string): void {
    const run = this.#running.get(name);
    if (!run) throw new SkeinError('refused', `No run of "${name}" was started here.`);
    run.stopping = true;
    run.child.kill('SIGINT');
  }

  /** Refreshes it every so many hours, the first time after so many; 0 = by hand only. */
  schedule(name: string, everyHours: number): void {
    if (!this.#parts.shelf.has(name)) throw new SkeinError('not-found', `There is no collection "${name}".`);
    const { everyHours: _, ...rest } = this.#planOf(name);
    this.#keep(name, everyHours === 0 ? rest : { ...rest, everyHours, counted: this.#now() });
  }

  /** Starts what is due by its schedule. What runs already, or cannot start now, is looked at again. */
  async look(): Promise<void> {
    for (const [name, plan] of this.#plans) {
      const { everyHours, counted = 0 } = plan;
      const now = this.#now();
      // A clock that ran ahead when that was written puts nothing off for longer.
      if (counted > now) this.#keep(name, { ...plan, counted: now });
      if (everyHours === undefined || this.#running.has(name) || now < counted + everyHours * HOUR) continue;
      await this.start(name, 'refresh', {}).catch(() => undefined); // its line says why: it runs elsewhere, or is gone
    }
  }

  /** Stops all runs and waits for their ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const all = [...this.#running];
    for (const [name, { stopping }] of all) if (!stopping) this.stop(name);
    await Promise.all(all.map(([, { ended }]) => ended));
  }

  #spawn(name: string, command: RunCommand, options: CollectionRunOptions): void {
    const { program, shelf } = this.#parts;
    const words = [command, ...wordsOf(command, options), `--data=${shelf.directoryOf(name)}`];
    const child = spawn(program[0]!, [...program.slice(1), ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
    const started = this.#now();
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-LAST_WORDS);
    });
    const ended = new Promise<void>(resolve => {
      const over = (ok: boolean) => {
        this.#running.delete(name);
        this.#last.set(name, { command, started, ended: this.#now(), ok, said: ok ? '' : said.trim() });
        resolve();
      };
      // Before it listens to signals, one ends it as well.
      const asked = (signal: string | null) => signal === 'SIGINT' && this.#running.get(name)?.stopping === true;
      child.once('close', (code, signal) => over(code === 0 || asked(signal)));
      child.once('error', error => {
        said = error.message;
        if (child.pid === undefined) over(false);
      });
    });
    this.#running.set(name, { command, started, child, ended, stopping: false });
  }

  #planOf(name: string): RunPlan {
    return this.#plans.get(name) ?? { options: {} };
  }

  #keep(name: string, chosen: RunPlan): void {
    this.#plans.set(name, chosen);
    replaceFile(join(this.#parts.directory, FILE), JSON.stringify(Object.fromEntries(this.#plans)), PRIVATE);
  }
}

/** The words of a command line. Values stand behind an =, and seeds behind the end of options: none is taken for an option. */
function wordsOf(
  command: RunCommand,
  { seeds = [], scope = [], pace, maxPages, budget }: CollectionRunOptions,
): string[] {
  const words = pace === undefined ? [] : [`--pace=${pace}`];
  if (command === 'crawl') {
    words.push(...scope.map(each => `--scope=${each}`), ...(maxPages === undefined ? [] : [`--max-pages=${maxPages}`]));
    return [...words, ...seeds];
  }
  return budget === undefined ? words : [...words, `--budget=${budget}`];
}

function readPlans(file: string): Map<string, RunPlan> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return new Map(); // nothing was chosen yet
  }
  try {
    return new Map(Object.entries(z.record(collectionName, plan).parse(JSON.parse(text))));
  } catch {
    throw new SkeinError(
      'damaged',
      `${file} cannot be read.`,
      'Fix or remove it: it holds the options and schedules of runs.',
    );
  }
}
