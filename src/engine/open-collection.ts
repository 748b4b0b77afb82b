/** The door for commands that only look, however many partitions there are and wherever they lie. */
import { SkeinError } from '../base/errors.ts';
import { rememberedCluster } from '../ledger/collection/cluster-file.ts';
import { isBegun, readCollection } from '../ledger/collection/collection.ts';
import { type OpenCollection, openCollection } from '../questions/collection.ts';
import { openLedger } from './open-ledger.ts';

/** What is on this disk. */
export function askCollection(directory: string): OpenCollection {
  return openCollection(directory, { openLedger });
}

/** The whole collection: of a cluster also what other machines have. `engine`: where to ask, unless it is remembered. */
export async function askWhole(directory: string, engine?: string): Promise<OpenCollection> {
  const remembered = rememberedCluster(directory);
  if (engine === undefined && !remembered) return askCollection(directory);
  // Loaded by those who need it.
  const { openWhole } = await import('../questions/peers/elsewhere.ts');
  try {
    const { collection, elsewhere } = await openWhole(directory, {
      engine: engine ?? remembered!.engine,
      peer: remembered?.peer ?? '',
    });
    return openCollection(directory, { openLedger, elsewhere }, collection);
  } catch (error) {
    const { id, here } = readCollection(directory);
    const silent = error instanceof SkeinError && error.code === 'no-engine';
    if (!silent || id === '' || !here.some(isBegun)) throw error;
    return openCollection(directory, { openLedger, alone: `${error.message} This answer covers only this machine.` });
  }
}
