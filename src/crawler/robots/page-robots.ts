/** What a server's X-Robots-Tag header forbids, for us or for all. Meta elements are the scanner's business. */
import type { Page } from '../stages.ts';

/** Bits of the scanner's `robots`, too. */
export const NOINDEX = 1;
export const NOFOLLOW = 2;
export const NOARCHIVE = 4;

const rules: ReadonlyMap<string, number> = new Map([
  ['noindex', NOINDEX],
  ['nofollow', NOFOLLOW],
  ['noarchive', NOARCHIVE],
  ['nocache', NOARCHIVE],
  ['none', NOINDEX | NOFOLLOW],
]);

/** A name and what is said to it; the time of a date is none, though it has colons. */
const NAMED = /^\s*([a-z_-][a-z0-9_-]*)\s*:(.*)$/s;
const VALUED = /^(?:unavailable_after|max-)/;

/**
 * Flags as the scanner's `robots`. `skein: noindex` is for us, `other: noindex` is not, `noindex` is for all. Each line of
 * the header stands for itself (header-lines.ts).
 */
export function robotsOf(header: string | undefined, agent: string): number {
  if (!header) return 0;
  return header.split('\n').reduce((flags, line) => flags | flagsOf(line, agent), 0);
}

function flagsOf(line: string, agent: string): number {
  let flags = 0;
  let ours = true;
  for (const part of line.toLowerCase().split(',')) {
    const [, name, rule] = NAMED.exec(part) ?? [];
    // `unavailable_after: date` and `max-snippet: 10` have a colon too; they do not name anyone.
    const named = name !== undefined && !VALUED.test(name);
    if (named) ours = name === agent.toLowerCase();
    if (ours) flags |= rules.get((named ? rule! : part).trim()) ?? 0;
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
