/** What a user wants forgotten: one URL, all that match a pattern, or a whole server. */
import { SkeinError } from '../../base/errors.ts';
import { seedUrl } from '../../base/url.ts';

export interface ForgetTarget {
  readonly kind: 'url' | 'pattern' | 'server';
  /** A URL; or a pattern: * stands for anything, all else for itself, from the first character of a URL to its last. */
  readonly text: string;
}

/**
 * `https://example.org/a` is a URL, `https://example.org` and `example.org` are servers, what has a * is a pattern. A
 * pattern without a scheme may begin and end anywhere in a URL, as in other commands.
 */
export function parseTarget(given: string): ForgetTarget[] {
  const text = given.trim();
  if (text.replaceAll('*', '') === '') {
    throw new SkeinError('bad-option', `"${given}" would forget everything.`, 'Name a URL, a pattern or a server.');
  }
  if (text.includes('*')) {
    return [{ kind: 'pattern', text: /^https?:\/\//i.test(text) ? text : `*${text}*` }];
  }
  if (/^https?:\/\/[^/]+\/./i.test(text) || /^https?:\/\/[^/]+\/$/i.test(text)) {
    return [{ kind: 'url', text: seedUrl(text) }];
  }
  if (text.includes('/') && !/^https?:\/\//i.test(text)) return [{ kind: 'url', text: seedUrl(text) }];
  const origins = /^https?:\/\//i.test(text) ? [text] : [`http://${text}`, `https://${text}`];
  return origins.map(origin => ({ kind: 'server', text: `${seedUrl(origin)}*` }));
}

/** Whether a URL is among these. Takes time in proportion to its length, whatever the pattern: strangers write URLs. */
export function matcherOf(targets: readonly Pick<ForgetTarget, 'text'>[]): (url: string) => boolean {
  const exact = new Set(targets.map(({ text }) => text).filter(text => !text.includes('*')));
  const patterns = targets.filter(({ text }) => text.includes('*')).map(({ text }) => text.split('*'));
  return url => exact.has(url) || patterns.some(pieces => matches(pieces, url));
}

/** Each piece as early as it can be, the last at the end. */
function matches(pieces: readonly string[], url: string): boolean {
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (url.length < first.length + last.length || !url.startsWith(first) || !url.endsWith(last)) return false;
  let at = first.length;
  const end = url.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = url.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
