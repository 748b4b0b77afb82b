/**
 * Shared edits as rules of bytes: between what stands around it, this became that. A rule that several pages of a server
 * have shown can be applied to the copy of a page that nobody has fetched since. Pure: bodies in, rules and bodies out.
 *
 * Bodies are strings with one character a byte, so that whatever charset they have, what comes out is what went in.
 */
import { hunks } from '../base/myers.ts';
import { hashAll, hashOf } from './hash.ts';

export interface NoiseRule {
  readonly ahead: string;
  readonly old: string;
  readonly now: string;
  readonly behind: string;
}

/** Tags and texts beside an edit that make its context. The widest that enough pages agree on is the one that counts. */
const CONTEXTS = [4, 2, 1];
/** Characters of a context and of an edit, beyond which there is none; of both together, below which there is none. */
const MOST_CONTEXT = 400;
const MOST_EDIT = 8000;
const LEAST = 16;
/** Differences beyond which a page is another one, and not edited. */
const MOST_DIFFERENCES = 400;
const MOST_EDITS = 40;

/** What became what, each with contexts of several widths. */
export function rulesBetween(before: string, after: string): NoiseRule[] {
  const old = piecesOf(before);
  const now = piecesOf(after);
  const changed = hunks(old, now, MOST_DIFFERENCES);
  if (changed.length > MOST_EDITS) return [];
  return changed.flatMap((hunk, at) => {
    const gone = old.slice(...hunk.before).join('');
    const come = now.slice(...hunk.after).join('');
    if (gone.length > MOST_EDIT || come.length > MOST_EDIT) return [];
    // What stands around it has stayed: it ends where the next edit begins.
    const from = changed[at - 1]?.before[1] ?? 0;
    const to = changed[at + 1]?.before[0] ?? old.length;
    const all = CONTEXTS.map(width => ({
      ahead: old.slice(Math.max(from, hunk.before[0] - width), hunk.before[0]).join(''),
      old: gone,
      now: come,
      behind: old.slice(hunk.before[1], Math.min(to, hunk.before[1] + width)).join(''),
    }));
    return all.filter(isTelling);
  });
}

function piecesOf(body: string): string[] {
  return body.match(/<[^>]*>?|[^<]+/g) ?? [];
}

function isTelling({ ahead, old, behind }: NoiseRule): boolean {
  const context = ahead.length + behind.length;
  return context <= MOST_CONTEXT && context + old.length >= LEAST && (ahead + old + behind).trim().length >= LEAST;
}

export function ruleKey({ ahead, old, now, behind }: NoiseRule): number {
  return hashAll([ahead, old, now, behind].map(hashOf));
}

/** The same the other way round: a page that has it swings, or was put back. */
export function reverseKey({ ahead, old, now, behind }: NoiseRule): number {
  return ruleKey({ ahead, old: now, now: old, behind });
}

/** Where what the rule speaks of stands, if it does at one place alone. */
function placeOf(body: string, { ahead, old, behind }: NoiseRule): number | undefined {
  const sought = ahead + old + behind;
  const at = body.indexOf(sought);
  return at < 0 || body.indexOf(sought, at + 1) >= 0 ? undefined : at + ahead.length;
}

/** The page is as it was before the edit. */
export function isContrary(body: string, rule: NoiseRule): boolean {
  return placeOf(body, rule) !== undefined;
}

/** Undefined when no rule is about this page. */
export function appliedTo(body: string, rules: readonly NoiseRule[]): string | undefined {
  let result = body;
  for (const rule of rules) {
    const at = placeOf(result, rule);
    if (at !== undefined) result = result.slice(0, at) + rule.now + result.slice(at + rule.old.length);
  }
  return result === body ? undefined : result;
}
