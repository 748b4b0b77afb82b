/**
 * Every option there is: default, unit and one sentence each. Read from the command line, else from skein.config.ts or
 * skein.config.json in the working directory, else the default; checked once, here. Inner code gets plain values and
 * never looks at flags, files or the environment.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { SkeinError } from '../base/errors.ts';
import { detectorNames } from '../crawler/compare.ts';
import { estimators } from '../revisit/estimator.ts';

const seconds = z.coerce.number().min(0).max(86_400);
const count = z.coerce.number().int().min(1);

/** flag: as commander writes it; check: what is accepted; about: one sentence with unit and default. */
export const options = {
  data: {
    flag: '--data <dir>',
    check: z.string().min(1).default('skein-data'),
    about: 'directory of the collection (default ./skein-data)',
  },
  seeds: {
    flag: '--seeds <file>',
    check: z.string().optional(),
    about: 'file with one seed URL a line; - reads them from standard input',
  },
  pace: {
    flag: '--pace <seconds>',
    check: seconds.default(1),
    about: 'seconds between requests to one server (default 1; 0 lifts the delay)',
  },
  connections: {
    flag: '--connections <n>',
    check: count.max(256).default(1),
    about: 'connections per server (default 1)',
  },
  threads: {
    flag: '--threads <n>',
    check: z.coerce.number().int().min(0).max(64).optional(),
    about: 'threads that fetch and analyse here (default: as many as cores; 0 with --outpost)',
  },
  allowPrivate: {
    flag: '--allow-private',
    check: z.boolean().default(false),
    about: 'open private, loopback and link-local addresses',
  },
  maxPages: {
    flag: '--max-pages <n>',
    check: count.optional(),
    about: 'pages to fetch in this run (default: no limit)',
  },
  depth: {
    flag: '--depth <n>',
    check: z.coerce.number().int().min(0).max(1000).default(100),
    about: 'links between a page and its seed (default 100)',
  },
  perServer: {
    flag: '--per-server <n>',
    check: count.default(1_000_000),
    about: 'pages of one server, a guard against traps (default 1000000)',
  },
  bodyLimit: {
    flag: '--body-limit <size>',
    check: z.union([z.number(), z.string()]).default('16MB'),
    about: 'bytes of one body; more is cut and marked (default 16MB)',
  },
  scope: {
    flag: '--scope <list>',
    check: list(),
    about:
      'domains, hosts and paths to stay in: example.org,/docs/**,!/old/** (default: the hosts of the seeds; * = anywhere)',
  },
  keep: {
    flag: '--keep <filter>',
    check: z.string().default(''),
    about: 'what is stored, e.g. "type=text/html;size=<5MB;lang=en" (default: everything)',
  },
  order: {
    flag: '--order <name>',
    check: z.enum(['breadth', 'pvalue', 'focused']).default('breadth'),
    about: 'which page comes next: breadth, pvalue or focused (default breadth)',
  },
  focus: {
    flag: '--focus <words>',
    check: list(),
    about: 'keywords, comma separated; relevant pages come first and others are dropped (implies --order focused)',
  },
  domains: {
    flag: '--domains <weights>',
    check: z.string().default(''),
    about: 'weights of top-level domains, e.g. edu=3,org=1 (default: all alike)',
  },
  budget: {
    flag: '--budget <amount>',
    check: z.union([z.number(), z.string()]).optional(),
    about: 'what may be looked at again a day: 10% of the collection, 500 pages or 50MB (default 10%; remembered)',
  },
  freshness: {
    flag: '--freshness <share>',
    check: z.coerce.number().min(0.01).max(0.999).optional(),
    about: 'share of the collection to keep fresh, 0–1, with the smallest budget that does (instead of --budget)',
  },
  policy: {
    flag: '--policy <name>',
    check: z.enum(['value', 'uniform', 'proportional', 'pmcs', 'date', 'adaptive']).optional(),
    about: 'when pages are due: value, uniform, proportional, pmcs, date or adaptive (default value; remembered)',
  },
  estimator: {
    flag: '--estimator <name>',
    check: z.enum(Object.keys(estimators) as [string, ...string[]]).optional(),
    about: `how often a page changes: ${Object.keys(estimators).join(', ')} (default: the policy's own; remembered)`,
  },
  images: {
    flag: '--images',
    check: z.boolean().default(false),
    about: 'also fetch the images of the main content, and look again at them as often as they are worth',
  },
  detector: {
    flag: '--detector <name>',
    check: z.enum(detectorNames as [string, ...string[]]).default('content'),
    about: `what counts as a change: ${detectorNames.join(', ')} (default content)`,
  },
  workbench: {
    flag: '--workbench [port]',
    check: z.union([z.literal(true), z.coerce.number().int().min(0).max(65_535)]).optional(),
    about: 'serve the workbench on loopback (default port 7700)',
  },
  outpost: {
    flag: '--outpost <url>',
    check: list(),
    about: 'machine to crawl from, as ssh://user@machine[:port][/directory]; may be given several times',
  },
  listen: {
    flag: '--listen <address>',
    check: z.string().optional(),
    about: 'host:port where outposts that were invited may come in (default: none)',
  },
  levels: {
    flag: '--levels <n>',
    check: count.max(16).default(1),
    about: 'levels of outposts that an errand may travel (default 1)',
  },
  agent: {
    flag: '--agent <url>',
    check: z.url().default('https://github.com/skein-crawler/skein'),
    about: 'page that tells site owners who crawls; part of the User-Agent',
  },
} as const satisfies Record<string, { flag: string; check: z.ZodType; about: string }>;

export type OptionName = keyof typeof options;

/** What every command that fetches understands. */
export const fetchOptions = [
  'data',
  'pace',
  'connections',
  'threads',
  'allowPrivate',
  'maxPages',
  'depth',
  'perServer',
  'bodyLimit',
  'scope',
  'keep',
  'order',
  'focus',
  'domains',
  'images',
  'detector',
  'workbench',
  'outpost',
  'listen',
  'levels',
  'agent',
] as const satisfies readonly OptionName[];
export type Values = { [name in OptionName]: z.output<(typeof options)[name]['check']> };

function list() {
  return z
    .union([z.string(), z.array(z.string())])
    .default('')
    .transform(value => (Array.isArray(value) ? value : value.split(',')).map(each => each.trim()).filter(Boolean));
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

/** Declares these options on a command. */
export function declare(command: Command, names: readonly OptionName[]): Command {
  for (const name of names) {
    const option = new Option(options[name].flag, options[name].about);
    if (name === 'outpost') option.argParser((url, before: string[] | undefined) => [...(before ?? []), url]);
    command.addOption(option);
  }
  return command;
}

/** The values of these options: command line over config file over defaults. */
export async function values<N extends OptionName>(
  given: Record<string, unknown>,
  names: readonly N[],
): Promise<Pick<Values, N>> {
  const configured = await readConfig(process.cwd());
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const { check, flag } = options[name];
    const parsed = check.safeParse(given[name] ?? configured[name]);
    if (!parsed.success) {
      const shown = JSON.stringify(given[name] ?? configured[name]);
      throw new SkeinError(
        'bad-option',
        `${flag.split(' ')[0]} cannot be ${shown}: ${problem(parsed.error)}.`,
        `It takes ${options[name].about}.`,
      );
    }
    result[name] = parsed.data;
  }
  return result as Pick<Values, N>;
}

function problem(error: z.ZodError): string {
  const text = error.issues[0]?.message ?? 'it is not valid';
  return text.charAt(0).toLowerCase() + text.slice(1);
}

async function readConfig(directory: string): Promise<Record<string, unknown>> {
  const file = ['skein.config.ts', 'skein.config.json'].map(name => resolve(directory, name)).find(existsSync);
  if (!file) return {};
  let config: unknown;
  try {
    config = file.endsWith('.json')
      ? JSON.parse(readFileSync(file, 'utf8'))
      : ((await import(pathToFileURL(file).href)) as { default: unknown }).default;
  } catch (error) {
    throw new SkeinError('bad-config', `${file} cannot be read: ${(error as Error).message}.`);
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new SkeinError('bad-config', `${file} must hold an object.`);
  for (const name of Object.keys(config)) {
    if (name in options) continue;
    const near = nearest(name, Object.keys(options));
    throw new SkeinError(
      'bad-config',
      `${file} has an option "${name}" that does not exist.`,
      near && `Did you mean "${near}"?`,
    );
  }
  return config as Record<string, unknown>;
}

/** The name that differs least, if any is close. */
export function nearest(wrong: string, names: readonly string[]): string | undefined {
  const scored = names.map(name => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }));
  const best = scored.reduce((a, b) => (b.distance < a.distance ? b : a));
  return best.distance <= Math.max(2, wrong.length / 3) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** `5MB`, `300 kB`, `1024` → bytes. */
export function parseSize(text: string | number): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|kib|mib|gib)?\s*$/i.exec(String(text));
  if (!match) throw new SkeinError('bad-option', `"${text}" is not a size.`, 'Write it as 500kB, 16MB or 1GB.');
  const units: Record<string, number> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };
  return Math.round(Number(match[1]) * units[(match[2] ?? 'b').toLowerCase()]!);
}
