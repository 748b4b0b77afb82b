/** The synthetic web for bench/growth.ts: threads collect their garbage when the bench asks for it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Fetcher } from '../src/crawler/stages.ts';
import { type SyntheticOptions, syntheticFetcher } from '../test/web/synthetic.ts';

export interface GrowthOptions extends Partial<SyntheticOptions> {
  /** One counter for all threads: how often they were asked. */
  readonly asked: SharedArrayBuffer;
}

/** V8's own collector, for the thread that calls this. */
export function collector(): () => void {
  setFlagsFromString('--expose_gc');
  return runInNewContext('gc') as () => void;
}

export function makeFetcher({ asked, ...options }: GrowthOptions): Fetcher {
  const counter = new Int32Array(asked);
  const collect = collector();
  let heard = 0;
  const listening = setInterval(() => {
    const now = Atomics.load(counter, 0);
    if (now !== heard) collect();
    heard = now;
  }, 50);
  listening.unref();
  return syntheticFetcher(options);
}
