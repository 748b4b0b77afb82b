/**
 * What a URL is to Skein: WHATWG parsing, one normal form, a 64-bit fingerprint of it, and the server it belongs to.
 * Never touches the network, never decides whether a URL may be fetched.
 *
 * The normal form is what the WHATWG parser gives, and beyond it: no fragment, no user name or password, no empty
 * query, no final dot of the host, escapes in upper case and only where they are needed, no session ids and no
 * tracking parameters (query.ts lists them). The other parameters keep their order: it can mean something.
 * Invariants: normalising twice changes nothing; the result is ASCII without blanks or line ends; `resolver` gives
 * for every href exactly what `normalise` gives.
 */
import { SkeinError } from './errors.ts';
import { cleanQuery, stripPathSession } from './query.ts';

/**
 * Characters of a URL, twice what any crawl admits. Nothing longer is one to us: a `<base>` of a megabyte, joined with
 * ten thousand links, is ten gigabytes of URLs, and a page that sends it kills the thread that reads it.
 */
export const LONGEST_URL = 4096;

/** This machine by name or address: what people try on it seldom has a certificate. */
const THIS_MACHINE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/]|$)/i;

/** With a scheme of any kind, also a mistyped one. What a colon parts from digits is a host and its port. */
const HAS_SCHEME = /^(?:[a-z][a-z0-9+.-]*:(?!\d)|[^/?#]*:\/\/)/i;

/** A URL as people write it: without a scheme it is https, on this machine http. */
export function withScheme(written: string): string {
  const text = written.trim();
  if (HAS_SCHEME.test(text)) return text;
  return `${THIS_MACHINE.test(text) ? 'http' : 'https'}://${text}`;
}

/** Why `text` is no URL to fetch, as an error that says so. */
export function notUrl(text: string): SkeinError {
  if (text.length > LONGEST_URL)
    return new SkeinError(
      'bad-seed',
      `"${text.slice(0, 60)}…" is longer than a URL may be, ${LONGEST_URL} characters.`,
    );
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && !/^https?$/.test(scheme))
    return new SkeinError('bad-seed', `"${text}" cannot be crawled: Skein reads http and https, not ${scheme}.`);
  return new SkeinError('bad-seed', `"${text}" is not a URL that can be crawled.`, 'Write it as https://example.org/.');
}

/** The normal form of what a user wants crawled: `example.org` is taken as `https://example.org/`. */
export function seedUrl(written: string): string {
  const text = withScheme(written);
  const url = normalise(text);
  if (url === undefined) throw notUrl(written);
  const { username, password } = new URL(text);
  if (username === '' && password === '') return url;
  // Crawled without them it would be another page; and they must not stand in an error, or in a log of it.
  throw new SkeinError(
    'bad-seed',
    `The seed ${url} names a user, and Skein logs in nowhere.`,
    'Leave out "name:password@".',
  );
}

/** The normal form of `href` as seen on a page at `base`; undefined when it is not something to fetch. */
export function normalise(href: string, base?: string): string | undefined {
  if (href.length > LONGEST_URL) return undefined;
  const url = base === undefined ? URL.parse(href) : URL.parse(href, base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return bounded(tidy(url.href));
}

/** Escapes may make a URL nine times as long as its text. */
function bounded(url: string | undefined): string | undefined {
  return url === undefined || url.length > LONGEST_URL ? undefined : url;
}

/** From the parser's serialisation to the normal form. */
function tidy(href: string): string | undefined {
  const hash = href.indexOf('#');
  const text = hash < 0 ? href : href.slice(0, hash);
  const hostStart = text.indexOf('//') + 2;
  const pathStart = text.indexOf('/', hostStart);
  const host = text.slice(hostStart, pathStart);
  if (host.includes('@') || host.endsWith('.') || host.includes('.:')) {
    const bare = host.slice(host.lastIndexOf('@') + 1).replace(/\.+(?=:|$)/, '');
    // Parsed again because a host may mean something else without its dot: `1.2.3..` becomes an IPv4 address.
    return bare === '' || bare.startsWith(':')
      ? undefined
      : normalise(text.slice(0, hostStart) + bare + text.slice(pathStart));
  }
  const question = text.indexOf('?', pathStart);
  if (question < 0 && !text.includes('%', pathStart) && !text.includes(';', pathStart)) return text;
  const pathEnd = question < 0 ? text.length : question;
  const path = normalisePercent(text.slice(pathStart, pathEnd));
  const query = question < 0 ? '' : cleanQuery(normalisePercent(text.slice(question + 1)));
  const stripped = stripPathSession(path);
  const whole = text.slice(0, pathStart) + stripped + (query === '' ? '' : `?${query}`);
  // Without its session id a segment can be `..`, which only the parser should resolve.
  return stripped === path ? whole : normalise(whole);
}

const upperHex = '0123456789ABCDEF';

function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** RFC 3986 §2.3: letters, digits, `-`, `.`, `_`, `~`. */
function isUnreserved(code: number): boolean {
  const letter = code | 32;
  if (letter >= 97 && letter <= 122) return code < 128;
  return (code >= 48 && code <= 57) || code === 45 || code === 46 || code === 95 || code === 126;
}

/** Escapes in upper case, those of unreserved characters decoded. A `%` that starts no escape stays as it is. */
export function normalisePercent(text: string): string {
  let at = text.indexOf('%');
  if (at < 0) return text;
  let out = '';
  let from = 0;
  // Where in `out` the last lone `%` stands: no character decoded right behind it may turn it into an escape,
  // else a second pass would decode again.
  let lone = -9;
  while (at >= 0) {
    out += text.slice(from, at);
    const high = hexValue(text.charCodeAt(at + 1));
    const low = hexValue(text.charCodeAt(at + 2));
    if (high < 0 || low < 0) {
      lone = out.length;
      out += '%';
      from = at + 1;
    } else {
      const code = high * 16 + low;
      const behind = out.length - lone;
      const decode = isUnreserved(code) && behind !== 1 && !(behind === 2 && hexValue(out.charCodeAt(lone + 1)) >= 0);
      out += decode ? String.fromCharCode(code) : `%${upperHex[high]}${upperHex[low]}`;
      from = at + 3;
    }
    at = text.indexOf('%', from);
  }
  return out + text.slice(from);
}

/** Most URLs in a row are of one server. */
let lastOrigin = '';

/** `https://example.org:8080` of a normalised URL. */
export function originOf(url: string): string {
  // The very same string as before: a new one has to be hashed and found anew in each table that it is looked up in.
  if (lastOrigin !== '' && url.startsWith(lastOrigin) && url.charCodeAt(lastOrigin.length) === SLASH) return lastOrigin;
  const slash = url.indexOf('/', 8);
  lastOrigin = slash < 0 ? url : url.slice(0, slash);
  return lastOrigin;
}

/** Host without port of a normalised URL or origin; an IPv6 address keeps its brackets. */
export function hostOf(url: string): string {
  const start = url.indexOf('//') + 2;
  const slash = url.indexOf('/', start);
  const end = slash < 0 ? url.length : slash;
  const colon = url.lastIndexOf(':', end);
  return url.slice(start, colon > start && colon > url.lastIndexOf(']', end) ? colon : end);
}

/** A base taken apart once, so that a plain link costs one scan and one concatenation. */
interface BaseParts {
  readonly scheme: string;
  readonly origin: string;
  /** What an empty href means. */
  readonly self: string;
  /** Without its query. */
  readonly bare: string;
  /** The directory of the page, its parent, … up to the root, each with its final slash. */
  readonly parents: readonly string[];
}

function placeOf(base: string): BaseParts | undefined {
  const parsed = URL.parse(base)?.href;
  const self = parsed?.startsWith('http') ? tidy(parsed) : undefined;
  if (self === undefined) return undefined;
  const question = self.indexOf('?');
  const bare = question < 0 ? self : self.slice(0, question);
  // When normalisation changed the path, relative links must be resolved against the one before it.
  const next = parsed!.charCodeAt(bare.length);
  if (!parsed!.startsWith(bare) || !(Number.isNaN(next) || next === QUESTION || next === HASH)) return undefined;
  const origin = originOf(self);
  const parents = [bare.slice(0, bare.lastIndexOf('/') + 1)];
  for (let last = parents[0]!; last.length > origin.length + 1; parents.push(last)) {
    last = last.slice(0, last.lastIndexOf('/', last.length - 2) + 1);
  }
  return { scheme: self.slice(0, self.indexOf('/')), origin, self, bare, parents };
}

/** Hrefs that needed the full parser, per resolver: navigation repeats within a page. */
const MEMO = 1024;

/**
 * `normalise` for many links of one page. Measured on 84,000 links of real pages: 0.22 µs each, against 0.95 µs; hrefs
 * that are slices of a larger string cost three times that, so hand over flat ones. Looking a string up costs about as
 * much as the scan, so only what the scan cannot decide is remembered.
 */
export function resolver(base: string): (href: string) => string | undefined {
  let place: BaseParts | undefined | null = null; // taken apart when the first link needs it
  let memo: Map<string, string | undefined> | undefined;
  return href => {
    if (href.length > LONGEST_URL) return undefined;
    if (place === null) place = placeOf(base);
    const quick = place === undefined ? null : resolvePlain(place, href);
    if (quick !== null) return bounded(quick);
    memo ??= new Map();
    const known = memo.get(href);
    if (known !== undefined || memo.has(href)) return known;
    if (memo.size === MEMO) memo.clear();
    const url = normalise(href, base);
    memo.set(href, url);
    return url;
  };
}

const PLAIN = 1; // stands for itself in a path and in a query
const QUERY_ONLY = 2; // plain in a query; in a path it needs a look
const kinds = new Uint8Array(128);
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~!$&()*+,=@')
  kinds[c.charCodeAt(0)] = PLAIN;
for (const c of './:;?%') kinds[c.charCodeAt(0)] = QUERY_ONLY;

const HASH = 35;
const PERCENT = 37;
const DOT = 46;
const SLASH = 47;
const COLON = 58;
const QUESTION = 63;
const LOWER_H = 104;

/** The normal form, undefined when there is none, null when only the full parser can say. */
function resolvePlain(place: BaseParts, href: string): string | undefined | null {
  const first = href.charCodeAt(0);
  if (href.length === 0 || first === HASH) return place.self;
  if (first === SLASH) {
    return href.charCodeAt(1) === SLASH ? resolveAbsolute(place, place.scheme + href) : join(place.origin, href, 0);
  }
  if (first === QUESTION) return join(place.bare, href, 0);
  let from = 0;
  let up = 0;
  while (href.charCodeAt(from) === DOT) {
    if (href.charCodeAt(from + 1) === SLASH) from += 2;
    else if (href.charCodeAt(from + 1) === DOT && href.charCodeAt(from + 2) === SLASH) {
      from += 3;
      up++;
    } else return null;
  }
  if (first === LOWER_H && (href.startsWith('https://') || href.startsWith('http://')))
    return resolveAbsolute(place, href);
  if (from === 0) {
    const scheme = schemeOf(href);
    if (scheme !== '') return scheme === 'http' || scheme === 'https' ? resolveAbsolute(place, href) : undefined;
  }
  return join(place.parents[Math.min(up, place.parents.length - 1)]!, href, from);
}

/** The scheme in lower case, empty when the href is relative (or so odd that `join` will give up on it). */
function schemeOf(href: string): string {
  for (let i = 0; i < href.length; i++) {
    const code = href.charCodeAt(i);
    if (code === COLON) return i === 0 ? '' : href.slice(0, i).toLowerCase();
    const letter = code | 32;
    if (letter >= 97 && letter <= 122 && code < 128) continue;
    if (i === 0 || !((code >= 48 && code <= 57) || code === 43 || code === 45 || code === DOT)) return '';
  }
  return '';
}

/** Normal origin by authority as written; null = leave it to the parser. Shared: pages link to few other servers. */
const origins = new Map<string, string | undefined | null>();
const ORIGINS = 8192;
const plainAuthority = /^https?:\/\/[a-z0-9.:-]+$/i;

function resolveAbsolute(place: BaseParts, href: string): string | undefined | null {
  if (href.startsWith(place.origin) && href.charCodeAt(place.origin.length) === SLASH) {
    return join(place.origin, href, place.origin.length);
  }
  const slash = href.indexOf('/', 8);
  const authority = slash < 0 ? href : href.slice(0, slash);
  let origin = origins.get(authority);
  if (origin === undefined && !origins.has(authority)) {
    if (origins.size === ORIGINS) origins.clear();
    const url = plainAuthority.test(authority) ? normalise(`${authority}/`) : null;
    origin = url && originOf(url);
    origins.set(authority, origin);
  }
  if (!origin) return origin;
  return slash < 0 ? `${origin}/` : join(origin, href, slash);
}

/** `prefix` and the rest of the href from `from`, when that rest is plain; its fragment may be anything. */
function join(prefix: string, href: string, from: number): string | null {
  const length = href.length;
  let i = from;
  let before = SLASH;
  let escaped = false;
  for (; i < length; i++) {
    const code = href.charCodeAt(i);
    if (code > 127) return null;
    if (kinds[code] !== PLAIN) {
      if (code === QUESTION || code === HASH) break;
      if (code === DOT || code === PERCENT) {
        // A segment that starts so may be a dot segment (`%2e` counts as one): the parser's business.
        if (before === SLASH) return null;
        if (code === PERCENT) escaped = true;
      } else if (code !== SLASH && code !== COLON) return null;
    }
    before = code;
  }
  const tail = href.slice(from, i);
  const path = prefix + (escaped ? normalisePercent(tail) : tail);
  if (i === length || href.charCodeAt(i) === HASH) return path;
  const start = i + 1;
  for (i = start; i < length; i++) {
    const code = href.charCodeAt(i);
    if (code === HASH) break;
    if (code > 127 || kinds[code] === 0) return null;
  }
  const query = cleanQuery(normalisePercent(href.slice(start, i)));
  return query === '' ? path : `${path}?${query}`;
}

/** Two 32-bit halves of the fingerprint; kept apart because a bigint per link costs more than the hash. */
export interface Fingerprint {
  high: number;
  low: number;
}

/** Reading characters one by one cost 0.18 µs a URL; copied out first and read as words, it is 0.1 µs. */
const scratch = Buffer.alloc(2048);
/** Little-endian, as every platform that Node supports here. */
const words = new Int32Array(scratch.buffer, scratch.byteOffset, scratch.length / 4);

/**
 * Fingerprint of a normalised URL, written into `out` (unsigned). Never 0/0: that marks an empty slot.
 * The ledger stores it: changing this function changes the identity of every page. Two lanes take four characters
 * each and feed each other, so that 64 bits of state, not twice 32, must agree for a collision. Not keyed: whoever
 * wants a collision can find one, and hides only a URL of his own making.
 */
export function fingerprint(url: string, out: Fingerprint): Fingerprint {
  let a = 0x9e3779b9 | 0;
  let b = 0x85ebca6b | 0;
  for (let from = 0; from < url.length; from += scratch.length) {
    const count = Math.min(url.length - from, scratch.length);
    // Zeros behind the text, where its last eight bytes are not full.
    const last = (count >> 3) << 1;
    words[last] = 0;
    words[last + 1] = 0;
    scratch.write(from === 0 ? url : url.slice(from), 0, 'latin1');
    for (let i = 0; i < count; i += 8) {
      let k = Math.imul(words[i >> 2]!, 0xcc9e2d51);
      k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
      a ^= k;
      a = (Math.imul((a << 13) | (a >>> 19), 5) + b) | 0;
      k = Math.imul(words[(i >> 2) + 1]!, 0x239b961b);
      k = Math.imul((k << 16) | (k >>> 16), 0xab0e9789);
      b ^= k;
      b = (Math.imul((b << 17) | (b >>> 15), 5) + a + 0x561ccd1b) | 0;
    }
  }
  a = mix((a ^ url.length) + b);
  b = mix((b ^ Math.imul(url.length, 0x9e3779b1)) + a);
  a = (a + b) | 0;
  b = (b + Math.imul(a, 0x85ebca77)) | 0;
  out.high = a >>> 0;
  out.low = b >>> 0;
  if (a === 0 && b === 0) out.low = 1;
  return out;
}

/** Every bit of the result depends on every bit of the argument. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
