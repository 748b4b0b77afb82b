/**
 * What a run can be told, as plain typed values: the same names as in skein.config.ts, and no text that has to be read
 * first. Only `data` is needed; the rest has the defaults below, or what the collection remembers of its last run.
 */
import type { ArchiveOptions } from '../archive/archive.ts';
import type { TimeSource } from '../base/clock.ts';
import type { Keep } from '../errand/errand.ts';
import type { Reading } from '../frontier/options.ts';
import type { OrderName } from '../frontier/orders/order.ts';
import type { PvalueTerms } from '../frontier/orders/pvalue-terms.ts';
import type { ScheduleSettings } from '../frontier/schedule/settings.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OutpostOptions } from '../outpost/workers/tools.ts';
import type { Branch } from '../transfer/ssh/machine-tree.ts';
import type { LeaveDesk } from './threads/leave-desk.ts';

/** Where a crawl goes, and in which order. Remembered: a run without seeds goes on with those of the last one. */
export interface BoundOptions {
  /** Domains, hosts and paths to stay in: `example.org`, `/docs/**`, `!/old/**`, `*`. Default: the hosts of the seeds. */
  readonly scope?: readonly string[] | undefined;
  /** Links between a page and its seed. */
  readonly depth?: number | undefined;
  /** Weights of top-level domains; `*` stands for all others. */
  readonly domains?: ReadonlyMap<string, number> | undefined;
  /** Keywords: relevant pages come first, others are dropped. */
  readonly focus?: readonly string[] | undefined;
  readonly order?: OrderName | undefined;
  /** Terms of the order pvalue. */
  readonly pvalue?: PvalueTerms | undefined;
  /** Pages of one server, a guard against traps. */
  readonly perServer?: number | undefined;
}

/** Code that stands in for Skein's own requests: a folder, a cache, a browser. */
export interface OwnFetcher {
  /** Exports `makeFetcher(options): Fetcher`, which is called once in each fetching thread. */
  readonly module: string | URL;
  /** Plain data. */
  readonly options?: unknown;
  /** The servers that it is for, as `--domains` takes them; absent = all. Others are asked as usual. */
  readonly domains?: readonly string[];
}

export interface EngineOptions extends BoundOptions {
  /** Directory of the collection. */
  readonly data: string;
  /** Parts that the collection is kept in, fixed when it is made; absent = as many as it has, one for a new one. */
  readonly partitions?: number | undefined;
  /** Seconds between two requests to one server; 0 lifts the delay. */
  readonly pace?: number | undefined;
  /** Connections per server. */
  readonly connections?: number | undefined;
  /** Open private, loopback and link-local addresses, beyond those that a seed names. */
  readonly allowPrivate?: boolean | undefined;
  /** Pages to fetch in this run. */
  readonly maxPages?: number | undefined;
  /** What is stored; a page that is not kept is still read for links. */
  readonly keep?: Partial<Keep> | undefined;
  /** Code (WebAssembly or JavaScript) that says of each page whether to keep it and follow its links. */
  readonly decider?: Uint8Array | undefined;
  /** A module of yours whose hooks run in the fetching threads: its path or file URL (defineHooks). */
  readonly hooks?: string | URL | undefined;
  /** The hooks are somebody else's: they run in the cage that deciders have, where there is only `afterPage`. */
  readonly cagedHooks?: boolean | undefined;
  /** A fetcher of yours, in place of Skein's own requests. */
  readonly fetcher?: OwnFetcher | undefined;
  /** Bytes of one body; more is cut and marked. */
  readonly bodyBytes?: number | undefined;
  /** watch: by their headers, in a refresh; store: like pages; off: not at all. */
  readonly images?: 'watch' | 'store' | 'off' | undefined;
  /** What counts as a change; remembered. */
  readonly detector?: string | undefined;
  /** Threads that fetch and analyse here. */
  readonly threads?: number | undefined;
  /** Web page or mail address for the owners of sites, part of the User-Agent; remembered. */
  readonly agent?: string | undefined;
  /** Machines to crawl from. */
  readonly outposts?: readonly Branch[] | undefined;
  /** Where outposts that were invited may come in. */
  readonly listen?: { readonly host: string; readonly port: number } | undefined;
  /** Levels of outposts that an errand may travel. */
  readonly levels?: number | undefined;
  /** Share of the pages from other machines that home looks at itself. */
  readonly audit?: number | undefined;
  /** Versions of a page that are kept, the newest included; 0 lifts it. Remembered, like the next two. */
  readonly keepVersions?: number | undefined;
  /** Days for which older versions are kept. */
  readonly keepDays?: number | undefined;
  /** Bytes that the collection may take on the disk; old versions go first, the newest copy of a page never. */
  readonly maxDisk?: number | undefined;
  /** Where the archive is copied to: `s3://bucket/prefix`. Remembered; who may write there is said by the environment. */
  readonly archive?: string | undefined;
  /** Ends the run in good order: what is under way is finished first. */
  readonly signal?: AbortSignal | undefined;
  /** Told what people who watch may want to read, a sentence each. */
  readonly say?: ((text: string) => void) | undefined;
  /** Sees the rows that are read while a large collection is opened. */
  readonly reading?: ((pages: number) => Reading) | undefined;
}

/** What commands and simulations set, and users do not. */
export interface Extras extends TimeSource {
  readonly mode?: 'crawl' | 'refresh' | 'watch';
  readonly schedule?: Partial<ScheduleSettings>;
  /** The partitions to open; absent = all. */
  readonly partitions?: readonly number[];
  /** Told of each ledger that is opened, before anything is written to it. */
  readonly opened?: (partition: number, ledger: Ledger) => void;
  /** Replaces sockets in the threads. */
  readonly fetcher?: OutpostOptions['fetcher'];
  readonly timeouts?: OutpostOptions['timeouts'];
  /** Tests roll segments early. */
  readonly archive?: ArchiveOptions;
  /** Partitions come from other machines, which asked their servers until then. */
  readonly shared?: boolean;
  /** Gives the threads leave to ask, in a cluster. */
  readonly leave?: LeaveDesk;
  /** In a cluster: until when (ticks) what this peer holds is its own, and whether a partition is. */
  readonly copying?: { readonly until: () => number; readonly isMine: (partition: number) => boolean };
  /** Milliseconds that a vanished machine may take to come back. */
  readonly absence?: number;
}

export const engineDefaults = {
  pace: 1,
  connections: 1,
  bodyBytes: 16_000_000,
  images: 'watch',
  audit: 0.02,
} as const;
