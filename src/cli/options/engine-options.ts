/** What the options say, in the terms of the engine: texts are read here, and nothing behind it knows of flags. */
import { type Engine, openEngine } from '../../engine/engine.ts';
import type { EngineOptions, Extras } from '../../engine/options.ts';
import { parseKeep } from '../../errand/scope/scope.ts';
import { parseDomainWeights } from '../../frontier/lanes/director.ts';
import { parsePvalue } from '../../frontier/orders/pvalue-terms.ts';
import { readTrees } from '../../transfer/ssh/machine-tree.ts';
import { readingOf } from '../print/opening.ts';
import { readDecider } from './decider-file.ts';
import { parseAddress, parseSize, type Values } from './options.ts';

export type CrawlValues = Omit<
  Values,
  | 'config'
  | 'seeds'
  | 'budget'
  | 'freshness'
  | 'policy'
  | 'estimator'
  | 'thresholds'
  | 'secondLook'
  | 'images'
  | 'workbench'
  | Far
> &
  Partial<Pick<Values, 'images' | Far>>;
/** Options about other machines, and about code that may travel there. */
type Far = 'outpost' | 'listen' | 'levels' | 'decider';

export function engineOptions(values: CrawlValues): EngineOptions {
  const { keep, pvalue, domains, bodyLimit, listen, outpost, decider, ...rest } = values;
  return {
    ...rest,
    keep: parseKeep(keep),
    ...(pvalue !== undefined && { pvalue: parsePvalue(pvalue) }),
    ...(domains !== undefined && { domains: parseDomainWeights(domains) }),
    bodyBytes: parseSize(bodyLimit),
    ...(listen !== undefined && { listen: parseAddress(listen) }),
    outposts: readTrees(outpost ?? []),
    ...(decider !== undefined && { decider: readDecider(decider) }),
    say: text => console.error(text),
    reading: readingOf,
  };
}

/** Opens a collection to work in it, by what the options say. */
export function openHome(values: CrawlValues, seeds: readonly string[], extras: Extras = {}): Promise<Engine> {
  return openEngine(engineOptions(values), seeds, extras);
}
