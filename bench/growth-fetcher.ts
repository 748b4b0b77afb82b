/** The synthetic web for bench/growth.ts: threads collect their garbage when the bench asks for it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Fetcher } from '../src/crawler/stages.ts';
import { type SyntheticOptions, syntheticFetcher } from '../test/web/synthetic.ts';

export interface GrowthOptions extends Partial<SyntheticOptions> {
  /** One counter for all threads: how often they were asked. */
  readonly asked: SharedArrayBuffer;
}

type Collect = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** V8's own collector, for the thread that calls this. As a last resort it also gives back what V8 holds in reserve. */
export function collector(): () => void {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as Collect;
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
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
