/** What a standing outpost is started with, as plain values. */
import type { Identity } from '../errand/keys.ts';
import type { SandboxTerms } from './cages/deciders.ts';
import type { Dial } from './direct-line.ts';
import type { OwnerTerms } from './owner/owner.ts';
import type { OutpostOptions } from './workers/tools.ts';

export interface StationOptions extends OwnerTerms {
  /** Of the spool. */
  readonly directory: string;
  readonly software: string;
  readonly identity: Identity;
  readonly threads: number;
  /** Bytes of parcels that may wait on the disk. */
  readonly spoolBytes: number;
  /** Bytes of versions of pages that may stay on the disk; default 512 MB. */
  readonly cacheBytes?: number;
  /** Home's copies of robots.txt are used as they come; default: they are fetched from here. */
  readonly trustRobots?: boolean;
  /** Whether code of home's may come with errands, and how it is run. */
  readonly code: { readonly trusted: boolean } & SandboxTerms;
  /** Milliseconds that an outpost below may be away before its errands are given up. */
  readonly lease?: number;
  /** Reaches home's door; without it parcels go through the parent. */
  readonly dial?: Dial;
  /** One sentence for whoever looks after this machine. */
  readonly say?: (text: string) => void;
  readonly outpost?: Pick<OutpostOptions, 'timeouts' | 'ca' | 'fetcher'>;
}
