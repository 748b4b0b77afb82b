/** What the options say, in the terms of the engine: texts are read here, and nothing behind it knows of flags. */

import type { Peer } from '../../engine/cluster/peer.ts';
import { type Engine, openEngine, refuseMistakes } from '../../engine/engine.ts';
import type { EngineOptions, Extras } from '../../engine/options.ts';
import { digestOf } from '../../engine/partitions.ts';
import { parseKeep } from '../../errand/scope/scope.ts';
import { parseDomainWeights } from '../../frontier/lanes/director.ts';
import { parsePvalue } from '../../frontier/orders/pvalue-terms.ts';
import { rememberedCluster } from '../../ledger/collection/cluster-file.ts';
import { readTrees } from '../../transfer/ssh/machine-tree.ts';
import { readingOf } from '../print/opening.ts';
import { harmlessLines } from '../print/terminal.ts';
import { readDecider } from './decider-file.ts';
import { checked, type OptionName, parseAddress, parseSize, type Values } from './options.ts';

export type CrawlValues = Omit<
  Values,
  | 'config'
  | 'seeds'
  | 'budget'
  | 'every'
  | 'freshness'
  | 'policy'
  | 'estimator'
  | 'thresholds'
  | 'secondLook'
  | 'notices'
  | 'public'
  | 'images'
  | 'workbench'
  | 'maxDisk'
  | Far
> &
  Partial<Pick<Values, 'images' | 'maxDisk' | Far>>;
/** Options about other machines, and about code that may travel there. */
type Far = 'outpost' | 'listen' | 'levels' | 'decider' | 'hooks' | 'cagedHooks' | 'engine' | 'peer' | 'capacity';

export function engineOptions(values: CrawlValues): EngineOptions {
  const {
    keep,
    pvalue,
    domains,
    bodyLimit,
    listen,
    outpost,
    decider,
    engine,
    peer,
    capacity,
    maxDisk,
    cagedHooks,
    ...rest
  } = values;
  return {
    ...rest,
    keep: parseKeep(keep),
    ...(pvalue !== undefined && { pvalue: parsePvalue(pvalue) }),
    ...(domains !== undefined && { domains: parseDomainWeights(domains) }),
    bodyBytes: parseSize(bodyLimit),
    ...(listen !== undefined && { listen: parseAddress(listen) }),
    ...(maxDisk !== undefined && { maxDisk: parseSize(maxDisk) }),
    outposts: readTrees(outpost ?? []),
    ...(decider !== undefined && { decider: readDecider(decider) }),
    cagedHooks: cagedHooks === 'on',
    say: text => console.error(harmlessLines(text)),
    reading: readingOf,
  };
}

/** The collection is one of several machines, as it was told or as it remembers. */
export function isClustered({ engine, data }: Pick<CrawlValues, 'engine' | 'data'>): boolean {
  return engine !== undefined || rememberedCluster(data) !== undefined;
}

/** Opens a collection to work in it, by what the options say. */
export async function openHome(values: CrawlValues, seeds: readonly string[], extras: Extras = {}): Promise<Engine> {
  if (!isClustered(values)) return openEngine(engineOptions(values), seeds, extras);
  const { peer, values: agreed } = await joinCluster(values, seeds, ['archive']);
  return peer.open(engineOptions(agreed), extras);
}

/**
 * Becomes one of several machines; what is one for all of them is as the engine has it. `also`: options that are the
 * crawl's besides, where somebody gives them.
 */
export async function joinCluster<V extends CrawlValues>(
  named: V,
  seeds: readonly string[],
  also: readonly (keyof V & OptionName)[],
): Promise<{ readonly peer: Peer; readonly values: V }> {
  // Taken out of the crawl.
  const values = named.decider === NO_DECIDER ? { ...named, decider: undefined } : named;
  if (values.archive !== undefined) await (await import('../../home/offsite/offsite.ts')).tryPlace(values.archive);
  // Before the engine hears of it: what is agreed on there holds for all.
  const options = engineOptions(values);
  refuseMistakes(options, seeds);
  const decider = options.decider ? digestOf(options.decider) : named.decider === NO_DECIDER ? '' : undefined;
  // Loaded by those who need it.
  const { Peer } = await import('../../engine/cluster/peer.ts');
  const say = (text: string) => console.error(harmlessLines(text));
  const remembered = rememberedCluster(values.data);
  const who = {
    ...values,
    engine: (values.engine ?? remembered?.engine)!,
    peer: values.peer ?? remembered?.peer,
    say,
    decider,
  };
  const chosen = (names: readonly (keyof V)[]) =>
    Object.fromEntries(names.map(name => [name, values[name]]).filter(([, value]) => value !== undefined));
  const peer = await Peer.join(who, { seeds: [...seeds], values: chosen(sharedOptions) }, chosen(also));
  const agreed = checked(peer.crawl.values, [...sharedOptions, ...also] as OptionName[]);
  return { peer, values: { ...values, ...agreed } };
}

const NO_DECIDER = 'none';

/** What a crawl is told once, for all of its machines. */
const sharedOptions = [
  ...([
    'pace',
    'connections',
    'allowPrivate',
    'maxPages',
    'depth',
    'scope',
    'keep',
    'focus',
    'domains',
    'agent',
  ] as const),
  ...(['order', 'pvalue', 'detector', 'images', 'perServer', 'bodyLimit'] as const),
] as const;
