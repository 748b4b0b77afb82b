/** Where a host stands in the tree of names. */
import { isIP } from 'node:net';

/** `uk` of `www.example.co.uk`: the last label. Empty for addresses and single labels such as `localhost`. */
export function topLevelDomain(host: string): string {
  const dot = host.lastIndexOf('.');
  const last = dot < 0 ? '' : host.slice(dot + 1);
  return host.endsWith(']') || /^\d*$/.test(last) ? '' : last;
}

/**
 * Whether the URL itself says where it leads: to an IP address, or to this machine. What any other name means is up to whoever
 * answers for it, and may be a public address today and a private one tomorrow: only the user may allow that.
 */
export function namesAddress(url: string): boolean {
  const { hostname } = new URL(url);
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /(?:^|\.)localhost$/.test(hostname);
}
