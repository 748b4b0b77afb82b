/**
 * Where a host stands in the tree of names, by the public suffix list. Apart from url.ts because the list is 130 kB,
 * which the code that travels to outposts does not need.
 */
import { getDomain } from 'tldts';

const options = { extractHostname: false, validateHostname: false, allowPrivateDomains: false } as const;

/** `example.co.uk` of `www.example.co.uk`; the host itself for addresses, single labels and suffixes. */
export function registrableDomain(host: string): string {
  return getDomain(host, options) ?? host;
}

/** `uk` of `www.example.co.uk`: the last label. Empty for addresses and single labels such as `localhost`. */
export function topLevelDomain(host: string): string {
  const dot = host.lastIndexOf('.');
  const last = dot < 0 ? '' : host.slice(dot + 1);
  return host.endsWith(']') || /^\d*$/.test(last) ? '' : last;
}
