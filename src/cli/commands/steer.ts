/** `skein add`, `pause`, `resume`, `stop`: steer the Skein that runs in the data directory from another terminal. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import type { Order } from '../../home/control.ts';
import { findHome } from '../../home/door.ts';
import { declare, values } from '../options.ts';

export function addSteerCommands(program: Command): void {
  const simple = (name: 'pause' | 'resume' | 'stop', about: string) => {
    const command = program
      .command(name)
      .description(`${about} the Skein that runs in the data directory`)
      .option('--json', 'print the state that came back')
      .addHelpText('after', `\nExample:\n  skein ${name} --data ./skein-data`);
    declare(command, ['data']).action((given: Record<string, unknown>) => steer(given, { kind: name }));
  };
  const add = program
    .command('add')
    .description('add seeds to the crawl that runs in the data directory')
    .argument('<urls...>', 'URLs to start from')
    .option('--json', 'print the state that came back')
    .addHelpText('after', '\nExample:\n  skein add https://example.org/new');
  declare(add, ['data']).action((urls: string[], given: Record<string, unknown>) =>
    steer(given, { kind: 'add', urls }),
  );
  simple('pause', 'pause');
  simple('resume', 'resume');
  simple('stop', 'end, once what is under way is finished,');
}

async function steer(given: Record<string, unknown>, order: Order): Promise<void> {
  const { data } = await values(given, ['data']);
  const home = findHome(data);
  if (!home) {
    throw new SkeinError('not-found', `No Skein is running in ${data}.`, 'Start "skein crawl" or "skein watch" there.');
  }
  const { done, state } = await home.order(order);
  if (given['json']) console.log(JSON.stringify({ done, state }));
  else console.log(done);
}
