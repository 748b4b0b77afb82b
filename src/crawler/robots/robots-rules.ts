/**
 * The rules of one robots.txt group, compiled so that a check costs about the same for three rules and for three
 * thousand. No RegExp is ever made of what a site wrote, and matching takes time linear in path and pattern.
 *
 * The literal text before a rule's first `*` is its head. Heads stand in order, each knowing the longest other head
 * that it begins with. The heads that begin a path are then found by one binary search and a walk up these parents,
 * because every string between a prefix of the path and the path itself begins with that prefix.
 */
import { normalisePercent } from '../../base/url.ts';

export interface RobotsRule {
  readonly allow: boolean;
  /** As the group has it, `*` and a final `$` being special; one character per byte. */
  readonly pattern: string;
  /** The line as people should read it. */
  readonly text: string;
}

export interface RobotsVerdict {
  readonly allowed: boolean;
  /** The line that decided; undefined when none applies. */
  readonly rule: string | undefined;
}

export interface Rules {
  readonly heads: readonly PatternHead[];
}

interface PatternHead {
  readonly text: string;
  readonly parent: PatternHead | undefined;
  /** The rule that is this head and nothing more. */
  readonly plain: Compiled | undefined;
  /** Those with `*` or `$` behind the head, the longest first, of equal ones Allow first. */
  readonly wild: readonly Compiled[];
}

interface Compiled {
  readonly verdict: RobotsVerdict;
  /** Octets of the pattern: the most specific rule is the longest. */
  readonly length: number;
  readonly head: string;
  /** What must follow the head, in this order. */
  readonly pieces: readonly string[];
  /** The last piece (or the head, where there is none) must end the path. */
  readonly anchored: boolean;
  /** Pairs of neighbouring characters in `pieces`, folded to 64 bits: a path without them all cannot match. */
  readonly pairs: Pairs;
}

interface Pairs {
  low: number;
  high: number;
}

export const noRule: RobotsVerdict = { allowed: true, rule: undefined };

export function compileRules(rules: readonly RobotsRule[]): Rules {
  const byHead = new Map<string, Compiled[]>();
  for (const rule of rules) {
    const compiled = compile(rule);
    // Paths begin with a slash: anything else can match nothing.
    if (compiled.head !== '' ? !compiled.head.startsWith('/') : !rule.pattern.startsWith('*')) continue;
    const same = byHead.get(compiled.head);
    if (same === undefined) byHead.set(compiled.head, [compiled]);
    else same.push(compiled);
  }
  const heads: PatternHead[] = [];
  const open: PatternHead[] = []; // the heads that the one before begins with, shortest first
  for (const text of [...byHead.keys()].sort()) {
    while (open.length > 0 && !text.startsWith(open.at(-1)!.text)) open.pop();
    const all = byHead.get(text)!.sort(bySpecificity);
    const plain = all.find(rule => rule.pieces.length === 0 && !rule.anchored);
    const wild = all.filter(rule => rule.pieces.length > 0 || rule.anchored);
    const head = { text, parent: open.at(-1), plain, wild };
    heads.push(head);
    open.push(head);
  }
  return { heads };
}

function bySpecificity(a: Compiled, b: Compiled): number {
  return b.length - a.length || Number(b.verdict.allowed) - Number(a.verdict.allowed);
}

function compile(rule: RobotsRule): Compiled {
  const ends = rule.pattern.endsWith('$');
  const parts = (ends ? rule.pattern.slice(0, -1) : rule.pattern).split('*').map(comparable);
  const head = parts[0]!;
  const pieces = parts.slice(1).filter(part => part !== '');
  const pairs: Pairs = { low: 0, high: 0 };
  for (const piece of pieces) addPairs(piece, pairs);
  return {
    verdict: { allowed: rule.allow, rule: rule.text },
    length: parts.join('*').length + (ends ? 1 : 0),
    head,
    pieces,
    // `/a*$` ends anywhere, as `/a` does.
    anchored: ends && (parts.length === 1 || parts.at(-1) !== ''),
    pairs,
  };
}

/** Whatever is not plain URL text, and what is special in patterns but may stand in a path: `*` and `$`. */
const special = /[^!#&'()+,\-./0-9:;=?@A-Z[\]_a-z~%]/;
const specials = new RegExp(special, 'g');

/** The form in which patterns and paths are compared: RFC 9309 §2.2.2, octets above 127 and blanks escaped. */
function comparable(text: string): string {
  return normalisePercent(special.test(text) ? text.replace(specials, escaped) : text);
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  // Not a byte: a URL that nobody normalised. It stays unequal to every pattern.
  return code > 255 ? character : `%${code < 16 ? '0' : ''}${code.toString(16)}`;
}

function addPairs(text: string, into: Pairs): void {
  for (let i = 1, before = text.charCodeAt(0); i < text.length; i++) {
    const code = text.charCodeAt(i);
    const bit = before * 7 + code;
    if (bit & 32) into.high |= 1 << (bit & 31);
    else into.low |= 1 << (bit & 31);
    before = code;
  }
}

/** Path and query of a URL against the rules: the longest match decides, Allow wins among equals. */
export function checkRules(rules: Rules, rawPath: string): RobotsVerdict {
  const path = comparable(rawPath);
  let head = lastHeadWithin(rules.heads, path);
  let best: Compiled | undefined;
  let pairs: Pairs | undefined;
  for (; head !== undefined; head = head.parent) {
    if (head.plain !== undefined) best = moreSpecific(best, head.plain);
    if (head.wild.length === 0) continue;
    if (pairs === undefined) addPairs(path, (pairs = { low: 0, high: 0 }));
    const found = firstMatch(head.wild, path, pairs, best?.length ?? 0);
    if (found !== undefined) best = moreSpecific(best, found);
  }
  return best === undefined ? noRule : best.verdict;
}

function moreSpecific(a: Compiled | undefined, b: Compiled): Compiled {
  return a === undefined || bySpecificity(a, b) > 0 ? b : a;
}

/** The longest head that begins `path`. */
function lastHeadWithin(heads: readonly PatternHead[], path: string): PatternHead | undefined {
  let low = 0;
  let high = heads.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (heads[middle]!.text <= path) low = middle + 1;
    else high = middle;
  }
  let head = heads[low - 1];
  if (head === undefined) return undefined;
  let common = 0;
  const limit = Math.min(head.text.length, path.length);
  while (common < limit && head.text.charCodeAt(common) === path.charCodeAt(common)) common++;
  while (head !== undefined && head.text.length > common) head = head.parent;
  return head;
}

function firstMatch(wild: readonly Compiled[], path: string, pairs: Pairs, least: number): Compiled | undefined {
  for (const rule of wild) {
    if (rule.length < least) return undefined;
    if ((rule.pairs.low & ~pairs.low) !== 0 || (rule.pairs.high & ~pairs.high) !== 0) continue;
    if (matchesRest(rule, path)) return rule;
  }
  return undefined;
}

/** The leftmost place for each piece is always good enough, so nothing is ever tried twice. */
function matchesRest(rule: Compiled, path: string): boolean {
  let at = rule.head.length;
  const { pieces, anchored } = rule;
  const floating = anchored ? pieces.length - 1 : pieces.length;
  for (let i = 0; i < floating; i++) {
    const found = path.indexOf(pieces[i]!, at);
    if (found < 0) return false;
    at = found + pieces[i]!.length;
  }
  if (!anchored) return true;
  const last = pieces[floating];
  if (last === undefined) return path.length === at;
  return path.length - last.length >= at && path.endsWith(last);
}
