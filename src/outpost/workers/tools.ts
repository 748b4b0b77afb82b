/** Makes the tools that an outpost lends to its errands, from plain data that can cross a thread or a wire. */
import { clockOf, type TimeSource } from '../../base/clock.ts';
import type { Timeouts } from '../../crawler/fetch/exchange.ts';
import { openFetcher } from '../../crawler/fetch/fetcher.ts';
import type { ClientCertificates } from '../../crawler/fetch/tls.ts';
import { type Fetchers, fetchersByDomain, oneFetcher } from '../../crawler/fetchers.ts';
import { AddressSlots } from '../../crawler/pace/address-slots.ts';
import type { Leave } from '../../crawler/pace/leave.ts';
import { Pace } from '../../crawler/pace/pace.ts';
import { PackerPool } from '../../crawler/pack/packer-pool.ts';
import { RulesMemory } from '../../crawler/robots/rules-memory.ts';
import type { Fetcher } from '../../crawler/stages.ts';
import type { OutpostTools, ParcelSizes } from '../../crawler/tools.ts';

/**
 * A long way is worth a fuller load: fewer frames, and more to compress each page against. What an outpost that dies was
 * filling is fetched again, so that pages that are new do not wait as long as those that are looked at again.
 * Two megabytes, because what a page is held against has to fit into one dictionary together with all others.
 */
export const FAR_PARCELS: ParcelSizes = {
  explore: { visits: 128, bytes: 2 << 20, age: 500 },
  refresh: { visits: 4096, bytes: 2 << 20, age: 15_000 },
};

export interface OutpostOptions extends TimeSource {
  /** The whole User-Agent header. */
  readonly userAgent: string;
  /** Product token for robots.txt. */
  readonly agentToken: string;
  /** Milliseconds; tests make them short. */
  readonly timeouts?: Partial<Timeouts>;
  /** Connections that a thread may have open at once. */
  readonly sockets?: number;
  /** PEM certificates to trust besides the system's. */
  readonly ca?: string;
  /** Certificates of ours for servers that want one. */
  readonly identities?: ClientCertificates;
  /** Code that errands may name as their decider from the start. */
  readonly decider?: Uint8Array;
  /** That code is somebody else's: it runs behind the wall or not at all. */
  readonly foreign?: boolean;
  /** Hooks of this machine's own user: a module, as a file URL. */
  readonly hooks?: string;
  /** A module that exports `makeFetcher(options)`, in place of our own requests to servers of `domains`; absent = to all. */
  readonly fetcher?: { readonly module: string; readonly options: unknown; readonly domains?: readonly string[] };
  /** The table by which the threads of a machine pace addresses together: see makeSlots. */
  readonly slots?: SharedArrayBuffer;
  /** Which of these threads it is; one that replaces another has the same. */
  readonly seat?: number;
  /** It asks only with home's leave (crawler/pace/leave.ts). */
  readonly needsLeave?: boolean;
}

interface ToolsMore {
  readonly leave?: Leave | undefined;
  /** Hears of failures of the user's own code, a sentence each. */
  readonly say?: (text: string) => void;
}

export async function makeTools(
  options: OutpostOptions,
  { leave, say = () => {} }: ToolsMore = {},
): Promise<OutpostTools> {
  const clock = clockOf(options);
  const fetchers = await makeFetchers(options, say);
  const slots = new AddressSlots(options.slots, options.seat);
  return {
    fetchers,
    pace: new Pace(clock, { slots, leave, locate: async origin => (await fetchers.of(origin).locate?.(origin)) ?? '' }),
    clock,
    packers: new PackerPool(),
    rules: new RulesMemory(),
    agentToken: options.agentToken,
    busy: watchLoad(),
  };
}

async function makeFetchers(options: OutpostOptions, say: (text: string) => void): Promise<Fetchers> {
  const { fetcher: special } = options;
  if (!special) return oneFetcher(makeFetcher(options));
  const { loadFetcher } = await import('../hooks/own-fetcher.ts');
  const made = await loadFetcher(special, say);
  return special.domains ? fetchersByDomain(made, special.domains, makeFetcher(options)) : oneFetcher(made);
}

function makeFetcher({ userAgent, ca, identities, timeouts, sockets }: OutpostOptions): Fetcher {
  return openFetcher({
    ...{ userAgent, ...(ca && { ca }), ...(identities && { identities }) },
    ...{ ...(timeouts && { timeouts }), ...(sockets && { sockets }) },
  });
}

/**
 * Above this share of time at work a thread counts as busy. Low, because a thread that waits may be waiting for a core
 * that others use: with 0.7 a crawl at full speed compressed one page in ten, for a tenth of its time.
 */
const BUSY = 0.3;

/** Looks at the event loop a few times a second. */
function watchLoad(): () => boolean {
  let last = performance.eventLoopUtilization();
  let busy = true; // a crawl starts with a rush
  setInterval(() => {
    busy = performance.eventLoopUtilization(last).utilization > BUSY;
    last = performance.eventLoopUtilization();
  }, 200).unref();
  return () => busy;
}
