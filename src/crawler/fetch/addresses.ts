/**
 * Names to addresses, and which addresses belong to the public Internet. A crawler that connects to any other one
 * lets a page author reach the machines behind our own firewall, so the answer for anything unclear is no. The two are
 * apart on purpose: the check is made where the connection is, on the very address that is used.
 */
import { lookup } from 'node:dns/promises';
import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Network and prefix length of every IPv4 range that is not the public Internet (IANA special-purpose registry). */
const closedRanges: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

const closed = closedRanges.map(([network, prefix]) => ({
  network: numberOfIPv4(network),
  divisor: 2 ** (32 - prefix),
}));

/** True when `address` (a literal, IPv6 without brackets) is one that the whole Internet can reach. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return isPublicIPv4(numberOfIPv4(address));
  if (!isIPv6(address) || address.includes('%')) return false; // a zone index only makes sense on a local link
  return isPublicIPv6(groupsOfIPv6(address));
}

function isPublicIPv4(value: number): boolean {
  for (const { network, divisor } of closed) {
    if (Math.floor(value / divisor) === Math.floor(network / divisor)) return false;
  }
  return true;
}

function isPublicIPv6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, high = 0, low = 0] = groups;
  const embedded = high * 65536 + low;
  // IPv4 written as IPv6 (::ffff:0:0/96), and NAT64, through which IPv6-only networks reach public IPv4.
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) return isPublicIPv4(embedded);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return isPublicIPv4(embedded);
  if (a >> 13 !== 1) return false; // only 2000::/3 is handed out as global unicast
  if (a === 0x2001 && b < 0x200) return false; // protocol assignments: Teredo, benchmarks, ORCHID
  if (a === 0x2001 && b === 0xdb8) return false; // documentation
  if (a === 0x2002) return false; // 6to4: a tunnel to whatever IPv4 address is written inside
  if (a === 0x3fff && b < 0x1000) return false; // documentation
  return true;
}

function numberOfIPv4(address: string): number {
  let value = 0;
  for (const part of address.split('.')) value = value * 256 + Number(part);
  return value;
}

/** The eight 16-bit groups of a valid IPv6 literal. */
function groupsOfIPv6(address: string): number[] {
  let text = address;
  const dotted = text.slice(text.lastIndexOf(':') + 1);
  if (dotted.includes('.')) {
    const value = numberOfIPv4(dotted);
    text = `${text.slice(0, -dotted.length)}${Math.floor(value / 65536).toString(16)}:${(value % 65536).toString(16)}`;
  }
  const [before = '', after] = text.split('::');
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const gap = after === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right].map(group => Number.parseInt(group, 16));
}

/** Rejects or returns none when the name does not resolve. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Milliseconds; a failure is kept long enough to spare the resolver a queue of asks for one dead name. */
const keepFound = 60_000;
const keepFailed = 5_000;
const maxEntries = 10_000;

interface CachedAddresses {
  readonly addresses: Promise<readonly string[]>;
  expires: number;
}

export async function systemResolve(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(entry => entry.address);
}

/** Asks that come while a name is being looked up share the lookup. Literals cost nothing. */
export function cachedResolve(resolve: Resolve): Resolve {
  const entries = new Map<string, CachedAddresses>();
  return host => {
    if (isIP(host) !== 0) return Promise.resolve([host]);
    const now = performance.now();
    const known = entries.get(host);
    if (known !== undefined && known.expires > now) return known.addresses;
    entries.delete(host);
    if (entries.size >= maxEntries) entries.delete(entries.keys().next().value!); // the oldest
    const entry: CachedAddresses = { addresses: resolve(host), expires: now + keepFound };
    entries.set(host, entry);
    const shorten = () => {
      entry.expires = performance.now() + keepFailed;
    };
    entry.addresses.then(addresses => addresses.length === 0 && shorten(), shorten);
    return entry.addresses;
  };
}
