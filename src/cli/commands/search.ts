/** `skein search` and `skein index`: finding pages by what they say, and the index behind it. */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { askCollection, askWhole } from '../../engine/open-collection.ts';
import { pageOf } from '../../home/copies/difference.ts';
import { visitsBehind } from '../../home/indexing/index-lag.ts';
import { bringUp, isFed, searchFile } from '../../home/indexing/indexing.ts';
import type { OpenCollection } from '../../questions/collection.ts';
import { copyQuestion, readCopy } from '../../questions/page/copies.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { type IndexLag, inferredQuestion, lagQuestion, openedQuestion } from '../../questions/search/parts.ts';
import { searchCollection } from '../../questions/search/searching.ts';
import { type Fragment, type Hit, openSearch, type Results } from '../../search/index.ts';
import { dataOption, declare, values } from '../options/options.ts';
import { counting } from '../print/counting.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { duration, fold, harmless, paint, plural, roomOf, shellWord, size, thousands } from '../print/terminal.ts';

const MOST = 100;

export function addSearchCommand(program: Command): void {
  const command = program
    .command('search')
    .argument('<query...>', 'words, "phrases", AND OR NOT, prefix*, site: type: lang: title: url: changed:')
    .option('--limit <n>', `results to show, at most ${MOST} (default 10)`)
    .option('--open <n>', 'print the stored text of the n-th result; marks the page as used')
    .option('--unfold', 'also show near-duplicates of better results')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Skein keeps pages that you open fresher: see "skein why URL".

Examples:
  skein search migrating birds
  skein search '"wild geese" site:example.org -farm'
  skein search 'title:install changed:<7d' --limit 20
  skein search migrating birds --open 1`,
    );
  declare(command, ['data', 'engine']).action(async (words: string[], given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    const place = number(given['open'], '--open', 0);
    const limit = Math.max(place, number(given['limit'], '--limit', 10));
    const json = given['json'] === true;
    await using collection = await askWhole(data, engine);
    try {
      const wanted = { limit, unfold: given['unfold'] === true, language: ownLanguage() };
      const results = await searchCollection(collection, words.join(' '), wanted, indexing(json));
      if (place > 0) {
        await open(collection, hitAt(results, place), json);
        return;
      }
      const lag = await collection.ask(lagQuestion, {});
      const inferred = new Set(await collection.ask(inferredQuestion, { pages: results.hits.map(({ page }) => page) }));
      const machine = (hit: Hit) => ({ ...forMachines(hit), inferred: inferred.has(hit.page) });
      if (json) printJson({ ...results, hits: results.hits.map(machine), behind: lag.behind });
      else if (results.hits.length === 0) console.log(nothingFound(results, lag));
      else print(results, { ...lag, inferred }, dataOption(data));
    } finally {
      endAsking(collection);
    }
  });
}

/** Under the keys that other commands have. */
function forMachines({ fetched: time, mediaType: type, ...hit }: Hit): object {
  return { ...hit, time, type };
}

export function addIndexCommand(program: Command): void {
  const index = program
    .command('index')
    .addHelpText('after', '\nExamples:\n  skein index status\n  skein index rebuild');
  const status = index
    .command('status')
    .description('show how many pages are indexed, and how many are missing')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein index status');
  declare(status, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    await showStatus(data, given['json'] === true);
  });
  const rebuild = index
    .command('rebuild')
    .description('rebuild the index from ledger and archive; keeps which pages people opened')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein index rebuild');
  declare(rebuild, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    await remake(data, given['json'] === true);
  });
}

async function showStatus(data: string, json: boolean): Promise<void> {
  const collection = askCollection(data);
  const fed = await isFed(data);
  const sum = { documents: 0, behind: 0, bytes: 0 };
  let rebuilding = false;
  for (const { ledger, directory } of collection.here) {
    const file = searchFile(directory);
    const search = openSearch(file);
    const counts = search.counts();
    sum.documents += counts.documents;
    sum.behind += visitsBehind(ledger, counts.cursor);
    sum.bytes += ['', '-wal'].reduce((bytes, end) => bytes + (statSync(file + end, absent)?.size ?? 0), 0);
    rebuilding ||= counts.rebuilding;
    search.close();
  }
  endAsking(collection);
  const { documents, behind, bytes } = sum;
  if (json) return printJson({ documents, behind, rebuilding, fed, bytes });
  console.log(`${plural(documents, 'page')} indexed; the index takes ${size(bytes)}.`);
  const follow = fed ? 'the running Skein is adding them' : 'the next "skein search" adds them first';
  if (rebuilding) console.log('The index is being rebuilt; until then some results may be older versions.');
  console.log(behind === 0 ? 'It is up to date.' : `${plural(behind, 'visit')} not indexed yet; ${follow}.`);
}

const absent = { throwIfNoEntry: false } as const;

async function remake(data: string, json: boolean): Promise<void> {
  const collection = askCollection(data); // there must be something to index
  const directories = collection.here.map(({ directory }) => directory);
  collection.close();
  const fed = await isFed(data);
  const started = performance.now();
  let documents = 0;
  for (const directory of directories) {
    const search = openSearch(searchFile(directory));
    try {
      search.updates.rebuild();
      const show = indexing(json);
      if (!fed) await bringUp(directory, search, ({ changed, caughtUp }) => show(changed, caughtUp));
      documents += search.counts().documents;
    } finally {
      search.close();
    }
  }
  const seconds = (performance.now() - started) / 1000;
  if (json) printJson({ documents, seconds, fed });
  else if (fed) console.log('The running Skein is rebuilding the index; "skein index status" shows the progress.');
  else console.log(`${plural(documents, 'page')} indexed in ${duration(seconds * 1000)}.`);
}

function number(text: unknown, flag: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST) return value;
  throw new SkeinError('bad-option', `${flag} must be a number from 1 to ${MOST}.`);
}

function hitAt({ hits, query }: Results, place: number): Hit {
  const hit = hits[place - 1];
  if (hit) return hit;
  throw new SkeinError('not-found', `Result ${place} does not exist: "${query}" has ${plural(hits.length, 'result')}.`);
}

async function open(collection: OpenCollection, hit: Hit, json: boolean): Promise<void> {
  await collection.ask(openedQuestion, hit);
  const told = hit.copy ? await collection.ask(copyQuestion, { ...aboutUrl(hit.url), which: 'newest' }) : undefined;
  const page = told?.copy && pageOf(readCopy(told.copy));
  if (!page) throw new SkeinError('not-found', `There is no stored copy of ${hit.url}.`);
  const { url, title } = page;
  const text = page.text();
  if (json) {
    printJson({ url, title, time: hit.fetched, text });
    return;
  }
  console.log(`${paint('bold', harmless(title))}\n${paint('dim', `${harmless(url)}, ${aged(hit)}`)}\n`);
  const lines = text.split('\n').filter(line => line.trim() !== '');
  console.log(lines.map(line => harmless(line).trim()).join('\n'));
}

interface SearchState extends IndexLag {
  /** Pages of which an inferred copy is handed out. */
  readonly inferred: ReadonlySet<number>;
}

function missing({ behind, fed }: IndexLag): string {
  const next = fed ? 'the running Skein is adding them' : 'a search by a user with write access adds them';
  return `The index is catching up: ${plural(behind, 'page')} not indexed yet; ${next}.`;
}

/** Of who asks, as the system says it; empty = it does not. */
function ownLanguage(): string {
  const { LC_ALL, LC_MESSAGES, LANG } = process.env;
  const named = LC_ALL || LC_MESSAGES || LANG || '';
  return /^(?:C|POSIX)\b/.test(named) ? '' : named.replace('_', '-');
}

function nothingFound({ query }: Results, lag: IndexLag): string {
  const behind = lag.behind > 0 ? `\n${missing(lag)}` : '';
  return `No results for ${harmless(query)}. Try fewer or different words.${behind}`;
}

/** `where`: what a command needs to find the collection. */
function print(
  { hits, query, total, exact, relaxed, corrected, took }: Results,
  state: SearchState,
  where: string,
): void {
  const count = `${exact ? '' : 'more than '}${thousands(total)} ${total === 1 && exact ? 'page' : 'pages'}`;
  const some = relaxed ? 'No page has all the words. With some of them: ' : '';
  if (corrected !== undefined)
    console.log(`No results for ${harmless(query)}. Showing results for ${paint('bold', harmless(corrected))}:`);
  console.log(paint('dim', `${some}${count} for ${harmless(corrected ?? query)} (${took.toFixed(0)} ms).`));
  if (hits.length > total) console.log(paint('dim', 'Pages with only some of the words follow.'));
  if (state.behind > 0) console.log(missing(state));
  hits.forEach((hit, at) => {
    const title = harmless(hit.title.map(({ text }) => text).join('')).trim() || hit.url;
    console.log(`\n${String(at + 1).padStart(2)}  ${paint('bold', title)}`);
    if (hit.snippet.length > 0) console.log(indented(marked(hit.snippet)));
    console.log(`    ${paint('cyan', harmless(hit.url))}`);
    if (hit.alike > 0)
      console.log(
        `    ${paint('dim', `${plural(hit.alike, 'similar page')} hidden; --unfold shows ${hit.alike === 1 ? 'it' : 'them'}`)}`,
      );
    const copy = hit.copy ? `; skein cat ${shellWord(harmless(hit.url))}${where}` : '';
    console.log(indented(paint('dim', aged(hit) + copy)));
    if (hit.hidden) console.log(indented(paint('dim', `${hiddenWords[hit.hidden]}; no link leads to it`)));
    if (state.inferred.has(hit.page))
      console.log(indented(paint('dim', 'matches the fetched text; the stored copy is inferred, see skein show')));
  });
}

const hiddenWords = { record: 'from a database of the site', media: 'from a media folder of the site' } as const;

const INDENT = '    ';

function indented(text: string): string {
  return INDENT + fold(text, INDENT, roomOf() - INDENT.length);
}

function marked(fragments: readonly Fragment[]): string {
  return fragments.map(({ text, hit }) => (hit ? paint('yellow', harmless(text)) : harmless(text))).join('');
}

/** Whether a page is still as it was, as a reader would say it. */
function oddsInWords(changed: number): string {
  const percent = `${Math.round(changed * 100)}%`;
  return changed < 0.5
    ? `probably unchanged (${percent} chance it changed)`
    : `probably changed since (${percent} chance)`;
}

function aged({ age, changedProbability }: Hit): string {
  const seen = age < 60_000 ? 'checked less than a minute ago' : `checked ${duration(age)} ago`;
  if (changedProbability === undefined) return seen;
  return `${seen}, ${oddsInWords(changedProbability)}`;
}

/** Shows how the index grows. */
const indexing = (quiet: boolean) => counting(pages => `Indexing: ${plural(pages, 'page')} read`, { quiet });
