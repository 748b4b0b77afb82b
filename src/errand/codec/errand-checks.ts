/**
 * What an errand may say, at most. An outpost holds every errand against this before anything of it is used: numbers are
 * finite and in range, URLs have their one form, lists are bounded, and words are of their lists. What does not fit is
 * refused with 'bad-frame', and the outpost goes on.
 */
import { DAY } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { LONGEST_URL, normalise } from '../../base/url.ts';
import type { Errand, Limits, Scope, ServerTerms } from '../errand.ts';
import type { Known } from '../known.ts';
import { asDomain } from '../scope/scope.ts';

const MOST_PAGES = 200_000;
const MOST_STEPS = 1_000_000;
/** Milliseconds since 1970. */
const LATEST = Date.UTC(2200, 0);
const MOST_WORDS = 10_000;
const LONGEST_WORD = 4096;
const LONGEST_FACTS = 320;
const LONGEST_ROBOTS = 1 << 20;

export function checkErrand(errand: Errand): Errand {
  const { id, pages, server, scope, limits, levels, detector, deadline, seen, code } = errand;
  need(/^[\w~-]{1,100}$/.test(id), 'its name is malformed');
  need(pages.length <= MOST_PAGES, 'it has too many pages');
  for (const known of pages) checkKnown(known);
  checkServer(server);
  checkScope(scope);
  checkLimits(limits);
  need(within(levels, 0, 1000), 'it may travel too many levels');
  need(/^[\w-]{1,64}$/.test(detector), 'the name of its detector is malformed');
  need(within(deadline, 0, LATEST), 'its deadline is out of range');
  need(!seen || seen.length % 8 === 0, 'its list of seen fingerprints is truncated');
  need(code === undefined || /^[0-9a-f]{64}$/.test(code), 'the digest of its code is malformed');
  return errand;
}

function checkKnown({ url, depth, hops, tries, facts, etag, lastModified }: Known): void {
  need(url.length <= LONGEST_URL && normalise(url) === url, 'the URL of a page is not normalised');
  need(
    [depth, hops, tries].every(each => within(each, 0, MOST_STEPS)),
    'the depth, hops or tries of a page are out of range',
  );
  need(!facts || facts.length <= LONGEST_FACTS, 'the facts of a page are too long');
  need(
    [etag, lastModified].every(each => each === undefined || each.length <= LONGEST_WORD),
    'a validator is too long',
  );
}

function checkServer({ origin, robots, pace, connections, notBefore, auditShare, missing }: ServerTerms): void {
  need(normalise(`${origin}/`) === `${origin}/`, 'the origin of its server is not normalised');
  need(within(pace, 0, DAY) && within(connections, 1, MOST_STEPS), 'its pace or number of connections is out of range');
  need(within(notBefore, 0, LATEST) && within(auditShare, 0, 1), 'its audit share or its start is out of range');
  need(!missing || missing.length === 0 || missing.length === 16, 'the print of its not-found page is malformed');
  if (!robots) return;
  need(
    robots.body.length <= LONGEST_ROBOTS && within(robots.status, 0, 999),
    'its robots.txt is too long, or its status is out of range',
  );
  need(
    within(robots.time, 0, LATEST) && within(robots.unreachableSince, 0, LATEST),
    'the time of its robots.txt is out of range',
  );
}

function checkScope({ domains, include, exclude, focus, keep }: Scope): void {
  const { minBytes, maxBytes, ...kept } = keep;
  for (const words of [domains, include, exclude, focus, ...Object.values(kept)]) {
    need(words.length <= MOST_WORDS && words.every(word => word.length <= LONGEST_WORD), 'its scope is too large');
  }
  need(
    domains.every(domain => asDomain(domain) !== undefined),
    'its scope has something that is not a domain',
  );
  need(
    within(minBytes, 0, Number.MAX_SAFE_INTEGER) && within(maxBytes, 0, Number.MAX_SAFE_INTEGER),
    'its limits of size are out of range',
  );
}

function checkLimits({ pages, follow, depth, bodyBytes, time }: Limits): void {
  const sane = [pages, follow, depth, bodyBytes, time].every(each => within(each, 0, Number.MAX_SAFE_INTEGER));
  need(sane && bodyBytes > 0, 'its limits are out of range');
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most; // false for what is not a number
}

function need(fits: boolean, what: string): void {
  if (!fits) throw new SkeinError('bad-frame', `The errand is refused: ${what}.`);
}
