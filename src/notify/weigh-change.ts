/** Whether a change counts for a rule, and what of it is told. Pure: two versions of a page and a rule in, a verdict out. */
import { selectAll } from 'css-select';
import type { EditRun } from '../base/myers.ts';
import { blocksOf } from '../extract/blocks.ts';
import { type Document, type Element, treeOf } from '../extract/tree.ts';
import { type Stretch, stretches } from '../home/copies/difference.ts';
import type { Rule } from './rule.ts';
import { withinTime } from './within-time.ts';

export interface WeighedVersion {
  readonly url: string;
  readonly text: string;
  readonly html: boolean;
}

export interface Weighed {
  readonly counts: boolean;
  /** A sentence for people. */
  readonly why: string;
  /** Words that came and went in the parts that the rule is about. */
  readonly added: number;
  readonly removed: number;
  /** Of the words of both versions, 0 to 1. */
  readonly share: number;
  /** What differs, with a few words around it: [-gone-] {+come+}. */
  readonly diff: string;
}

/** Words around a difference, and characters of what is told. */
const CONTEXT = 8;
const LONGEST = 6000;

/** Milliseconds in which the selectors and expressions of a rule have to find their parts of two versions. */
const PATIENCE = 5000;

export function weigh(before: WeighedVersion | undefined, after: WeighedVersion | undefined, rule: Rule): Weighed {
  const lines = (by: Rule) => [before, after].map(version => (version ? linesOf(version, by) : []));
  const found = withinTime(PATIENCE, () => lines(rule));
  if (found) return weighed(found, rule);
  // A change that nobody can judge is told rather than lost, and holds up no other.
  const whole = { ...rule, include: [], ignore: [], ignoreText: [] };
  const told = weighed(lines(whole), whole);
  return { ...told, why: `${told.why}, in the whole page: its selectors and expressions took too long here` };
}

function weighed([old, now]: readonly (readonly string[])[], rule: Rule): Weighed {
  const found = stretches(old!, now!, wordsOf);
  const runs = found.flatMap(stretch => (stretch.kind === 'changed' ? stretch.words : []));
  const [added, removed] = (['added', 'removed'] as const).map(kind =>
    runs.filter(run => run.kind === kind).flatMap(({ items }) => items),
  );
  const words = wordsOf(old!).length + wordsOf(now!).length;
  const share = words === 0 ? 0 : (added!.length + removed!.length) / words;
  const figures = { added: added!.length, removed: removed!.length, share, diff: told(found) };
  const reason = tooLittle(rule, [...added!, ...removed!], share) ?? without(rule.only, old!, now!);
  const what = `${count(added!.length)} added, ${count(removed!.length)} removed`;
  return { ...figures, counts: reason === undefined, why: reason ?? `${what}${where(rule)}` };
}

/** Why it does not count; undefined = it does. */
function tooLittle({ leastWords, leastShare, ...rule }: Rule, words: string[], share: number) {
  if (words.length === 0) return `nothing differs${where(rule)}`;
  if (words.length < leastWords) return `${count(words.length)} differ; the rule needs ${leastWords}`;
  if (share < leastShare) return `${percent(share)} of the words differ; the rule needs ${percent(leastShare)}`;
  return undefined;
}

/** Whether one of these words or phrases came or went: it stands there more often, or less often, than it did. */
function without(only: Rule['only'], before: readonly string[], after: readonly string[]): string | undefined {
  if (only.length === 0) return undefined;
  const [old, now] = [before, after].map(lines => wordsOf(lines).join(' ').toLowerCase());
  const differs = only.some(phrase => timesIn(old!, phrase) !== timesIn(now!, phrase));
  return differs ? undefined : `none of these was added or removed: ${only.join(', ')}`;
}

/** As whole words: "sale" is not in "wholesale". */
function timesIn(text: string, phrase: string): number {
  const words = phrase
    .toLowerCase()
    .trim()
    .split(/\s+/)
    .join(' ')
    .replace(/[^\p{L}\p{N} ]/gu, '\\$&');
  return text.match(new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, 'gu'))?.length ?? 0;
}

const count = (words: number) => (words === 1 ? '1 word' : `${words} words`);
const percent = (share: number) => `${(share * 100).toFixed(1)}%`;

function where({ include, ignore, ignoreText }: Pick<Rule, 'include' | 'ignore' | 'ignoreText'>): string {
  const parts = [
    ...(include.length > 0 ? [`in ${include.join(', ')}`] : []),
    ...(ignore.length + ignoreText.length > 0 ? [`without ${[...ignore, ...ignoreText].join(', ')}`] : []),
  ];
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`;
}

function linesOf({ url, text, html }: WeighedVersion, rule: Rule): string[] {
  const plain = html ? textIn(text, url, rule) : text;
  const cut = rule.ignoreText.reduce((rest, each) => rest.replace(new RegExp(each, 'gu'), ' '), plain);
  return cut.split('\n').filter(line => line.trim() !== '');
}

function textIn(html: string, url: string, { include, ignore }: Rule): string {
  const tree = treeOf(html);
  const dropped = new Set(ignore.flatMap(each => selectAll<Document | Element, Element>(each, tree) as Element[]));
  const page = { base: url, dropped };
  const roots =
    include.length === 0
      ? [tree]
      : include.flatMap(each => selectAll<Document | Element, Element>(each, tree) as Element[]);
  return roots.flatMap(root => blocksOf(root, page).map(block => block.text)).join('\n');
}

function wordsOf(lines: readonly string[]): string[] {
  return lines.flatMap(line => line.split(/\s+/).filter(word => word !== ''));
}

function told(found: readonly Stretch[]): string {
  const lines = found.flatMap(stretch => (stretch.kind === 'changed' ? [stretch.words.map(shown).join(' ')] : []));
  const text = lines.join('\n');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

function shown({ kind, items }: EditRun): string {
  if (kind === 'removed') return `[-${items.join(' ')}-]`;
  if (kind === 'added') return `{+${items.join(' ')}+}`;
  if (items.length <= 2 * CONTEXT) return items.join(' ');
  return [...items.slice(0, CONTEXT), '…', ...items.slice(-CONTEXT)].join(' ');
}
