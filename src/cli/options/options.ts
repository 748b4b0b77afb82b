/**
 * Every option there is: default, unit and one sentence each. What people need day to day has a flag; what they seldom
 * need is a setting, given as `--set name=value`. Both are read from the command line, else from skein.config.ts or
 * skein.config.json in the working directory, else the default; checked once, here. Inner code gets plain values and
 * never looks at flags, files or the environment.
 */
import { type Command, Option } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { nearest } from '../../base/named.ts';
import { shellWord } from '../print/terminal.ts';
import {
  type Accepted,
  alone,
  contact,
  count,
  either,
  filled,
  list,
  listed,
  number,
  optional,
  or,
  switched,
  text,
} from './checks.ts';
import { readConfig } from './config.ts';
import { type Setting, settings } from './settings.ts';

export { parseAddress } from './listen.ts';
export { settings } from './settings.ts';
export { parseSize } from './size.ts';

const DEFAULT_DATA = 'skein-data';

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
    about: 'file with one seed URL per line; - reads standard input; in a config file also a list of URLs',
  },
  pace: {
    flag: '--pace <seconds>',
    check: or(number({ least: 0, most: 86_400 }), 1),
    about: 'seconds between requests to one server (default 1; 0 = no delay)',
  },
  connections: {
    flag: '--connections <n>',
    check: or(count(256), 1),
    about: 'connections per server (default 1)',
  },
  allowPrivate: {
    flag: '--allow-private',
    check: or(switched, false),
    about: 'allow private, loopback and link-local addresses beyond those that a seed names',
  },
  maxPages: {
    flag: '--max-pages <n>',
    check: optional(count()),
    about: 'pages to fetch in this run (default: no limit)',
  },
  depth: {
    flag: '--depth <n>',
    check: optional(number({ least: 0, most: 1000, whole: true })),
    about: 'most links between a page and its seed (default 100; remembered)',
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
    about: 'your code (.wasm or .js) that decides whether to keep a page and follow its links (default: none)',
  },
  hooks: {
    flag: '--hooks <file>',
    check: optional(filled),
    about: 'your module with hooks that run before a request and after a page (default: none)',
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
    about: 'weights of top-level domains, e.g. edu=3,org=1 (default: all equal; remembered)',
  },
  budget: {
    flag: '--budget <amount>',
    check: optional(either(number({}), text)),
    about: 'daily budget for checks: 10% of the collection, 500 pages or 50MB (default 10%; remembered)',
  },
  freshness: {
    flag: '--freshness <share>',
    check: optional(number({ least: 0.01, most: 0.999 })),
    about: 'share of the collection to keep fresh, 0–1, at the smallest budget (instead of --budget)',
  },
  every: {
    flag: '--every <rule>',
    check: optional(list),
    about:
      'fixed check times for pages, e.g. "example.org/news 5m mo-fr 08:00-18:00 200/d"; repeatable; none clears them (remembered)',
  },
  keepVersions: {
    flag: '--keep-versions <n>',
    check: optional(number({ least: 0, most: 1_000_000, whole: true })),
    about: 'versions to keep of each page, including the newest (default: all; 0 = all; remembered)',
  },
  keepDays: {
    flag: '--keep-days <n>',
    check: optional(number({ least: 0, most: 100_000 })),
    about: 'days to keep older versions (default: for ever; 0 = for ever; remembered)',
  },
  maxDisk: {
    flag: '--max-disk <size>',
    check: optional(either(number({}), text)),
    about:
      'most disk space for the collection, e.g. 50GB; old versions are deleted first (default: no limit; remembered)',
  },
  archive: {
    flag: '--archive <place>',
    check: optional(text),
    about: 'where to copy the archive every few seconds: s3://bucket/prefix (default: nowhere; remembered)',
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
      'machine to crawl from, as ssh://user@machine[:port][/directory]; ssh://a/ssh://b continues from a to b; or a file with a tree of them; repeatable',
  },
  listen: {
    flag: '--listen <address>',
    check: optional(text),
    about: 'host:port on which invited outposts connect (default: none)',
  },
  levels: {
    flag: '--levels <n>',
    check: optional(count(16)),
    about: 'levels of outposts that an errand may travel (default 1, or those of the --outpost tree)',
  },
  engine: {
    flag: '--engine <url>',
    check: optional(filled),
    about:
      'NATS JetStream of a cluster, as nats://a,b,c; all machines that name it form one cluster (default: remembered, else none)',
  },
  peer: {
    flag: '--peer <name>',
    check: optional(filled),
    about: 'name of this machine in the cluster (default: its host name)',
  },
  capacity: {
    flag: '--capacity <n>',
    check: optional(number({ least: 0.01, most: 1000 })),
    about: 'share of this machine relative to other peers (default 1; a full disk lowers it)',
  },
  agent: {
    flag: '--agent <contact>',
    check: optional(contact),
    about: 'web page or mail address for the owners of sites, part of the User-Agent (default: RFC 9309; remembered)',
  },
} as const satisfies Record<string, Flag>;

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
    'hooks',
    'focus',
    'domains',
  ] as const),
  ...(['keepVersions', 'keepDays', 'maxDisk', 'archive'] as const),
  ...(['workbench', 'outpost', 'listen', 'levels', 'agent'] as const),
  ...([
    'order',
    'pvalue',
    'detector',
    'images',
    'threads',
    'perServer',
    'partitions',
    'bodyLimit',
    'audit',
    'cagedHooks',
  ] as const),
] as const satisfies readonly OptionName[];
export type Values = { [name in OptionName]: Accepted<(typeof options)[name]['check']> };

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
    const about = `rarely needed setting: ${known.join(', ')}; repeatable`;
    command.addOption(new Option('--set <name=value>', about).argParser(gathered));
  }
  return command;
}

function optionOf(name: keyof typeof flags): Option {
  const option = new Option(flags[name].flag, flags[name].about);
  return name === 'outpost' || name === 'every' ? option.argParser(gathered) : option;
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

/** Names that a config file may have; rules of notify stand there alone. */
const configurable = [...Object.keys(options).filter(name => name !== 'config'), 'notify'];

/** What the config file says of something that is no option. */
export async function configuredAs(given: Record<string, unknown>, name: 'notify'): Promise<unknown> {
  return (await readConfig(process.cwd(), configurable, given['config'] as string | undefined))[name];
}

/** The values of these options: command line over config file over defaults. */
export async function values<N extends OptionName>(
  given: Record<string, unknown>,
  names: readonly N[],
): Promise<Pick<Values, N>> {
  const file = given['config'] as string | undefined;
  const configured = await readConfig(process.cwd(), configurable, file);
  const chosen = { ...configured, ...defined(given), ...readSettings((given['set'] as string[]) ?? [], names) };
  return checked(chosen, names, name => (chosen[name] === configured[name] ? ' (from the config file)' : ''));
}

/** Values of these options, each checked; `from`: where one comes from, for people. */
export function checked<N extends OptionName>(
  chosen: Record<string, unknown>,
  names: readonly N[],
  from: (name: N) => string = () => ' (from the engine)',
): Pick<Values, N> {
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const { check, about } = options[name];
    const found = check(chosen[name]);
    if ('wrong' in found) {
      const called = isFlag(name) ? `--${dashed(name)}` : `The setting ${dashed(name)}`;
      throw new SkeinError(
        'bad-option',
        `${called}${from(name)} cannot be ${JSON.stringify(chosen[name])}: ${found.wrong}.`,
        `--help says: ${about}.`,
      );
    }
    result[name] = found.value;
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
