/**
 * Names to addresses, remembered for a minute at most. It judges no address: whether one may be connected to is
 * decided where the connection is made, on the very address that is used.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Rejects or returns none when the name does not resolve. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Milliseconds; a failure is kept long enough to spare the resolver a queue of asks for one dead name. */
const keepFound = 60_000;
const keepFailed = 5_000;
const maxEntries = 10_000;

interface Entry {
  readonly addresses: Promise<readonly string[]>;
  expires: number;
}

export async function systemResolve(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(entry => entry.address);
}

/** Asks that come while a name is being looked up share the lookup. Literals cost nothing. */
export function cachedResolve(resolve: Resolve): Resolve {
  const entries = new Map<string, Entry>();
  return host => {
    if (isIP(host) !== 0) return Promise.resolve([host]);
    const now = performance.now();
    const known = entries.get(host);
    if (known !== undefined && known.expires > now) return known.addresses;
    entries.delete(host);
    if (entries.size >= maxEntries) entries.delete(entries.keys().next().value!); // the oldest
    const entry: Entry = { addresses: resolve(host), expires: now + keepFound };
    entries.set(host, entry);
    const shorten = () => {
      entry.expires = performance.now() + keepFailed;
    };
    entry.addresses.then(addresses => addresses.length === 0 && shorten(), shorten);
    return entry.addresses;
  };
}
