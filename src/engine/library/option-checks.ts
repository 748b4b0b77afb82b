/**
 * What a program says of options, checked before anything is opened: types hold only where TypeScript looks. Each option
 * has one sentence; a name that there is not is told with the one that was meant.
 */
import { SkeinError } from '../../base/errors.ts';
import { nearest } from '../../base/named.ts';
import { MOST_PARTITIONS } from '../../base/partition.ts';
import { detectorNames } from '../../crawler/detect/compare.ts';
import { orderNames } from '../../frontier/orders/order.ts';
import { estimators } from '../../revisit/estimator.ts';
import { policies } from '../../revisit/policy.ts';
import type { FreshOptions } from '../keep-fresh.ts';
import type { EngineOptions } from '../options.ts';

/** What a value must be, and whether this one is. */
interface OptionCheck {
  readonly must: string;
  readonly passes: (value: unknown) => boolean;
}

type Checks = Readonly<Record<string, OptionCheck>>;

function number(least: number, most = Number.POSITIVE_INFINITY, whole = false): OptionCheck {
  const kind = whole ? 'a whole number' : 'a number';
  return {
    must: most === Number.POSITIVE_INFINITY ? `${kind} of at least ${least}` : `${kind} from ${least} to ${most}`,
    passes: value =>
      typeof value === 'number' && value >= least && value <= most && (!whole || Number.isSafeInteger(value)),
  };
}

const count = (most?: number): OptionCheck => number(1, most, true);
const isText = (value: unknown): boolean => typeof value === 'string';
const text: OptionCheck = { must: 'a text', passes: value => typeof value === 'string' && value !== '' };
const yes: OptionCheck = { must: 'true or false', passes: value => typeof value === 'boolean' };
const listener: OptionCheck = { must: 'a function', passes: value => typeof value === 'function' };
const record: OptionCheck = { must: 'an object', passes: value => typeof value === 'object' && value !== null };
const bytes: OptionCheck = { must: 'bytes (a Uint8Array)', passes: value => value instanceof Uint8Array };
const signal: OptionCheck = { must: 'an AbortSignal', passes: value => value instanceof AbortSignal };
const texts: OptionCheck = {
  must: 'a list of texts',
  passes: value => Array.isArray(value) && value.every(isText),
};
const records: OptionCheck = {
  must: 'a list of objects',
  passes: value => Array.isArray(value) && value.every(record.passes),
};
const place: OptionCheck = {
  must: 'a path or a file URL',
  passes: value => text.passes(value) || value instanceof URL,
};
const weights: OptionCheck = {
  must: 'a Map of domains and numbers',
  passes: value => value instanceof Map && [...value.values()].every(number(0).passes),
};

function oneOf(names: readonly string[]): OptionCheck {
  return { must: `one of ${names.join(', ')}`, passes: value => names.includes(value as string) };
}

const moment: OptionCheck = {
  must: 'milliseconds since 1970, as Date.now() has them',
  passes: value => typeof value === 'number' && !Number.isNaN(value),
};

const budget: OptionCheck = {
  must: 'one of { share }, { pages } and { bytes }, with a number of at least 0',
  passes: value => {
    if (!record.passes(value)) return false;
    const given = Object.entries(value as object).filter(([, amount]) => amount !== undefined);
    return given.length === 1 && given.every(([name, amount]) => amounts.includes(name) && number(0).passes(amount));
  },
};
const amounts: readonly string[] = ['share', 'pages', 'bytes'];

const ownFetcher: OptionCheck = {
  must: 'an object with the path of a module: { module, options, domains }',
  passes: value => record.passes(value) && place.passes((value as { module?: unknown }).module),
};

const opening = {
  data: text,
  tuned: yes,
  partitions: count(MOST_PARTITIONS),
  pace: number(0, 86_400),
  connections: count(256),
  allowPrivate: yes,
  maxPages: count(),
  keep: record,
  decider: bytes,
  hooks: place,
  cagedHooks: yes,
  fetcher: ownFetcher,
  bodyBytes: number(0),
  images: oneOf(['watch', 'store', 'off']),
  detector: oneOf(detectorNames),
  threads: number(0, 64, true),
  agent: text,
  outposts: records,
  listen: record,
  levels: count(16),
  audit: number(0, 1),
  keepVersions: number(0, 1_000_000, true),
  keepDays: number(0, 100_000),
  maxDisk: number(0),
  archive: { ...text, passes: isText },
  signal,
  say: listener,
  reading: listener,
  scope: texts,
  depth: number(0, 1000, true),
  domains: weights,
  focus: texts,
  order: oneOf(orderNames),
  pvalue: record,
  perServer: count(),
} satisfies Record<keyof EngineOptions | 'tuned', OptionCheck>;

const { data: _, tuned: __, ...running } = opening;

const refreshing = {
  ...running,
  budget,
  freshness: number(0.01, 0.999),
  policy: oneOf(Object.keys(policies)),
  estimator: oneOf(Object.keys(estimators)),
  thresholds: record,
  notices: yes,
  public: text,
  every: texts,
  secondLook: number(0, 3600),
} satisfies Record<Exclude<keyof FreshOptions, 'data'>, OptionCheck>;

const pattern: OptionCheck = { ...text, passes: isText };
const chosen = { pattern, signal, after: text };
const exporting: Checks = {
  ...{ pattern, since: moment, until: moment, newest: yes, body: yes, filename: text, signal },
  format: {
    must: 'the name of a format, or an exporter of yours',
    passes: value => text.passes(value) || record.passes(value),
  },
};
const searching: Checks = {
  ...{
    limit: count(100),
    offset: number(0, 1000, true),
    unfold: yes,
    language: text,
    now: moment,
    freshness: listener,
  },
  signal,
};

const optionChecks = {
  open: opening,
  crawl: running,
  refresh: refreshing,
  watch: refreshing,
  search: searching,
  export: exporting,
  extract: { ...chosen, format: oneOf(['jsonl', 'csv', 'parquet']) },
  chunks: chosen,
  forget: { signal },
  changes: {
    ...{ since: moment, until: moment, pattern, limit: count() },
    ...{ from: number(0), before: number(0), server: count(), first: yes, quiet: yes, template: yes },
  },
} satisfies Record<string, Checks>;

/** Throws 'bad-option' at the first that is wrong; what is undefined was not said. */
export function checkOptions(call: keyof typeof optionChecks, options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new SkeinError('bad-option', `The options of ${call}() are an object.`);
  const checks: Checks = optionChecks[call];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) throw unknown(call, name, Object.keys(checks));
    if (!check.passes(value))
      throw new SkeinError('bad-option', `The option ${name} of ${call}() is ${check.must}, not ${shown(value)}.`);
  }
}

function unknown(call: string, name: string, names: readonly string[]): SkeinError {
  const near = nearest(name, names);
  const hint = near === undefined ? 'The guide of the library lists them.' : `Did you mean ${near}?`;
  return new SkeinError('bad-option', `${call}() has no option ${name}.`, hint);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : `a ${value?.constructor?.name ?? typeof value}`;
}

/** URLs, patterns or servers that a program names: one, or a list. */
export function textsOf(given: unknown, call: string): string[] {
  const all: unknown[] = [given].flat();
  if (all.every(each => typeof each === 'string')) return all;
  throw new SkeinError('bad-option', `${call}() takes a text or a list of texts, not ${shown(given)}.`);
}
