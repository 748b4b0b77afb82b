/** A collection that lives as long as a test: on disk like any other, in a directory that goes with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RefreshOptions, Skein } from '../engine/library/skein.ts';
import type { TestClock } from './clock.ts';

export interface TestCollection extends AsyncDisposable {
  readonly skein: Skein;
  /** Where it lies. */
  readonly data: string;
  /** Ends what is under way and removes the directory. */
  close(): Promise<void>;
}

/** No delay between requests, one thread, loopback addresses allowed, a change believed at its first sight. */
const LOOPBACK = { pace: 0, connections: 4, threads: 1, allowPrivate: true, secondLook: 0 } as const;

/** Options as open() has them, for all runs; with a clock, time passes for the collection as the test says. */
export function testCollection({ clock, ...more }: RefreshOptions & { clock?: TestClock } = {}): TestCollection {
  const data = mkdtempSync(join(tmpdir(), 'skein-test-'));
  const skein = new Skein({ ...LOOPBACK, ...more, data }, clock && { clockShift: clock.shift });
  const close = async (): Promise<void> => {
    await skein.close();
    rmSync(data, { recursive: true, force: true });
  };
  return { skein, data, close, [Symbol.asyncDispose]: close };
}
