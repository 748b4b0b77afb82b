/** `skein diff URL --codes`: the papers' change codes of two versions, and which detector of theirs sees the difference. */
import { type Codes, type CodesDiffer, codesOf, differingCodes } from '../../home/answers/paper-codes.ts';
import type { ReadCopy } from '../../questions/page/copies.ts';
import { harmless, paint, table } from '../print/terminal.ts';

interface ComparedCodes {
  readonly before: Codes;
  readonly after: Codes;
  readonly differs: CodesDiffer;
}

export function comparedCodes(before: ReadCopy, after: ReadCopy): ComparedCodes {
  const [old, now] = [codesOf(before), codesOf(after)];
  return { before: old, after: now, differs: differingCodes(old, now) };
}

/** Single precision and six decimals, as the papers print codes. */
const code = (value: number) => Math.fround(value).toFixed(6);
/** Nodes and letters that are shown; --json has all. */
const SHOWN = 60;

export function printCodes(url: string, { before, after, differs }: ComparedCodes): void {
  const row = (name: string, of: (codes: Codes) => string | number, detector: keyof CodesDiffer) => [
    ...[name, shortened(String(of(before))), shortened(String(of(after)))],
    differs[detector] ? paint('yellow', detector) : '',
  ];
  console.log(paint('bold', harmless(url)));
  console.log(
    table(
      ['code', 'before', 'after', 'detector'],
      [
        row('ASCII count', codes => codes.asciiCount, 'ascii-sum'),
        row('number of URLs', codes => codes.urls, 'counts'),
        row('number of keywords', codes => codes.keywords, 'counts'),
        row('string 1', codes => harmless(codes.string1), 'tag-strings'),
        row('string 2', codes => harmless(codes.string2), 'tag-strings'),
        row('nodes on each level', codes => codes.levels.join(' '), 'level-table'),
        row('text I: ASCII sum', codes => codes.text1.sum, 'text-code-1'),
        row('text I: characters', codes => codes.text1.characters, 'text-code-1'),
        row('text I: distinct', codes => codes.text1.distinct, 'text-code-1'),
        row('text I: code', codes => code(codes.text1.code), 'text-code-1'),
        row("text I: code as the paper's program", codes => code(codes.text1AsPrinted.code), 'text-code-1'),
        row('text II: code', codes => code(codes.text2), 'text-code-2'),
      ],
    ),
  );
  if (differs.levels.length > 0) console.log(`\nOther numbers of nodes on level ${differs.levels.join(', ')}.`);
  if (differs.contents.length > 0) console.log(`Other contents on level ${differs.contents.join(', ')}.`);
  console.log(
    `\n${paint('bold', 'The newer tree')}${after.table.id.length > SHOWN ? `, its first ${SHOWN} nodes` : ''}`,
  );
  const { id, level, child, levelArray, content } = after.table;
  console.log(
    table(
      ['ID', 'LEVEL', 'CHILD', 'Level_array', 'CONTENT VALUE'],
      id.slice(0, SHOWN).map((node, i) => [node, level[i]!, child[i]!, levelArray[i]!, code(content[i]!)]),
    ),
  );
}

function shortened(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN - 1)}…`;
}
