/**
 * Every option there is: default, unit and one sentence each. What people need day to day has a flag; what they seldom
 * need is a setting, given as `--set name=value`. Both are read from the command line, else from skein.config.ts or
 * skein.config.json in the working directory, else the default; checked once, here. Inner code gets plain values and
 * never looks at flags, files or the environment.
 */
import { type Command, Option } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { detectorNames } from '../../crawler/detect/compare.ts';
import { orderNames } from '../../frontier/orders/order.ts';
import { estimators } from '../../revisit/estimator.ts';
import { shellWord } from '../print/terminal.ts';
import {
  type Accepted,
  alone,
  type Check,
  contact,
  count,
  either,
  filled,
  list,
  listed,
  number,
  oneOf,
  optional,
  or,
  switched,
  text,
} from './checks.ts';
import { nearest, readConfig } from './config.ts';

export const DEFAULT_DATA = 'skein-data';

interface Setting {
  /** What is accepted. */
  readonly check: Check<unknown>;
  /** One sentence with unit and default. */
  readonly about: string;
}

interface Flag extends Setting {
  /** As commander writes it. */
  readonly flag: string;
}

export const flags = {
  data: {
    flag: '--data <dir>',
    check: or(filled, DEFAULT_DATA),
    about: 'directory of the collection (default ./skein-data)',
  },
  config: {
    flag: '--config <file>',
    check: optional(filled),
    about: 'config file (default: skein.config.ts or skein.config.json in the working directory)',
  },
  seeds: {
    flag: '--seeds <file>',
    check: optional(either(listed, text)),
    about: 'file with one seed URL a line; - reads them from standard input; in a config file also a list of URLs',
  },
  pace: {
    flag: '--pace <seconds>',
    check: or(number({ least: 0, most: 86_400 }), 1),
    about: 'seconds between requests to one server (default 1; 0 lifts the delay)',
  },
  connections: {
    flag: '--connections <n>',
    check: or(count(256), 1),
    about: 'connections per server (default 1)',
  },
  allowPrivate: {
    flag: '--allow-private',
    check: or(switched, false),
    about: 'open private, loopback and link-local addresses, beyond those that a seed names',
  },
  maxPages: {
    flag: '--max-pages <n>',
    check: optional(count()),
    about: 'pages to fetch in this run (default: no limit)',
  },
  depth: {
    flag: '--depth <n>',
    check: optional(number({ least: 0, most: 1000, whole: true })),
    about: 'links between a page and its seed (default 100; remembered)',
  },
  scope: {
    flag: '--scope <list>',
    check: optional(list),
    about:
      'domains, hosts and paths to stay in: example.org,/docs/**,!/old/** (default: the hosts of the seeds; * = anywhere; remembered)',
  },
  keep: {
    flag: '--keep <filter>',
    check: or(text, ''),
    about: 'what is stored, e.g. "type=text/html;size=<5MB;lang=en" (default: everything)',
  },
  decider: {
    flag: '--decider <file>',
    check: optional(filled),
    about:
      'code of yours (.wasm or .js) that says of each page whether to keep it and follow its links (default: none)',
  },
  focus: {
    flag: '--focus <words>',
    check: optional(list),
    about:
      'keywords, comma separated; relevant pages come first and others are dropped (implies the order focused; remembered)',
  },
  domains: {
    flag: '--domains <weights>',
    check: optional(text),
    about: 'weights of top-level domains, e.g. edu=3,org=1 (default: all alike; remembered)',
  },
  budget: {
    flag: '--budget <amount>',
    check: optional(either(number({}), text)),
    about: 'what may be looked at again a day: 10% of the collection, 500 pages or 50MB (default 10%; remembered)',
  },
  freshness: {
    flag: '--freshness <share>',
    check: optional(number({ least: 0.01, most: 0.999 })),
    about: 'share of the collection to keep fresh, 0–1, with the smallest budget that does (instead of --budget)',
  },
  workbench: {
    flag: '--workbench [port]',
    check: optional(either(alone, number({ least: 0, most: 65_535, whole: true }))),
    about: 'serve the workbench on loopback (default port 7700)',
  },
  outpost: {
    flag: '--outpost <url>',
    check: or(list, []),
    about:
      'machine to crawl from, as ssh://user@machine[:port][/directory]; ssh://a/ssh://b goes on from a to b; or a file with a tree of them; several times for several',
  },
  listen: {
    flag: '--listen <address>',
    check: optional(text),
    about: 'host:port where outposts that were invited may come in (default: none)',
  },
  levels: {
    flag: '--levels <n>',
    check: optional(count(16)),
    about: 'levels of outposts that an errand may travel (default 1, or those of the tree that --outpost names)',
  },
  agent: {
    flag: '--agent <contact>',
    check: optional(contact),
    about: 'web page or mail address for the owners of sites, part of the User-Agent (default: RFC 9309; remembered)',
  },
} as const satisfies Record<string, Flag>;

const imagesAccepted = or(oneOf(['watch', 'store', 'off']), 'watch');

/** docs/guides/options.md explains them. */
export const settings = {
  order: {
    check: optional(oneOf(orderNames)),
    about: 'breadth, pvalue or focused: which page comes next (default breadth; remembered)',
  },
  pvalue: {
    check: optional(text),
    about:
      'terms of the order pvalue: forward=1,backward=1 (weights), aging=0 (pages), service=4:2:1, lists=crawl or server (remembered)',
  },
  detector: {
    check: optional(oneOf(detectorNames)),
    about: `what counts as a change: ${detectorNames.join(', ')} (default content; remembered)`,
  },
  policy: {
    check: optional(oneOf(['value', 'uniform', 'proportional', 'pmcs', 'date', 'adaptive'])),
    about: 'when pages are due: value, uniform, proportional, pmcs, date or adaptive (default value; remembered)',
  },
  estimator: {
    check: optional(oneOf(Object.keys(estimators))),
    about: `how often a page changes: ${Object.keys(estimators).join(', ')} (default: the policy's own; remembered)`,
  },
  thresholds: {
    check: optional(text),
    about:
      'probabilities of change between which the policy pmcs lets outposts compare, as 0.1,0.8; with ,strict it sends all other pages as the paper does (default 0.1,0.8; remembered)',
  },
  images: {
    check: (given: unknown) => imagesAccepted(imagesMeant(given)),
    about:
      'watch, store or off: a refresh watches images by their headers; store fetches and keeps them all (default watch)',
  },
  threads: {
    check: optional(number({ least: 0, most: 64, whole: true })),
    about: 'threads that fetch and analyse here (default: as many as cores; 0 with --outpost)',
  },
  perServer: {
    check: optional(count()),
    about: 'pages of one server, a guard against traps (default 1000000; remembered)',
  },
  bodyLimit: {
    check: or(either(number({}), text), '16MB'),
    about: 'bytes of one body; more is cut and marked (default 16MB)',
  },
  secondLook: {
    check: optional(number({ least: 0, most: 3600 })),
    about: 'seconds until a second look at what may be noise; 0 = none (default 3 for refresh, 90 for watch)',
  },
  audit: {
    check: or(number({ least: 0, most: 1 }), 0.02),
    about: 'share of the pages from other machines that home looks at itself, 0 to 1 (default 0.02)',
  },
} as const satisfies Record<string, Setting>;

export const options = { ...flags, ...settings };
export type OptionName = keyof typeof options;

/** What every command that fetches understands. */
export const fetchOptions = [
  ...([
    'data',
    'pace',
    'connections',
    'allowPrivate',
    'maxPages',
    'depth',
    'scope',
    'keep',
    'decider',
    'focus',
    'domains',
  ] as const),
  ...(['workbench', 'outpost', 'listen', 'levels', 'agent'] as const),
  ...(['order', 'pvalue', 'detector', 'images', 'threads', 'perServer', 'bodyLimit', 'audit'] as const),
] as const satisfies readonly OptionName[];
export type Values = { [name in OptionName]: Accepted<(typeof options)[name]['check']> };

/** `--set images` alone, and yes and no in a config file. */
function imagesMeant(value: unknown): unknown {
  if (value === true || value === 'yes') return 'store';
  return value === false || value === 'no' ? 'off' : value;
}

/** `host:port` or `port`, as --listen takes it. */
export function parseAddress(text: string): { host: string; port: number } {
  const match = /^(?:(\[[0-9a-f:]+\]|[^:]+):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2] ?? -1);
  if (!match || port > 65_535) {
    throw new SkeinError('bad-option', `"${text}" is not an address to listen at.`, 'Write it as 0.0.0.0:7070.');
  }
  return { host: (match[1] ?? '0.0.0.0').replace(/[[\]]/g, ''), port };
}

/** What a command that is suggested needs to find this collection. */
export function dataOption(directory: string): string {
  return directory === DEFAULT_DATA ? '' : ` --data ${shellWord(directory)}`;
}

/** Declares these options on a command; the settings among them as --set. */
export function declare(command: Command, names: readonly OptionName[]): Command {
  // Where there is a collection, a config file may say where.
  const all = names.includes('data') ? (['config', ...names] as const) : names;
  for (const name of all) {
    if (isFlag(name)) command.addOption(optionOf(name));
  }
  const known = names.filter(name => !isFlag(name)).map(dashed);
  if (known.length > 0) {
    const about = `a setting that is seldom needed: ${known.join(', ')}; several times for several`;
    command.addOption(new Option('--set <name=value>', about).argParser(gathered));
  }
  return command;
}

function optionOf(name: keyof typeof flags): Option {
  const option = new Option(flags[name].flag, flags[name].about);
  return name === 'outpost' ? option.argParser(gathered) : option;
}

function gathered(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function isFlag(name: string): name is keyof typeof flags {
  return name in flags;
}

/** As it is written on the command line: `bodyLimit` is `body-limit`. */
function dashed(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}

/** The values of these options: command line over config file over defaults. */
export async function values<N extends OptionName>(
  given: Record<string, unknown>,
  names: readonly N[],
): Promise<Pick<Values, N>> {
  const file = given['config'] as string | undefined;
  const configurable = Object.keys(options).filter(name => name !== 'config');
  const configured = await readConfig(process.cwd(), configurable, file);
  const chosen = { ...configured, ...defined(given), ...readSettings((given['set'] as string[]) ?? [], names) };
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const { check, about } = options[name];
    const checked = check(chosen[name]);
    if ('wrong' in checked) {
      const called = isFlag(name) ? `--${dashed(name)}` : `The setting ${dashed(name)}`;
      const from = chosen[name] === configured[name] ? ' (from the config file)' : '';
      throw new SkeinError(
        'bad-option',
        `${called}${from} cannot be ${JSON.stringify(chosen[name])}: ${checked.wrong}.`,
        `--help says: ${about}.`,
      );
    }
    result[name] = checked.value;
  }
  return result as Pick<Values, N>;
}

/** Of every option, as if nothing had been said. */
export function defaults(): Values {
  const result: Record<string, unknown> = {};
  for (const [name, { check }] of Object.entries(options)) {
    const checked = check(undefined);
    if ('value' in checked) result[name] = checked.value;
  }
  return result as Values;
}

function defined(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** `detector=counts` → { detector: 'counts' }; `images` alone is `images=store`. */
function readSettings(texts: readonly string[], names: readonly OptionName[]): Record<string, unknown> {
  const known = new Map(names.filter(name => !isFlag(name)).map(name => [dashed(name), name]));
  const read: Record<string, unknown> = {};
  for (const text of texts) {
    const [key = '', ...rest] = text.split('=');
    const name = known.get(key.trim());
    if (name === undefined) {
      const near = nearest(key, [...known.keys()]);
      throw new SkeinError(
        'bad-option',
        `There is no setting "${key}" here.`,
        near ? `Did you mean "${near}"?` : `There are ${[...known.keys()].join(', ')}.`,
      );
    }
    read[name] = rest.length === 0 ? true : rest.join('=').trim();
  }
  return read;
}

/** `5MB`, `300 kB`, `1024` → bytes. */
export function parseSize(text: string | number): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|kib|mib|gib)?\s*$/i.exec(String(text));
  if (!match) throw new SkeinError('bad-option', `"${text}" is not a size.`, 'Write it as 500kB, 16MB or 1GB.');
  const units: Record<string, number> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };
  return Math.round(Number(match[1]) * units[(match[2] ?? 'b').toLowerCase()]!);
}
