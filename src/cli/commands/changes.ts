/**
 * `skein changes`: what changed, when, how much, and which stage of the detector saw it. An edit of navigation, header
 * or footer is told once for its server when many pages have it, and not at all when few have.
 */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { originOf } from '../../base/url.ts';
import { askCollection, askWhole } from '../../engine/open-collection.ts';
import { deliverChunks } from '../../engine/sinks/deliver.ts';
import { sinkTo } from '../../engine/sinks/sink.ts';
import { writeChunkChanges } from '../../export/chunk-changes.ts';
import { matcherOf } from '../../export/exporter.ts';
import type { FoundChange } from '../../home/answers/changes.ts';
import type { TemplateEdit } from '../../home/answers/template-edits.ts';
import { changesListing, templateEditsQuestion } from '../../questions/whole/changes.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { limitOf } from '../print/limit.ts';
import { outOf, writeOut } from '../print/out-file.ts';
import { harmless, moment, paint, plural, roomOf, shortened, table } from '../print/terminal.ts';

export function addChangesCommand(program: Command): void {
  const command = program
    .command('changes')
    .argument('[pattern]', 'part of the URL, e.g. example.org/docs/*')
    .option('--since <when>', '7d, 12h or a date (default 7d)')
    .option('--new', 'include new pages')
    .option('--template', 'include pages where only shared parts (menus, footers) changed')
    .option('--limit <n>', 'how many, newest first (default 100; with --json all)')
    .option('--json', 'print one JSON object a line')
    .option('--format <name>', 'chunks: parts of pages, by heading, that were added, changed or removed')
    .option('--after <cursor>', 'chunks: start after this cursor; each answer ends with the next one (default 0, all)')
    .option('--out <file>', 'chunks: output file, written completely or not at all; - = standard output (default)')
    .option(
      '--to <place>',
      'chunks: deliver everything new since the last delivery to a directory, a URL, s3://bucket/prefix, or -',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  skein changes --since 2d\n  skein changes example.org/news --since 2026-03-01\n  skein changes --format chunks --after 0 --out chunks.jsonl\n  skein changes --format chunks --to https://example.org/hook',
    );
  declare(command, ['data', 'engine']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    if (chunksWanted(given)) return (given['to'] === undefined ? tellChunks : bringChunks)(data, pattern, given);
    const limit = limitOf(given, 100);
    const since = parseWhen(String(given['since'] ?? '7d'), Date.now());
    await using collection = await askWhole(data, engine);
    const [first, every, json] = [given['new'] === true, given['template'] === true, given['json'] === true];
    const wanted = { since, limit, first, template: every || json, ...(pattern && { pattern }) };
    const pages = await collection.some(changesListing, wanted, limit);
    const servers = every ? [] : await collection.ask(templateEditsQuestion, { since, pattern });
    endAsking(collection);
    if (!json) return print(pages, servers);
    // A machine folds by itself: it gets the pages of an edit that is told.
    const told = new Set(servers.map(({ origin }) => origin));
    for (const change of pages) {
      const { means: _, ...facts } = change;
      if (change.kind !== 'template' || every || told.has(originOf(change.url))) printJson(facts);
    }
  });
}

function chunksWanted(given: Record<string, unknown>): boolean {
  const format = given['format'];
  if (format !== undefined && format !== 'chunks')
    throw new SkeinError('bad-option', `There is no format "${format}".`, 'Leave it out, or write --format chunks.');
  const odd = format === undefined && ['after', 'out', 'to'].find(name => given[name] !== undefined);
  if (odd) throw new SkeinError('bad-option', `--${odd} works only with --format chunks.`, 'Omit one of the two.');
  return format === 'chunks';
}

/** What the place has is remembered: it is brought what came since. */
async function bringChunks(data: string, pattern: string | undefined, given: Record<string, unknown>): Promise<void> {
  if (given['after'] !== undefined || given['out'] !== undefined)
    throw new SkeinError('bad-option', '--to already remembers what it has delivered.', 'Omit --after and --out.');
  const target = String(given['to']);
  const sink = sinkTo(target, { secret: process.env['SKEIN_SECRET'] });
  askCollection(data).close();
  const { parts, cursor } = await deliverChunks({ data, target, pattern }, sink);
  if (given['json']) console.error(JSON.stringify({ parts, cursor, to: target }));
  else if (target !== '-') console.log(`${plural(parts, 'part')} delivered to ${target}.`);
}

async function tellChunks(data: string, pattern: string | undefined, given: Record<string, unknown>): Promise<void> {
  const file = outOf(given);
  const wanted = { data, after: String(given['after'] ?? '0'), matches: matcherOf(pattern) };
  askCollection(data).close();
  const { cursor, added, changed, removed, cleared } = await writeOut(file, out => writeChunkChanges(wanted, out));
  if (file === undefined) return;
  const all = cleared === 0 ? '' : `, ${plural(cleared, 'page')} cleared`;
  console.log(`${added} added, ${changed} changed, ${removed} removed${all}: ${file}. Next time: --after ${cursor}`);
}

const stages: Readonly<Record<string, string>> = {
  'url-count': 'URL count',
  'keyword-count': 'keyword count',
  direct: 'sent directly',
};

export function stageInWords(stage: string): string {
  return stages[stage] ?? stage;
}

/** Words that came and went, or nothing where none were counted. */
export function wordsInShort({ added, removed }: Pick<FoundChange, 'added' | 'removed'>): string {
  return added === null || removed === null ? '' : `+${Math.round(added)} −${Math.round(removed)}`;
}

const colours = {
  changed: 'yellow',
  new: 'green',
  gone: 'red',
  moved: 'cyan',
  back: 'green',
  template: 'dim',
} as const satisfies Record<FoundChange['kind'], string>;

function print(pages: readonly FoundChange[], servers: readonly TemplateEdit[]): void {
  if (pages.length + servers.length === 0) {
    console.log('No changes found in that time.');
    return;
  }
  const { url, words, stages } = columnsFor(pages);
  const edits = servers.map(({ time, origin, pages: count, ...counted }) => [
    ...[moment(time), paint(colours.template, 'template'), wordsInShort(counted), ...stages('')],
    ...(words > 0
      ? [shortened(harmless(origin), url), `the same edit on ${plural(count, 'page')}`]
      : [`${shortened(harmless(origin), url - 14)}, ${plural(count, 'page')}`, '']),
  ]);
  const rows = pages.map(page => [
    moment(page.time),
    paint(colours[page.kind], page.kind),
    wordsInShort(page),
    ...stages(stageOf(page)),
    shortened(harmless(page.url), url),
    harmless(page.shownBy ? `on ${page.shownBy.join(', ')}` : (page.title ?? '')).slice(0, Math.min(60, words)),
  ]);
  console.log(table(['seen', 'what', 'words', ...stages(STAGE), 'url', ''], [...edits, ...rows]));
}

/** The stage, in the words of the papers' figures where it is one of theirs, and the levels that a structure changed on. */
function stageOf({ kind, stage, levels }: FoundChange): string {
  if (kind !== 'changed' && kind !== 'back') return '';
  return `${stageInWords(stage ?? '')}${levels ? `, level ${levels.join(' ')}` : ''}`;
}

/** The name of the column of stages, and how wide a terminal must be for it: URLs come first. */
const STAGE = 'detected by';
const WIDE = 100;
/** Time, what and how much, with the spaces after them. */
const BEFORE_STAGE = 41;
/** Fewer columns are not worth a title. */
const LEAST_WORDS = 12;

interface ChangeColumns {
  readonly url: number;
  /** For what is said of URLs; 0 = nothing, because they need all of the room. */
  readonly words: number;
  /** The cell of a row for its stage, where there is room for such a column. */
  stages(cell: string): string[];
}

function columnsFor(pages: readonly FoundChange[]): ChangeColumns {
  const wide = roomOf() >= WIDE;
  const stage = pages.reduce((most, page) => Math.max(most, stageOf(page).length), STAGE.length) + 2;
  const room = Math.max(24, roomOf() - BEFORE_STAGE - (wide ? stage : 0));
  const longest = pages.reduce((most, { url }) => Math.max(most, url.length), 0);
  const words = room - longest - 2;
  const stages = (cell: string) => (wide ? [cell] : []);
  return words >= LEAST_WORDS ? { url: longest, words, stages } : { url: room, words: 0, stages };
}
