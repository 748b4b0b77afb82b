/** What the tests that kill a process share: the moment at which it dies, and whether its books are in order after it. */
import assert from 'node:assert/strict';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { readCollection } from '../../src/ledger/collection/collection.ts';
import { start } from './skein.ts';

/** Starts `skein` and kills it at that moment. Returns whether it was still alive then. */
export async function killAt(moment: Promise<void>, args: readonly string[]): Promise<boolean> {
  const running = start(args);
  await Promise.race([moment, running.ended]);
  const alive = running.child.exitCode === null;
  running.child.kill('SIGKILL');
  await running.ended;
  return alive;
}

export async function checkBooks(data: string, when: string): Promise<void> {
  for (const { directory } of readCollection(data).here) {
    let ledger: ReturnType<typeof openLedger>;
    try {
      ledger = openLedger(directory);
    } catch (error) {
      assert.match(String(error), /There is no collection/); // it died before it made one
      continue;
    }
    try {
      const { problems } = await verifyCollection(ledger);
      assert.deepEqual(problems, [], when);
    } finally {
      ledger.close();
    }
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
