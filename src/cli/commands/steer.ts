/** `skein steer …`: gives one order to the Skein that runs in the data directory, from another terminal. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import type { SteerSettings } from '../../home/control.ts';
import { homeToOrder } from '../../home/door.ts';
import type { SteerOrder } from '../../home/orders.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';

interface SteerCommand {
  /** Name and arguments, as commander writes them. */
  readonly usage: string;
  readonly about: string;
  readonly example: string;
  /** `now`: what is in force, for orders that leave a part of it as it is. */
  readonly order: (given: readonly string[], now: SteerSettings) => SteerOrder;
}

const orders: readonly SteerCommand[] = [
  {
    usage: 'add <urls...>',
    about: 'add seeds to the crawl',
    example: 'add https://example.org/new',
    order: urls => ({ kind: 'add', urls: [...urls] }),
  },
  { usage: 'pause', about: 'send no more requests until resumed', example: 'pause', order: () => ({ kind: 'pause' }) },
  { usage: 'resume', about: 'go on', example: 'resume', order: () => ({ kind: 'resume' }) },
  {
    usage: 'stop',
    about: 'stop after finishing the requests in progress',
    example: 'stop',
    order: () => ({ kind: 'stop' }),
  },
  {
    usage: 'pace <seconds>',
    about: 'seconds between requests to one server',
    example: 'pace 2.5',
    order: ([seconds]) => ({ kind: 'pace', seconds: numberIn(seconds!) }),
  },
  {
    usage: 'limit <pages>',
    about: 'pages that this run may fetch, or none',
    example: 'limit 10000',
    order: ([pages]) => ({ kind: 'limit', pages: pages === 'none' ? null : countIn(pages!) }),
  },
  {
    usage: 'budget <amount>',
    about: 'daily budget of a watch: 10%, 500 pages or 50MB',
    example: 'budget 50MB',
    order: ([amount]) => ({ kind: 'budget', amount: amount! }),
  },
  {
    usage: 'scope <list>',
    about: 'limit the crawl to these domains, hosts and paths from now on',
    example: "scope 'example.org,!/old/**'",
    order: ([scope], { keep }) => ({ kind: 'filters', scope: scope!, keep }),
  },
  {
    usage: 'keep <filter>',
    about: 'what to store from now on; an empty text stores everything',
    example: "keep 'type=text/html;size=<5MB'",
    order: ([keep], { scope }) => ({ kind: 'filters', scope, keep: keep! }),
  },
  {
    usage: 'server <origin> <action> [seconds]',
    about: 'pause, resume, exclude or include one server, or set its pace (default: pace of the crawl)',
    example: 'server https://example.org pace 5',
    order: ([origin, action, seconds]) => ({
      ...{ kind: 'server', origin: origin!, action: actionIn(action!) },
      seconds: seconds === undefined ? null : numberIn(seconds),
    }),
  },
  {
    usage: 'retry <url>',
    about: 'retry a failed page',
    example: 'retry https://example.org/broken',
    order: ([url]) => ({ kind: 'retry', url: url! }),
  },
];

export function addSteerCommand(program: Command): void {
  const steer = program
    .command('steer')
    .addHelpText('after', '\nExamples:\n  skein steer pause\n  skein steer add https://example.org/new');
  for (const { usage, about, example, order } of orders) {
    const command = steer
      .command(usage)
      .description(about)
      .option('--json', 'print one JSON object with the new state')
      .addHelpText('after', `\nExample:\n  skein steer ${example}`);
    declare(command, ['data']).action(async () => {
      const given = command.opts<Record<string, unknown>>();
      const { data } = await values(given, ['data']);
      const obeyed = await give(data, now => order(command.args, now));
      if (given['json']) printJson(obeyed);
      else console.log(obeyed.done);
    });
  }
}

async function give(data: string, order: (now: SteerSettings) => SteerOrder) {
  const home = homeToOrder(data);
  if (!home) {
    throw new SkeinError('not-found', `No Skein is running in ${data}.`, 'Start "skein crawl" or "skein watch" there.');
  }
  const { settings } = await home.state();
  return home.order(order(settings));
}

function numberIn(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= 0)) throw new SkeinError('bad-option', `"${text}" is not a number.`);
  return number;
}

function countIn(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new SkeinError('bad-option', `"${text}" is not a number of pages.`, 'Write a whole number from 1, or none.');
}

const actions = ['pause', 'resume', 'exclude', 'include', 'pace'] as const;

function actionIn(text: string): (typeof actions)[number] {
  const action = actions.find(each => each === text);
  if (action) return action;
  throw new SkeinError('bad-option', `There is no server action "${text}".`, `Choose one of ${actions.join(', ')}.`);
}
