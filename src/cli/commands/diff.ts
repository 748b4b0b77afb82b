/** `skein diff URL`: what differs between two stored versions, word by word, with links and images. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import type { EditRun } from '../../base/myers.ts';
import { askWhole } from '../../engine/open-collection.ts';
import { inferredNote } from '../../home/copies/copies.ts';
import { differenceOf, type PageDifference, pageOf, type Sides, type Stretch } from '../../home/copies/difference.ts';
import { copyQuestion, type ReadCopy, readCopy, versionsQuestion } from '../../questions/page/copies.ts';
import { historyQuestion, type TimelineEntry } from '../../questions/page/history.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, paint, plural, thousands } from '../print/terminal.ts';

/** Unchanged words shown around a change. */
const CONTEXT = 12;

export function addDiffCommand(program: Command): void {
  const command = program
    .command('diff')
    .argument('<url>', 'the page')
    .option('--from <version>', 'version number (see history), age (7d) or date (default: the one before the newest)')
    .option('--to <version>', 'the same, or "now": the newest copy, including noise (default: the newest version)')
    .option('--codes', "the papers' change codes of both versions, and which of them differ")
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  skein diff https://example.org/\n  skein diff https://example.org/ --from 7d\n  skein diff https://example.org/ --codes',
    );
  declare(command, ['data', 'engine']).action(async (url: string, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = await askWhole(data, engine);
    const about = aboutUrl(url);
    const { url: page, timeline } = await collection.ask(historyQuestion, about);
    const own = { ...about, urls: [page] };
    const versions = timeline.filter(({ version }) => version !== null);
    // What followed the newest version is not numbered: it is no news.
    const asked = given['to'] === 'now' ? await collection.ask(copyQuestion, { ...own, which: 'newest' }) : undefined;
    const now = asked?.copy;
    // What was inferred is nobody's version: it is named, and what was fetched is compared.
    const { inferred } = asked ? await collection.ask(copyQuestion, { ...own, which: 'current' }) : {};
    const to = now ? versions.length : choose(versions, given['to'], versions.length);
    const from = choose(versions, given['from'], now ? to : Math.max(1, to - 1));
    const told = await collection.ask(versionsQuestion, { ...own, versions: now ? [from] : [from, to] });
    endAsking(collection);
    const [before, after] = [from, to].map((version, at) => {
      const copy = at === 1 && now ? now : told[at];
      if (!copy) throw new SkeinError('not-found', `Version ${version} of ${page} has no stored copy.`);
      return readCopy(copy);
    }) as [ReadCopy, ReadCopy];
    const sides = [from, to].map((version, at) => {
      return { version, time: at === 1 && now ? now.time : versions[version - 1]!.time };
    });
    if (given['codes'] === true) {
      const { comparedCodes, printCodes } = await import('./diff-codes.ts');
      const codes = comparedCodes(before, after);
      if (given['json']) printJson({ url: page, from: sides[0], to: sides[1], ...codes });
      else printCodes(page, codes);
      return;
    }
    const found = differenceOf(pageOf(before), pageOf(after));
    if (given['json']) {
      printJson({ url: page, from: sides[0], to: sides[1], ...(inferred && { inferred }), ...found });
      return;
    }
    const isSame = Buffer.compare(before.decoded().bytes, after.decoded().bytes) === 0;
    if (now && isSame) console.log(`${paint('bold', harmless(page))}\nNothing has followed version ${from}.`);
    else print(page, sides, found);
    if (inferred) console.error(`${inferredNote(inferred)} "skein cat" prints it; compared is what was fetched.`);
  });
}

/** Number of the version that a user names; a time means the version that was current then. */
function choose(versions: readonly TimelineEntry[], wanted: unknown, otherwise: number): number {
  if (versions.length === 0) {
    throw new SkeinError('not-found', 'No version of it is stored.', '"skein show" explains why.');
  }
  if (wanted === undefined) return otherwise;
  const text = String(wanted);
  if (/^#?\d+$/.test(text)) {
    const number = Number(text.replace('#', ''));
    if (number >= 1 && number <= versions.length) return number;
    throw new SkeinError(
      'not-found',
      `There is no version ${text}: versions are numbered from 1 to ${versions.length}.`,
      '"skein history" lists them.',
    );
  }
  const time = parseWhen(text, Date.now());
  const index = versions.findLastIndex(visit => visit.time <= time);
  return Math.max(1, index + 1);
}

function print(url: string, sides: readonly { version: number; time: number }[], found: PageDifference): void {
  const [from, to] = sides as [(typeof sides)[0], (typeof sides)[0]];
  console.log(paint('bold', harmless(url)));
  if (from.version === to.version && from.time === to.time) {
    console.log(`Only one version is stored (${moment(from.time)}), so there is nothing to compare.`);
    return;
  }
  console.log(
    paint(
      'dim',
      `version ${from.version} (${moment(from.time)}) → ${from.version === to.version ? 'now' : `version ${to.version}`} (${moment(to.time)})\n`,
    ),
  );
  const { title, links, images } = found;
  if (title.before !== title.after) {
    console.log(`title: ${removed(harmless(title.before))} ${added(harmless(title.after))}\n`);
  }
  for (const stretch of found.text) printStretch(stretch);
  printSides('links', links);
  printSides('images', images);
  const quiet = found.sameText && [links, images].every(each => each.added.length + each.removed.length === 0);
  if (quiet) console.log('Text, links and images are identical; only markup or bytes differ.');
  else console.log(paint('dim', `${plural(found.removed, 'word')} removed, ${thousands(found.added)} added.`));
}

function printStretch(stretch: Stretch): void {
  if (stretch.kind === 'same') {
    if (stretch.blocks.length > 2) console.log(paint('dim', `  … ${stretch.blocks.length} blocks unchanged …`));
    else for (const block of stretch.blocks) console.log(paint('dim', `  ${shorten(harmless(block).split(' '))}`));
    return;
  }
  const { words } = stretch;
  console.log(words.map((run, at) => showRun(run, at > 0, at < words.length - 1)).join(' '));
}

function showRun({ kind, items }: EditRun, before: boolean, after: boolean): string {
  const words = items.map(harmless);
  if (kind === 'removed') return removed(words.join(' '));
  if (kind === 'added') return added(words.join(' '));
  if (before && after) return shorten(words);
  return before
    ? [...words.slice(0, CONTEXT), ...(words.length > CONTEXT ? ['…'] : [])].join(' ')
    : [...(words.length > CONTEXT ? ['…'] : []), ...words.slice(-CONTEXT)].join(' ');
}

/** The first and last words of an unchanged run. */
function shorten(words: readonly string[]): string {
  if (words.length <= 2 * CONTEXT) return words.join(' ');
  return [...words.slice(0, CONTEXT), '…', ...words.slice(-CONTEXT)].join(' ');
}

/** Signs as well as colours: what a pipe or a colour-blind reader sees must say the same. */
const removed = (text: string): string => paint('red', `[-${text}-]`);
const added = (text: string): string => paint('green', `{+${text}+}`);

function printSides(name: string, sides: Sides): void {
  if (sides.added.length + sides.removed.length === 0) return;
  console.log(`\n${paint('bold', name)}`);
  for (const url of sides.removed) console.log(paint('red', `  - ${harmless(url)}`));
  for (const url of sides.added) console.log(paint('green', `  + ${harmless(url)}`));
  console.log();
}
