/** What the stages of a run get from the outpost that they run at. */
import type { Clock } from '../base/clock.ts';
import type { Errand } from '../errand/errand.ts';
import type { Decider } from './decider.ts';
import type { Fetchers } from './fetchers.ts';
import type { RequestHook } from './hooks.ts';
import type { Pace } from './pace/pace.ts';
import type { PackerPool } from './pack/packer-pool.ts';
import type { RulesMemory } from './robots/rules-memory.ts';
import type { Fetcher } from './stages.ts';

/** How large and how old a parcel may get. */
export interface ParcelSize {
  readonly visits: number;
  /** Of the pages that are kept, as they are read: without content coding. */
  readonly bytes: number;
  /** Milliseconds. */
  readonly age: number;
}

export type ParcelSizes = Readonly<Record<Errand['kind'], ParcelSize>>;

/** What an outpost lends to an errand. */
export interface Tools {
  readonly fetcher: Fetcher;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly packers: PackerPool;
  readonly rules: RulesMemory;
  /** When parcels leave; default: soon. */
  readonly parcels?: ParcelSizes;
  /** Decides about the errand's pages, where the errand names code that does, or hooks of this machine's user do. */
  readonly decider?: Decider;
  /** Asked before each request, where there are such hooks. */
  readonly requests?: RequestHook;
  /** Product token that robots.txt is read for, e.g. `skein`. */
  readonly agentToken: string;
  /** True while the thread has more to do than it can: compression then takes the cheap way. */
  readonly busy: () => boolean;
}

/** What an outpost has: the same, with a choice of fetchers. */
export interface OutpostTools extends Omit<Tools, 'fetcher'> {
  readonly fetchers: Fetchers;
}

/** What an errand for this server gets. */
export function toolsFor({ fetchers, ...rest }: OutpostTools, origin: string): Tools {
  return { ...rest, fetcher: fetchers.of(origin) };
}
