/**
 * Machines that ssh reaches, and the machines that each of these reaches in turn: a tree, because the crawler travels on
 * from where it has come to. Written as a way (`ssh://a/ssh://b`: to b through a), or in a file, one machine a line, those
 * below another indented under it.
 */
import { readFileSync } from 'node:fs';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { parseSsh } from './ssh-target.ts';

export interface Branch {
  readonly url: string;
  readonly below: readonly Branch[];
}

/** More machines than anyone means. */
const MOST_MACHINES = 1000;

/** The trees that these words name: ways, or files with trees. Machines that are named twice at one place are one. */
export function readTrees(words: readonly string[]): Branch[] {
  const trees = merged(words.flatMap(word => (word.startsWith('ssh:') ? [wayOf(word)] : readFileOf(word))));
  if (countOf(trees) <= MOST_MACHINES) return trees;
  throw new SkeinError('bad-option', `These are more than ${MOST_MACHINES} machines.`, 'Name fewer with --outpost.');
}

/** Levels of machines, 0 for none. */
export function depthOf(trees: readonly Branch[]): number {
  return trees.reduce((deepest, { below }) => Math.max(deepest, 1 + depthOf(below)), 0);
}

/** The first so many levels of them. */
export function pruned(trees: readonly Branch[], levels: number): Branch[] {
  if (levels <= 0) return [];
  return trees.map(({ url, below }) => ({ url, below: pruned(below, levels - 1) }));
}

/** What a machine is called among those below the same one; part of file names there. */
export function nameBelow(url: string): string {
  return url.replace(/^ssh:\/\//, '').replace(/[^\w.-]+/g, '-');
}

function countOf(trees: readonly Branch[]): number {
  return trees.reduce((sum, { below }) => sum + 1 + countOf(below), 0);
}

/** `ssh://a/ssh://b/ssh://c`. A directory may stand behind each machine. */
function wayOf(word: string): Branch {
  const [first, ...others] = word.split(/\/(?=ssh:\/\/)/);
  parseSsh(first!);
  return { url: first!, below: others.length === 0 ? [] : [wayOf(others.join('/'))] };
}

function readFileOf(name: string): Branch[] {
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    throw new SkeinError(
      'bad-option',
      `"${name}" is neither an outpost that ssh can reach nor a file of them: ${systemWords(error)}.`,
      'Write it as ssh://user@machine, with :port and /directory where they are needed.',
    );
  }
  const lines = text
    .split(/\r?\n/)
    .map(line => line.replace(/(^|\s)#.*$/, '').trimEnd())
    .filter(line => line !== '');
  return treesOf(lines);
}

function treesOf(lines: readonly string[]): Branch[] {
  const trees: Branch[] = [];
  for (let from = 0; from < lines.length; ) {
    const line = lines[from]!;
    const next = lines.findIndex((other, i) => i > from && indentOf(other) <= indentOf(line));
    const end = next < 0 ? lines.length : next;
    const url = line.trim();
    parseSsh(url);
    trees.push({ url, below: treesOf(lines.slice(from + 1, end)) });
    from = end;
  }
  return trees;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function merged(trees: readonly Branch[]): Branch[] {
  const byUrl = new Map<string, Branch[]>();
  for (const { url, below } of trees) byUrl.set(url, [...(byUrl.get(url) ?? []), ...below]);
  return [...byUrl].map(([url, below]) => ({ url, below: merged(below) }));
}
