/**
 * What a URL is to Skein: WHATWG parsing, one normal form, a 64-bit fingerprint of it, and the server it belongs to.
 * Never touches the network.
 */

/** The normal form of `href` as seen on a page at `base`; undefined when it is not something to fetch. */
export function normalise(href: string, base?: string): string | undefined {
  let url: URL;
  try {
    url = base === undefined ? new URL(href) : new URL(href, base);
  } catch {
    return undefined; // not a URL: the caller counts it
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  return url.href;
}

/** `https://example.org:8080` of a normalised URL. */
export function originOf(url: string): string {
  const slash = url.indexOf('/', 8);
  return slash < 0 ? url : url.slice(0, slash);
}

/** Host without port of a normalised URL or origin. */
export function hostOf(url: string): string {
  return new URL(url).hostname;
}

/** Two 32-bit halves of the fingerprint; kept apart because a bigint per link costs more than the hash. */
export interface Fingerprint {
  high: number;
  low: number;
}

/** Fingerprint of a normalised URL, written into `out` (unsigned). Never 0/0: that marks an empty slot. */
export function fingerprint(url: string, out: Fingerprint): Fingerprint {
  let a = 0x9e3779b9 | 0;
  let b = 0x85ebca6b | 0;
  for (let i = 0; i < url.length; i++) {
    const c = url.charCodeAt(i);
    a = Math.imul(a ^ c, 0x01000193);
    b = Math.imul(b ^ c, 0x5bd1e995);
    b = (b << 13) | (b >>> 19);
    a ^= b;
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b);
  b = Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  a ^= b >>> 15;
  b ^= a << 7;
  a = Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x27d4eb2f);
  out.high = (a ^ (a >>> 16)) >>> 0;
  out.low = (b ^ (b >>> 15)) >>> 0;
  if (out.high === 0 && out.low === 0) out.low = 1;
  return out;
}
