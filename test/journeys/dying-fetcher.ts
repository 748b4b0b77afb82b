/** The synthetic web without sockets, in a thread that dies of an error nobody catches after some pages. */
import type { Fetcher } from '../../src/crawler/stages.ts';
import { type SyntheticOptions, syntheticFetcher } from '../web/synthetic.ts';

export interface DyingOptions extends Partial<SyntheticOptions> {
  /** One counter for all threads: deaths to come. */
  readonly deaths: SharedArrayBuffer;
  /** Requests that a thread answers before it dies. */
  readonly after: number;
  /** Pages that kill every thread that asks for them. */
  readonly deadly?: readonly string[];
}

export function makeFetcher({ deaths, after, deadly = [], ...options }: DyingOptions): Fetcher {
  const left = new Int32Array(deaths);
  const fetcher = syntheticFetcher(options);
  let answered = 0;
  return {
    ...fetcher,
    fetch: ask => {
      if (deadly.includes(ask.url) || (++answered > after && Atomics.sub(left, 0, 1) > 0)) {
        setImmediate(() => {
          throw new Error('this thread was meant to die');
        });
      }
      return fetcher.fetch(ask);
    },
  };
}
