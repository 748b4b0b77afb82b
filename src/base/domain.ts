/** Where a host stands in the tree of names. */

/** `uk` of `www.example.co.uk`: the last label. Empty for addresses and single labels such as `localhost`. */
export function topLevelDomain(host: string): string {
  const dot = host.lastIndexOf('.');
  const last = dot < 0 ? '' : host.slice(dot + 1);
  return host.endsWith(']') || /^\d*$/.test(last) ? '' : last;
}
