/** Which fetcher an errand gets: it is chosen for each, by the server that the errand is for. */
import { compileScope } from '../errand/scope/scope.ts';
import type { Fetcher } from './stages.ts';

export interface Fetchers {
  /** For all errands of this server. */
  of(origin: string): Fetcher;
  close(): Promise<void>;
}

/** The same for all servers. */
export function oneFetcher(fetcher: Fetcher): Fetchers {
  return { of: () => fetcher, close: () => fetcher.close() };
}

/** `special` for the servers of these domains, `usual` for all others. */
export function fetchersByDomain(special: Fetcher, domains: readonly string[], usual: Fetcher): Fetchers {
  const outside = compileScope({ domains, include: [], exclude: [] });
  return {
    of: origin => (outside(`${origin}/`) === undefined ? special : usual),
    close: async () => void (await Promise.all([special.close(), usual.close()])),
  };
}

/** Each of them within another that `wrap` makes, once. */
export function wrapFetchers(fetchers: Fetchers, wrap: (fetcher: Fetcher) => Fetcher): Fetchers {
  const wrapped = new Map<Fetcher, Fetcher>();
  return {
    of(origin) {
      const inner = fetchers.of(origin);
      const known = wrapped.get(inner);
      if (known) return known;
      const outer = wrap(inner);
      wrapped.set(inner, outer);
      return outer;
    },
    close: () => fetchers.close(),
  };
}
