/**
 * The papers' change codes of a stored copy, taken apart for people: what each detector of theirs compares, from the
 * letters of the tags to the tables of the tree. Detectors themselves go by the facts of a page and need none of it.
 */
import { Parser } from 'htmlparser2';
import type { Stored } from '../../archive/read.ts';
import { charsetOf, toUtf8 } from '../../crawler/analysis/charset.ts';
import {
  changedContents,
  changedLevels,
  type LevelTable,
  levelCounts,
  levelTable,
  tagStrings,
} from '../../crawler/detect/structure.ts';
import { sameCode, type TextCode, textCode1, textCode2Of } from '../../crawler/detect/text-codes.ts';
import { unpackFacts } from '../../errand/facts.ts';
import { pageOf } from '../copies/difference.ts';

export interface Codes {
  readonly asciiCount: number;
  readonly urls: number;
  readonly keywords: number;
  /** Structure, first method. */
  readonly string1: string;
  readonly string2: string;
  /** Structure, second method. */
  readonly table: LevelTable;
  readonly levels: readonly number[];
  /** Text, first method; and as the paper's own program read characters. */
  readonly text1: TextCode;
  readonly text1AsPrinted: TextCode;
  /** Text, second method. */
  readonly text2: number;
}

/** Elements of which the tables tell; a page may have more. */
const MOST_NODES = 100_000;

export function codesOf(stored: Pick<Stored, 'url' | 'headers' | 'decoded'>): Codes {
  const page = pageOf(stored);
  const facts = unpackFacts(page.facts)!;
  const body = stored.decoded().bytes;
  const { name } = charsetOf(body, stored.headers.get('content-type'));
  const { names, children, texts } = treeOf(Buffer.from(toUtf8(body, name)).toString());
  const [string1, string2] = tagStrings(names);
  const table = levelTable(children, 1, node => textCode2Of((texts.get(node) ?? '').trim()));
  const text = page.text();
  return {
    ...{ asciiCount: facts.asciiSum, urls: facts.urls, keywords: facts.keywords, string1, string2, table },
    levels: names.length === 0 ? [] : levelCounts(table.level),
    text1: textCode1(text),
    text1AsPrinted: textCode1(text, { charset: 'cp1252', signed: true, countEof: true }),
    text2: textCode2Of(text),
  };
}

interface Tree {
  /** Of the opening tags, in order; the first is the root, 1. */
  readonly names: readonly string[];
  readonly children: ReadonlyMap<number, readonly number[]>;
  readonly texts: ReadonlyMap<number, string>;
}

function treeOf(html: string): Tree {
  const names: string[] = [];
  const children = new Map<number, number[]>();
  const texts = new Map<number, string>();
  const open: number[] = [];
  const parser = new Parser({
    onopentag(name) {
      if (names.length >= MOST_NODES) return;
      const node = names.push(name);
      const parent = open.at(-1) ?? (node === 1 ? undefined : 1);
      if (parent !== undefined) listOf(children, parent).push(node);
      open.push(node);
    },
    ontext(text) {
      const node = open.at(-1);
      if (node !== undefined) texts.set(node, (texts.get(node) ?? '') + text);
    },
    onclosetag() {
      open.pop();
    },
  });
  parser.end(html);
  return { names, children, texts };
}

function listOf(lists: Map<number, number[]>, key: number): number[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** What differs, by the name of the detector that sees it. */
export interface CodesDiffer {
  readonly 'ascii-sum': boolean;
  readonly counts: boolean;
  readonly 'tag-strings': boolean;
  readonly 'level-table': boolean;
  readonly 'text-code-1': boolean;
  readonly 'text-code-2': boolean;
  /** Levels (root 1) with another number of elements, and those with as many of which one says something else. */
  readonly levels: readonly number[];
  readonly contents: readonly number[];
}

export function differingCodes(before: Codes, after: Codes): CodesDiffer {
  const levels = changedLevels(before.levels, after.levels);
  return {
    'ascii-sum': before.asciiCount !== after.asciiCount,
    counts: before.urls !== after.urls || before.keywords !== after.keywords,
    'tag-strings': before.string1 !== after.string1 || before.string2 !== after.string2,
    'level-table': levels.length > 0,
    'text-code-1': !sameCode(before.text1.code, after.text1.code),
    'text-code-2': !sameCode(before.text2, after.text2),
    levels,
    contents: changedContents(before.table, after.table),
  };
}
