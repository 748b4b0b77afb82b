/** How a machine comes into a cluster: what it says of itself, and which collection it finds or begins there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { readEngineAddress } from '../../cluster/connection/address.ts';
import { type ClusterEngine, openEngine as openCluster } from '../../cluster/engine.ts';
import { CLUSTER_PARTITIONS, PEER_NAME } from '../../cluster/topology/layout.ts';
import { rememberCluster } from '../../ledger/collection/cluster-file.ts';
import { makeCollection, readCollection } from '../../ledger/collection/collection.ts';

export interface PeerOptions {
  /** As --engine takes it. */
  readonly engine: string;
  /** Absent = the name of this machine. */
  readonly peer?: string | undefined;
  /** Share of the work beside that of others; 1 by default. */
  readonly capacity?: number | undefined;
  /** Of a crawl that is new. */
  readonly partitions?: number | undefined;
  readonly data: string;
  /** Where the archive is to be copied to from now on; absent = as it was. */
  readonly archive?: string | undefined;
  /** Digest of the code that decides about pages on this machine; empty = the crawl is to have none from now on. */
  readonly decider?: string | undefined;
  readonly say: (text: string) => void;
}

/** What the crawl is, the same for every peer: its seeds, and its settings as the user wrote them. */
export const crawlForm = z.object({
  seeds: z.array(z.string().max(8192)).max(100_000),
  values: z.record(z.string().max(40), z.json()),
});
export type ClusterCrawl = Readonly<z.infer<typeof crawlForm>>;

export async function openFor(
  { engine, data, partitions }: PeerOptions,
  name: string,
  begins: boolean,
): Promise<ClusterEngine> {
  if (!PEER_NAME.test(name))
    throw new SkeinError('bad-option', `"${name}" is not a valid peer name.`, 'Use letters, digits and hyphens.');
  const address = readEngineAddress(engine);
  const here = readCollection(data);
  if (here.id === '' && existsSync(join(data, 'ledger.db')))
    throw new SkeinError(
      'bad-option',
      `The collection in ${data} was made without an engine, and cannot be shared.`,
      'Name another directory with --data.',
    );
  if (here.id !== '') return openCluster({ address, name, collection: { id: here.id, partitions: here.partitions } });
  try {
    return await openCluster({ address, name });
  } catch (error) {
    if (!begins || !(error instanceof SkeinError) || error.code !== 'not-found') throw error;
    const collection = { id: crypto.randomUUID(), partitions: partitions ?? CLUSTER_PARTITIONS, isNew: true };
    return openCluster({ address, name, collection });
  }
}

/** The directory is a part of the cluster from now on. Called when nothing refuses this peer any more: one that is leaves nothing behind. */
export function beginHere({ data, engine }: PeerOptions, { collection }: ClusterEngine, peer: string): void {
  makeCollection(data, collection.partitions, collection.id);
  rememberCluster(data, { engine, peer });
}

/** The crawl's seeds and settings: those of the engine, with the seeds and what is changed here. */
export function agreedOn(
  now: ClusterCrawl | undefined,
  crawl: ClusterCrawl,
  changed: ClusterCrawl['values'],
): ClusterCrawl {
  if (!now) return { ...crawl, values: { ...crawl.values, ...changed } };
  const seeds = [...new Set([...now.seeds, ...crawl.seeds])];
  if (seeds.length === now.seeds.length && Object.keys(changed).length === 0) return now;
  // A budget takes the place of a freshness, and the other way round.
  const { budget: _, freshness: __, ...rest } = now.values;
  const aims = 'budget' in changed || 'freshness' in changed;
  return { seeds, values: { ...(aims ? rest : now.values), ...changed } };
}

/**
 * The crawl with the code that decides about its pages, which is the same on every machine or none. Only its digest stands in
 * the engine: each machine runs the file that its own user named. Throws where this one has another than those who work.
 */
export function withDecider(
  crawl: ClusterCrawl,
  { given, othersWork }: { readonly given: string | undefined; readonly othersWork: boolean },
): ClusterCrawl {
  const { decider: agreed = '', ...values } = crawl.values;
  if (given === agreed || (given === undefined && agreed === '')) return crawl;
  if (given === undefined)
    throw new SkeinError(
      'bad-option',
      `Pages of this crawl are decided about by a --decider (SHA-256 ${String(agreed).slice(0, 12)}…), and none is named here.`,
      'Name the same file on this machine; --decider none takes it out when no other peer works.',
    );
  if (othersWork)
    throw new SkeinError(
      'bad-option',
      `The peers that work have ${agreed === '' ? 'no --decider' : `another --decider (SHA-256 ${String(agreed).slice(0, 12)}…)`}.`,
      'Name the one that they have, or stop them first: whoever starts first says which it is.',
    );
  return { ...crawl, values: given === '' ? values : { ...values, decider: given } };
}

/**
 * Where the archive of the crawl is copied to; undefined = nowhere. `given`: on this machine and now, so that a store that
 * does not answer, or is another's, is refused. One that was given before stops nothing; the copying says what is wrong.
 */
export async function archiveOf(
  crawl: ClusterCrawl,
  id: string,
  given: string | undefined,
): Promise<{ readonly to: string; readonly id: string } | undefined> {
  const to = crawl.values['archive'];
  if (typeof to !== 'string') return undefined;
  const { claimPlace, openObjects } = await import('../../home/offsite/offsite.ts');
  // Without credentials nothing that this machine fetches would be safe.
  if (given === undefined) (await openObjects(to)).close();
  else await claimPlace(to, id);
  return { to, id };
}

/** Rejects when somebody wants the run to end before it has begun. */
export function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () =>
      reject(new SkeinError('refused', 'The run ended before this peer had anything to do.')),
    );
  });
}
