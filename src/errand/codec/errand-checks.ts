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
  need(/^[\w~-]{1,100}$/.test(id), 'its name is none');
  need(pages.length <= MOST_PAGES, 'it names too many pages');
  for (const known of pages) checkKnown(known);
  checkServer(server);
  checkScope(scope);
  checkLimits(limits);
  need(within(levels, 0, 1000), 'it travels too far');
  need(/^[\w-]{1,64}$/.test(detector), 'its detector has no name');
  need(within(deadline, 0, LATEST), 'its deadline is not a time');
  need(!seen || seen.length % 8 === 0, 'what was seen is cut');
  need(code === undefined || /^[0-9a-f]{64}$/.test(code), 'its code has no digest');
  return errand;
}

function checkKnown({ url, depth, hops, tries, facts, etag, lastModified }: Known): void {
  need(url.length <= LONGEST_URL && normalise(url) === url, 'a page has no URL');
  need(
    [depth, hops, tries].every(each => within(each, 0, MOST_STEPS)),
    'a page is too far away',
  );
  need(!facts || facts.length <= LONGEST_FACTS, 'the facts of a page are too long');
  need(
    [etag, lastModified].every(each => each === undefined || each.length <= LONGEST_WORD),
    'a validator is too long',
  );
}

function checkServer({ origin, robots, pace, connections, notBefore, auditShare, missing }: ServerTerms): void {
  need(normalise(`${origin}/`) === `${origin}/`, 'its server is not spelled well');
  need(within(pace, 0, DAY) && within(connections, 1, MOST_STEPS), 'its pace is none');
  need(within(notBefore, 0, LATEST) && within(auditShare, 0, 1), 'its terms are none');
  need(!missing || missing.length === 0 || missing.length === 16, 'a print is none');
  if (!robots) return;
  need(robots.body.length <= LONGEST_ROBOTS && within(robots.status, 0, 999), 'its robots.txt is none');
  need(within(robots.time, 0, LATEST) && within(robots.unreachableSince, 0, LATEST), 'its robots.txt has no time');
}

function checkScope({ domains, include, exclude, focus, keep }: Scope): void {
  const { minBytes, maxBytes, ...kept } = keep;
  for (const words of [domains, include, exclude, focus, ...Object.values(kept)]) {
    need(words.length <= MOST_WORDS && words.every(word => word.length <= LONGEST_WORD), 'its scope is too large');
  }
  need(
    domains.every(domain => asDomain(domain) !== undefined),
    'its scope names what is no domain',
  );
  need(
    within(minBytes, 0, Number.MAX_SAFE_INTEGER) && within(maxBytes, 0, Number.MAX_SAFE_INTEGER),
    'it keeps nothing',
  );
}

function checkLimits({ pages, follow, depth, bodyBytes, time }: Limits): void {
  const sane = [pages, follow, depth, bodyBytes, time].every(each => within(each, 0, Number.MAX_SAFE_INTEGER));
  need(sane && bodyBytes > 0, 'its limits are none');
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most; // false for what is not a number
}

function need(fits: boolean, what: string): void {
  if (!fits) throw new SkeinError('bad-frame', `The errand is refused: ${what}.`);
}
