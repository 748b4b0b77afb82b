/**
 * What does it cost to open a collection, and to ask it how it is? A ledger as a crawl leaves it (workbench/large-ledger.ts),
 * opened as a crawl opens it: by reading the ledger through, as after a kill, and from the file that the last run left.
 * Seconds are those of the processor, each part in a process of its own; the median of --repeat runs counts.
 *
 *   node bench/opening.ts [--pages 1000000] [--repeat 3] [--keep]
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { bareFacts, packFacts } from '../src/errand/facts.ts';
import { Frontier } from '../src/frontier/frontier.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { plainOptions } from '../test/frontier/plain-options.ts';
import { randomly } from '../test/random.ts';
import { makeLedger } from './workbench/large-ledger.ts';

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '1000000' },
    repeat: { type: 'string', default: '3' },
    keep: { type: 'boolean', default: false },
    part: { type: 'string' },
  },
});
const directory = join(import.meta.dirname, '..', '.cache', 'bench', 'opening');
const skein = join(import.meta.dirname, '..', 'bin', 'skein.js');

/** Seconds of the processor that this process has used since it began. */
const used = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Every page gets facts of its own: copies and near copies are sought among them when a collection is opened. */
function make(pages: number): void {
  const ledger = makeLedger(directory, pages, Date.now());
  const random = randomly(1);
  const bytes = () => Uint8Array.from({ length: 16 }, () => random.below(256));
  ledger.begin();
  for (let page = 1; page <= pages; page++) {
    const known = ledger.pages.known(page);
    if (!known) continue;
    const simhash = (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
    ledger.pages.putKnown({ ...known, facts: packFacts({ ...bareFacts(bytes(), bytes()), simhash }), segment: 1 });
  }
  ledger.commit();
  ledger.close();
}

/** Opens it as a crawl does; `leave`: ends as a crawl does, so that the next one finds the file. */
function open(leave: boolean): number {
  const before = used();
  const ledger = new Ledger(directory, 'write');
  ledger.begin();
  const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore', depth: 1000 }, systemClock);
  frontier.restore();
  const seconds = used() - before;
  if (leave) frontier.close();
  else ledger.abandon();
  ledger.close();
  return seconds;
}

const parts: Readonly<Record<string, () => number>> = {
  // A run that changes nothing and is killed leaves the ledger, and the name of the file, as they were.
  'from the file': () => open(false),
  'from the ledger': () => {
    rmSync(join(directory, 'frontier.bin'), { force: true });
    return open(true);
  },
};

function ask(part: string): number {
  const args = [import.meta.filename, '--part', part, '--pages', given.pages];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** User and system time of a command, as the shell counts it. */
function command(...args: string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null';
  const line = ['-c', `{ ${script}; } 2>&1`, 'bash', process.execPath, skein, ...args, '--data', directory];
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
    for (const part of ['from the ledger', 'from the file']) note(`opening ${part}`, ask(part));
    note('skein status', command('status'));
    note('skein account', command('account'));
  }
  console.log(`${pages.toLocaleString('en')} pages, seconds of the processor, median of ${given.repeat}\n`);
  for (const [name, seconds] of measured) {
    console.log(
      `${name.padEnd(26)}${median(seconds).toFixed(2).padStart(7)}   ${seconds.map(each => each.toFixed(2)).join(' ')}`,
    );
  }
  if (!given.keep) rmSync(directory, { recursive: true, force: true });
}
