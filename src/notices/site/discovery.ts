/**
 * The face that a cooperating site shows to Skein, as both ends write and read it; docs/protocol.md tells it in words.
 * This file: where things are (`/.well-known/skein`), how a request fails, and the limits that both ends keep.
 * The others: changes.ts, manifest.ts, pages.ts, one for each answer. Nothing here fetches, serves or remembers.
 */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { normalise } from '../../base/url.ts';

export const WELL_KNOWN = '/.well-known/skein';
export const SITE_PROTOCOL = 1;
/** What `content` hashes of this version mean; another name = they cannot be held against our own facts. */
export const DETECTOR = 'content-1';

export const mediaTypes = {
  changes: 'application/vnd.skein.changes',
  manifest: 'application/vnd.skein.manifest',
  wanted: 'application/vnd.skein.wanted',
  pages: 'application/vnd.skein.pages',
} as const;

/** What a reader believes at most, whatever the site says; what a site offers at most. */
export const siteLimits = {
  /** Changes in one answer. */
  changes: 10_000,
  /** Pages of a site; a manifest has no more. */
  pages: 1_000_000,
  buckets: 4096,
  /** Buckets in one answer. */
  bucketsAsked: 512,
  /** Pages that one request asks for. */
  wanted: 1000,
  /** Bytes of a request's body, decompressed. */
  requestBytes: 4 * 1024 * 1024,
  /** Bytes of an answer on the wire. */
  answerBytes: 64 * 1024 * 1024,
  /** Bytes of one page; larger ones are fetched the usual way. */
  pageBytes: 8 * 1024 * 1024,
  /** Bytes of pages in one answer before compression, and of the versions that they are held against. */
  pagesBytes: 32 * 1024 * 1024,
  /** Seconds that a request for changes may be held back until there are some. */
  wait: 120,
  /** Characters of a cursor. */
  cursor: 64,
  discoveryBytes: 64 * 1024,
  terms: 1000,
} as const;

const cursorText = z.string().regex(/^\d{1,15}-[0-9a-f]{16}$/);
const link = z.string().max(4096);

/** The discovery document. Fields that a reader does not know are ignored, so that later versions can say more. */
const discoverySchema = z.object({
  protocol: z.int().min(1).max(1000),
  software: z.string().max(100),
  /** The public URL: everything that is told lies under it. */
  site: link,
  detector: z.string().max(40),
  /** Where the journal stands: changes are to be had since any cursor whose number is `first` or more. */
  journal: z.object({ first: z.int().min(0), cursor: cursorText }),
  pages: z.int().min(0),
  /** `token`: Authorization: Bearer; `certificate`: TLS with a client certificate. */
  access: z.enum(['open', 'token', 'certificate']),
  changes: link,
  manifest: link,
  pagesAt: link,
  /** Standard faces, where the site has them. */
  sitemap: link.optional(),
  atom: link.optional(),
  resourceSync: link.optional(),
  /** WebSub: where to subscribe, and the topics. */
  hub: link.optional(),
  topics: z.array(link).max(10).optional(),
  /** IndexNow: where the key file is. */
  indexNowKey: link.optional(),
  /** Shared search cache: where terms may be told, and what the site answers from them. */
  terms: link.optional(),
  suggest: link.optional(),
  popular: link.optional(),
  /** The site's own search box: what it asks, and the web component. */
  search: link.optional(),
  widget: link.optional(),
  limits: z.object({
    /** Requests a minute that one reader may make. */
    requestsAMinute: z.number().positive(),
    wanted: z.int().min(1),
    wait: z.int().min(0),
  }),
});

export type Discovery = z.infer<typeof discoverySchema>;

export function encodeDiscovery(discovery: Discovery): string {
  return JSON.stringify(discovery);
}

/** Links come back absolute; whatever is not a discovery document of a version we know is a `bad-frame`. */
export function decodeDiscovery(text: string, url: string): Discovery {
  if (text.length > siteLimits.discoveryBytes) throw bad('the discovery document is too long');
  const read = discoverySchema.safeParse(parseJson(text));
  if (!read.success) throw bad(`the discovery document is malformed (${read.error.issues[0]?.path.join('.')})`);
  const found = read.data;
  if (found.protocol !== SITE_PROTOCOL) {
    throw new SkeinError(
      'version-mismatch',
      `The site speaks version ${found.protocol}, and this is ${SITE_PROTOCOL}.`,
    );
  }
  const at = (href: string): string => {
    const absolute = normalise(href, url);
    if (absolute === undefined) throw bad('a link in the discovery document is malformed');
    return absolute;
  };
  const links = ['changes', 'manifest', 'pagesAt', 'sitemap', 'atom', 'resourceSync'] as const;
  const more = ['hub', 'indexNowKey', 'terms', 'suggest', 'popular', 'search', 'widget'] as const;
  const absolute: Record<string, unknown> = {};
  for (const name of [...links, ...more]) if (found[name] !== undefined) absolute[name] = at(found[name]);
  if (found.topics) absolute['topics'] = found.topics.map(at);
  return { ...found, site: at(found.site), ...absolute };
}

/** How a request fails; each with its HTTP status. */
export const siteErrors = {
  'bad-request': 400,
  'token-wanted': 401,
  refused: 403,
  'not-found': 404,
  /** The cursor is of a history that this journal does not have: restored from a backup, or made anew. Reconcile. */
  'other-history': 409,
  /** The journal no longer reaches back to it. Reconcile. */
  'cursor-too-old': 410,
  'too-large': 413,
  'slow-down': 429,
  /** The first inventory is under way, or the source is gone; Retry-After says when to come again. */
  'not-ready': 503,
} as const;

export type SiteErrorCode = keyof typeof siteErrors;

const errorSchema = z.object({ error: z.string().max(40), message: z.string().max(500) });

interface SiteFailure {
  readonly code: SiteErrorCode | 'unknown';
  /** For people. */
  readonly message: string;
  /** The reader's way on is the manifest. */
  readonly reconcile: boolean;
}

export function encodeFailure(code: SiteErrorCode, message: string): string {
  return JSON.stringify({ error: code, message });
}

/** What an answer of 400 and more says; never throws. */
export function decodeFailure(status: number, text: string): SiteFailure {
  const read = text.length > 4096 ? undefined : errorSchema.safeParse(parseJson(text)).data;
  const codes = Object.keys(siteErrors) as SiteErrorCode[];
  const code = codes.find(each => each === read?.error && siteErrors[each] === status) ?? 'unknown';
  const message = (read?.message ?? `HTTP ${status}`).replace(/[\x00-\x1f\x7f]/g, ' ');
  return { code, message, reconcile: code === 'other-history' || code === 'cursor-too-old' };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // whoever asked finds nothing in it, and says so
  }
}

export function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A message does not decode: ${what}.`);
}
