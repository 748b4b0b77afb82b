/** A URL that may become a page, as the admission looks at it. */
import { hostOf } from '../../base/url.ts';
import type { ReasonCode } from '../../errand/reasons.ts';
import { LINK_IMAGE, LINK_IS_SITEMAP } from '../../errand/visit.ts';
import { domainOf, leavesOut } from '../lanes/director.ts';

export const SITEMAP = 1;
export const IMAGE = 2;

/** Where it was found. */
export interface Source {
  readonly page: number;
  readonly depth: number;
  readonly hops: number;
  readonly time: number;
  /** The page says nofollow for all its links. */
  readonly nofollow: boolean;
}

/** Refused for a reason that a better link may lift. */
export const LIFTABLE: readonly string[] = ['nofollow', 'too-deep'] satisfies ReasonCode[];

/** What the rules look at in a page that may be admitted. */
export interface Candidate {
  readonly url: string;
  readonly depth: number;
  readonly hops: number;
  readonly parent: number;
  readonly relevance: number;
  readonly role: number;
  readonly seed?: boolean;
}

export function candidateOf(
  { url, relevance, flags, seed = false }: NewLink,
  { depth, hops, page: parent }: Source,
): Candidate {
  return { url, depth, hops, parent, relevance, role: roleOf(flags), seed };
}

export function roleOf(flags: number): number {
  return flags & LINK_IS_SITEMAP ? SITEMAP : flags & LINK_IMAGE ? IMAGE : 0;
}

export interface NewLink {
  readonly url: string;
  readonly high: number;
  readonly low: number;
  readonly flags: number;
  readonly relevance: number;
  readonly lastmod: number;
  readonly seed?: boolean;
}

type OutsideRule = (url: string) => ReasonCode | undefined;

/** A domain of weight 0 is outside. */
export function withDomains(outside: OutsideRule, weights: ReadonlyMap<string, number>): OutsideRule {
  if (weights.size === 0) return outside;
  return url => outside(url) ?? (leavesOut(weights, domainOf(weights, hostOf(url))) ? 'out-of-scope' : undefined);
}

/** So many refused URLs of a server are stored one by one; more are only counted, because a trap can make millions. */
const REFUSED_PER_SERVER = 1000;

/** Most refused URLs to store of a server: all that another link may let in, and for a limit as many as it admitted. */
export function mostRefused(reason: ReasonCode, pagesPerServer: number): number {
  if (LIFTABLE.includes(reason)) return Number.POSITIVE_INFINITY;
  return reason === 'too-many-on-server' ? Math.max(REFUSED_PER_SERVER, pagesPerServer) : REFUSED_PER_SERVER;
}
