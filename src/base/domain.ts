/** Where a host stands in the tree of names. */
import { isIP } from 'node:net';

/** `uk` of `www.example.co.uk`: the last label. Empty for addresses and single labels such as `localhost`. */
export function topLevelDomain(host: string): string {
  const dot = host.lastIndexOf('.');
  const last = dot < 0 ? '' : host.slice(dot + 1);
  return host.endsWith(']') || /^\d*$/.test(last) ? '' : last;
}

/**
 * The URL says where it is, by an address or as this machine. Any other name says so only to whoever answers for it, and
 * may mean a public address today and one of ours tomorrow: the user has to open these.
 */
export function namesAddress(url: string): boolean {
  const { hostname } = new URL(url);
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /(?:^|\.)localhost$/.test(hostname);
}
