/** Ends asking a collection, and says beside the answer, and to scripts, who did not answer. */
import { exitCodes } from '../../base/errors.ts';
import type { OpenCollection } from '../../questions/collection.ts';
import { harmless, paint } from './terminal.ts';

export function endAsking(collection: OpenCollection): void {
  collection.close();
  if (collection.incomplete === '') return;
  console.error(paint('yellow', harmless(collection.incomplete)));
  process.exitCode ??= exitCodes.incomplete;
}
