/**
 * What does it cost to open a collection, and to ask it how it is? A ledger as a crawl leaves it (workbench/large-ledger.ts),
 * opened as a crawl opens it: after a run that ended in order, after one that was killed just before it would have written
 * its memory anew (the worst moment), and without any file, by reading the ledger through. `writing the file` is what a crawl
 * pays each time. Seconds are those of the processor, each part in a process of its own; the median of --repeat runs counts.
 *
 *   node bench/opening.ts [--pages 1000000] [--repeat 3] [--keep]
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { bareFacts, packFacts } from '../src/errand/facts.ts';
import { Frontier } from '../src/frontier/frontier.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { plainOptions } from '../test/frontier/plain-options.ts';
import { randomly } from '../test/random.ts';
import { addVisited, makeLedger } from './workbench/large-ledger.ts';

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '1000000' },
    repeat: { type: 'string', default: '3' },
    keep: { type: 'boolean', default: false },
    part: { type: 'string' },
  },
});
const work = join(import.meta.dirname, '..', '.cache', 'bench', 'opening');
const killed = join(work, 'killed');
const ended = join(work, 'ended');
const skein = join(import.meta.dirname, '..', 'bin', 'skein.js');

/** Seconds of the processor that this process has used since it began. */
const used = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Every page gets facts of its own: copies and near copies are sought among them when a collection is opened. */
function giveFacts(ledger: Ledger, from: number, to: number): void {
  const random = randomly(from);
  const bytes = () => Uint8Array.from({ length: 16 }, () => random.below(256));
  ledger.begin();
  for (let page = from; page <= to; page++) {
    const known = ledger.pages.known(page);
    if (!known) continue;
    const simhash = (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
    ledger.pages.putKnown({ ...known, facts: packFacts({ ...bareFacts(bytes(), bytes()), simhash }), segment: 1 });
  }
  ledger.commit();
}

/** Until a file is due again, a page and its visit count for two. */
const BEHIND = 1 / 16;

/** What a run leaves that is killed, and what one leaves that ends. */
function make(pages: number): void {
  const written = Math.ceil(pages * (1 - BEHIND));
  const now = Date.now();
  const ledger = makeLedger(killed, written, now);
  giveFacts(ledger, 1, written);
  opened(ledger).close();
  ledger.begin();
  for (let page = written + 1; page <= pages; page++) addVisited(ledger, page, pages, now);
  giveFacts(ledger, written + 1, pages);
  ledger.abandon();
  ledger.close();
  rmSync(ended, { recursive: true, force: true });
  cpSync(killed, ended, { recursive: true });
  const ending = new Ledger(ended, 'write');
  opened(ending).close();
  ending.close();
}

function opened(ledger: Ledger): Frontier {
  ledger.begin();
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore', depth: 1000 }, systemClock);
  frontier.restore();
  return frontier;
}

/** Opens it as a crawl does, and leaves it as it was. */
function open(directory: string): number {
  const before = used();
  const ledger = new Ledger(directory, 'write');
  opened(ledger);
  const seconds = used() - before;
  ledger.abandon();
  if (directory === ended) ledger['database'].exec("DELETE FROM meta WHERE name = 'counting'");
  ledger.close();
  return seconds;
}

/** Comes last, and once: the run that was killed ends by it. */
const WRITING = 'writing the file';

const parts: Readonly<Record<string, () => number>> = {
  'after an orderly end': () => open(ended),
  'after kill -9': () => open(killed),
  'without a file': () => {
    const files = globSync('frontier*.bin', { cwd: killed });
    for (const file of files) cpSync(join(killed, file), join(ended, `${file}.aside`));
    for (const file of files) rmSync(join(killed, file));
    const seconds = open(killed);
    for (const file of files) cpSync(join(ended, `${file}.aside`), join(killed, file));
    return seconds;
  },
  [WRITING]: () => {
    const ledger = new Ledger(killed, 'write');
    const frontier = opened(ledger);
    const before = used();
    frontier.close();
    const seconds = used() - before;
    ledger.abandon();
    ledger.close();
    return seconds;
  },
};

function ask(part: string): number {
  const args = [import.meta.filename, '--part', part, '--pages', given.pages];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** User and system time of a command, as the shell counts it. */
function command(...args: string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null';
  const line = ['-c', `{ ${script}; } 2>&1`, 'bash', process.execPath, skein, ...args, '--data', ended];
  const [user, system] = execFileSync('bash', line, { encoding: 'utf8' }).trim().split('\n').at(-1)!.split(' ');
  return Number(user) + Number(system);
}

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!;

if (given.part) {
  console.log(parts[given.part]!());
} else {
  const pages = Number(given.pages);
  make(pages);
  const measured = new Map<string, number[]>();
  const note = (name: string, seconds: number) => measured.set(name, [...(measured.get(name) ?? []), seconds]);
  for (let run = 0; run < Number(given.repeat); run++) {
    for (const part of Object.keys(parts)) if (part !== WRITING) note(part, ask(part));
    note('skein status', command('status'));
    note('skein account', command('account'));
  }
  note(WRITING, ask(WRITING));
  console.log(`${pages.toLocaleString('en')} pages, seconds of the processor, median of ${given.repeat}\n`);
  for (const [name, seconds] of measured) {
    console.log(
      `${name.padEnd(26)}${median(seconds).toFixed(2).padStart(7)}   ${seconds.map(each => each.toFixed(2)).join(' ')}`,
    );
  }
  if (!given.keep) rmSync(work, { recursive: true, force: true });
}
