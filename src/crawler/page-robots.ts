/** What a server's X-Robots-Tag header forbids, for us or for all. Meta elements are the scanner's business. */
import type { Page } from './stages.ts';

/** Bits of the scanner's `robots`, too. */
export const NOINDEX = 1;
export const NOFOLLOW = 2;
export const NOARCHIVE = 4;

const rules: Readonly<Record<string, number>> = {
  noindex: NOINDEX,
  nofollow: NOFOLLOW,
  noarchive: NOARCHIVE,
  none: NOINDEX | NOFOLLOW,
};

/** Flags as the scanner's `robots`. `skein: noindex` is for us, `other: noindex` is not, `noindex` is for all. */
export function robotsOf(header: string | undefined, agent: string): number {
  if (!header) return 0;
  let flags = 0;
  let ours = true;
  for (const part of header.toLowerCase().split(',')) {
    let rule = part.trim();
    const colon = rule.indexOf(':');
    // `unavailable_after: date` and `max-snippet: 10` have a colon too; they do not name anyone.
    if (colon > 0 && !/^(?:unavailable_after|max-)/.test(rule)) {
      ours = rule.slice(0, colon).trim() === agent.toLowerCase();
      rule = rule.slice(colon + 1).trim();
    }
    if (ours) flags |= rules[rule] ?? 0;
  }
  return flags;
}

export function forbids(flags: number): Pick<Page, 'noindex' | 'nofollow' | 'noarchive'> {
  return {
    noindex: (flags & NOINDEX) !== 0,
    nofollow: (flags & NOFOLLOW) !== 0,
    noarchive: (flags & NOARCHIVE) !== 0,
  };
}
