/** Where servers are, as home finds out before it hands one to another machine: servers of one address go together. */
import { cachedResolve, type Resolve, systemResolve } from '../../crawler/fetch/addresses.ts';

/** Milliseconds that an errand waits for the name server at most. */
const PATIENCE = 5000;
/** Servers whose address is remembered. */
const REMEMBERED = 100_000;

export class Addresses {
  readonly #resolve: Resolve;
  /** Empty: it has none, as far as we can tell. Undefined: asked for. */
  readonly #found = new Map<string, string | undefined>();

  constructor(resolve: Resolve = systemResolve) {
    this.#resolve = cachedResolve(resolve);
  }

  /** Undefined: it is being asked for; ask again soon. The same one for all servers that share several. */
  of(origin: string): string | undefined {
    if (this.#found.has(origin)) return this.#found.get(origin);
    if (this.#found.size >= REMEMBERED) this.#found.clear();
    this.#found.set(origin, undefined);
    const found = (addresses: readonly string[]) => {
      if (this.#found.get(origin) === undefined) this.#found.set(origin, [...addresses].sort()[0] ?? '');
    };
    setTimeout(found, PATIENCE, []).unref();
    const { hostname } = new URL(origin);
    this.#resolve(hostname.replace(/^\[|\]$/g, '')).then(found, () => found([]));
    return undefined;
  }
}
