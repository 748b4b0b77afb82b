/** `skein outposts`: the tree of machines that work for a collection, now or when it last ran. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { requireCollection } from '../../engine/open-ledger.ts';
import type { Machine } from '../../home/machines/machines.ts';
import { OUTPOSTS_FILE, type Placement } from '../../home/machines/placement.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { duration, harmless, paint, size, table } from '../print/terminal.ts';

interface OutpostsState {
  readonly time: number;
  readonly running: boolean;
  readonly listening: string;
  readonly refusals: number;
  readonly machines: readonly Machine[];
  /** Why each outpost that lied is not trusted, whether it is there or not. */
  readonly quarantined?: Readonly<Record<string, string>>;
  readonly placements: readonly (Placement & { readonly origin: string })[];
}

const COLUMNS = ['outpost', 'level', 'state', 'errands', 'pages', '/s', 'sent', 'parcels', 'last heard', 'trouble'];
/** Milliseconds after which a state is no longer of a run that goes on. */
const STALE = 5000;

export function addOutpostsCommand(program: Command): void {
  const command = program
    .command('outposts')
    .option('--watch', 'update the view every second')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein outposts --watch');
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    for (;;) {
      const state = read(data);
      if (given['json']) printJson(state);
      else show(state, given['watch'] === true);
      if (!given['watch']) return;
      await systemClock.sleep(1000);
    }
  });
}

/** `time` is 0 where no machine has ever worked for the collection. */
function read(directory: string): OutpostsState {
  const file = join(directory, OUTPOSTS_FILE);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as OutpostsState;
  requireCollection(directory);
  return { time: 0, running: false, listening: '', refusals: 0, machines: [], placements: [] };
}

function show(state: OutpostsState, again: boolean): void {
  if (again && process.stdout.isTTY) process.stdout.write('\u001b[2J\u001b[H');
  if (state.time === 0) {
    console.log('No other machine has crawled for this collection yet.');
    console.log('Name one with "skein crawl --outpost ssh://user@machine", or invite one with "skein outpost invite".');
    return;
  }
  const age = Date.now() - state.time;
  const live = state.running && age < STALE;
  const listening = state.listening === '' ? '' : `, listening at ${state.listening}`;
  const refused = state.refusals === 0 ? '' : `, ${state.refusals} refused`;
  console.log(
    paint('bold', live ? `Home is running${listening}${refused}.` : `Last known state, ${duration(age)} ago.`),
  );
  const rows = state.machines.filter(machine => machine.remote).flatMap(machine => lines(machine, 1));
  if (rows.length === 0) console.log('No machine is connected.');
  else console.log(table(COLUMNS, rows));
  const absent = Object.entries(state.quarantined ?? {}).filter(
    ([name]) => !state.machines.some(each => each.name === name),
  );
  for (const [name, why] of absent) console.log(harmless(`${name} is quarantined: ${why}.`));
  if (state.placements.length === 0) return;
  const places = state.placements.slice(-10).map(each => [each.origin, harmless(each.machine), each.because]);
  console.log(`\n${table(['server', 'visited from', 'because'], places)}`);
}

function lines(machine: Machine, level: number): (string | number)[][] {
  const { name, state, errands, visits, rate, bytes, way, heard, trouble } = machine;
  const own = [
    `${'  '.repeat(level - 1)}${harmless(name)}`,
    level,
    state,
    errands,
    visits ?? 0,
    rate ?? 0,
    size(bytes ?? 0),
    harmless(way),
    heard === 0 ? 'never' : `${duration(Math.max(0, Date.now() - heard))} ago`,
    harmless(trouble),
  ];
  return [own, ...machine.outposts.flatMap(each => lines(each, level + 1))];
}
