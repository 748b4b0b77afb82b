/**
 * Looks for the ways in which a server tells of its changes: what robots.txt and the stored copies of its first pages say,
 * the beginnings of its sitemaps, and the two well-known places, which cost a request each. It finds candidates; polling them
 * shows what they are.
 */
import { DAY } from '../../../base/clock.ts';
import { originOf } from '../../../base/url.ts';
import {
  linksInHeader,
  linksInPage,
  linksInRobots,
  linksInSitemap,
  sitemapsInRobots,
} from '../../../notices/face-links.ts';
import { WELL_KNOWN } from '../../../notices/site/discovery.ts';
import { unpack } from '../../../notices/xml.ts';
import { type Done, type FoundFaces, NOTHING } from '../messages.ts';
import { type Asking, NoAnswer } from './asking.ts';

/** A stored page, as far as it may name faces. */
export interface Copy {
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** What is known of a server without asking it. */
interface KnownOfServer {
  readonly robots: string;
  readonly copies: Iterable<Copy>;
}

const WELL_KNOWN_SYNC = '/.well-known/resourcesync';
const MOST_FOUND = 16;
/** Sitemaps that are looked into, and bytes of each. */
const MOST_SITEMAPS = 3;
const SITEMAP_START = 16_384;
const MOST_BYTES = 1 << 20;

export async function discover(asking: Asking, origin: string, { robots, copies }: KnownOfServer): Promise<Done> {
  const found = new Map<string, FoundFaces>();
  const add = (links: readonly Omit<FoundFaces, 'where'>[], where: string) => {
    for (const { kind, url } of links) {
      const key = `${kind} ${url}`;
      if (found.size < MOST_FOUND && !found.has(key)) found.set(key, { kind, url, where });
    }
  };
  add(linksInRobots(robots, `${origin}/`), 'robots.txt');
  for (const { url, headers, text } of copies) {
    add(linksInHeader(headers.get('link') ?? '', url), 'link header');
    add(linksInPage(text, url), 'page');
    if (headers.has('use-as-dictionary')) add([{ kind: 'dictionary', url: `${origin}/` }], 'page header');
  }
  let trouble = '';
  for (const [path, kind] of [
    [WELL_KNOWN, 'cursor'],
    [WELL_KNOWN_SYNC, 'resourcesync'],
  ] as const) {
    const url = origin + path;
    if (found.has(`${kind} ${url}`)) continue;
    try {
      if (await answers(asking, url)) add([{ kind, url }], 'well-known');
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      trouble = error.message; // it may be there another day
      break;
    }
  }
  // Where a site tells everything by its cursor nothing else has to be looked for.
  const tellsAll = [...found.values()].some(({ kind }) => kind === 'cursor');
  const sitemaps = tellsAll || trouble !== '' ? [] : sitemapsInRobots(robots, `${origin}/`);
  for (const url of sitemaps.filter(each => originOf(each) === origin).slice(0, MOST_SITEMAPS))
    add(linksInSitemap(await startOf(asking, url), url), 'sitemap');
  return { ...NOTHING, found: [...found.values()], every: 30 * DAY, trouble };
}

/** The first bytes of a sitemap, as text; packed ones as far as they unpack. One that cannot be read says nothing. */
async function startOf(asking: Asking, url: string): Promise<string> {
  try {
    const { status, body } = await asking.own({ url, maxBytes: SITEMAP_START, accept: 'application/xml' }, 'start');
    return status === 200 ? unpack(body, MOST_BYTES).text : '';
  } catch (error) {
    if (error instanceof NoAnswer) return '';
    throw error;
  }
}

/** A server that answers anything with a page has no such thing. */
async function answers(asking: Asking, url: string): Promise<boolean> {
  const { status, headers } = await asking.own({
    url,
    maxBytes: MOST_BYTES,
    accept: 'application/json, application/xml',
  });
  return status === 200 && !/^text\/html\b/i.test(headers.get('content-type') ?? '');
}
