/** `skein pages`: lists, filters and sorts what the collection knows. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { nearest } from '../../base/named.ts';
import { askWhole } from '../../engine/open-collection.ts';
import { type PageListRow, type PageListWanted, pageOrderNames } from '../../ledger/queries/page-list.ts';
import { type ListedPage, pagesListing } from '../../questions/whole/pages.ts';
import { declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { jsonText } from '../print/json.ts';
import { limitOf } from '../print/limit.ts';
import { harmless, moment, size, urlTable } from '../print/terminal.ts';

export function addPagesCommand(program: Command): void {
  const command = program
    .command('pages')
    .argument('[pattern]', 'part of the URL, e.g. example.org/docs/*')
    .option('--outcome <outcome>', 'fetched, same, moved, gone, refused, failed or waiting')
    .option('--type <type>', 'media type, e.g. text/html')
    .option('--sort <field>', `${pageOrderNames.join(', ')} (default id)`)
    .option('--limit <n>', 'how many (default 50; with --json all)')
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      `
Links out of the scope are listed with --outcome refused, and with --json.

Examples:
  skein pages --outcome failed
  skein pages example.org/docs --sort size --limit 10`,
    );
  declare(command, ['data', 'engine']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    const wanted = wantedOf(pattern, given);
    await using collection = await askWhole(data, engine);
    if (given['json'] === true) await writeLines(collection.list(pagesListing, wanted), wanted.limit);
    else {
      const rows = await collection.some(pagesListing, wanted, wanted.limit);
      print(
        rows.map(({ page }) => page),
        limitOf(given, SHOWN),
      );
    }
    endAsking(collection);
  });
}

/** Lines for people. */
const SHOWN = 50;

/** As fast as the reader takes them: a collection may have more pages than memory. */
async function writeLines(listed: AsyncIterable<readonly ListedPage[]>, limit: number): Promise<void> {
  let left = limit;
  for await (const rows of listed) {
    for (const { page } of rows) {
      if (left-- <= 0) return;
      if (process.stdout.write(`${jsonText(page)}\n`)) continue;
      await new Promise(resolve => process.stdout.once('drain', resolve));
    }
  }
}

function wantedOf(pattern: string | undefined, given: Record<string, unknown>): PageListWanted {
  const order = pageOrderNames.find(name => name === String(given['sort'] ?? 'id'));
  if (!order) {
    throw new SkeinError(
      'bad-option',
      `Pages cannot be sorted by "${given['sort']}".`,
      `Sort by ${pageOrderNames.join(', ')}.`,
    );
  }
  const outcome = given['outcome'] === undefined ? undefined : oneOf(String(given['outcome']));
  const people = given['json'] !== true;
  return {
    ...{ pattern, outcome, order },
    type: given['type'] === undefined ? undefined : String(given['type']),
    // Where links lead that the crawl stays out of: people see those who ask for them.
    outOfScope: !people || outcome !== undefined,
    limit: limitOf(given, SHOWN) + (people ? 1 : 0),
  };
}

function oneOf(outcome: string): NonNullable<PageListWanted['outcome']> {
  const known = ['fetched', 'same', 'moved', 'gone', 'refused', 'failed', 'waiting'] as const;
  const found = known.find(name => name === outcome);
  if (found) return found;
  const near = nearest(outcome, known);
  throw new SkeinError(
    'bad-option',
    `There is no outcome "${outcome}".`,
    near ? `Did you mean "${near}"?` : `Choose one of ${known.join(', ')}.`,
  );
}

/** `all` has one more than the limit where there are more. */
function print(all: readonly PageListRow[], limit: number): void {
  if (all.length === 0) {
    console.log('No page matches.');
    return;
  }
  const rows = all.slice(0, limit);
  console.log(
    urlTable(
      ['outcome', 'reason', 'status', 'type', 'size', 'depth', 'visited', 'url'],
      rows.map(row => [
        String(row['outcome']),
        String(row['reason'] ?? ''),
        row['status'] ? String(row['status']) : '',
        harmless(String(row['type'] ?? '')),
        row['bytes'] === null ? '' : size(Number(row['bytes'])),
        Number(row['depth']),
        row['time'] === null ? '' : moment(Number(row['time'])),
        harmless(String(row['url'])),
      ]),
      ['depth', 'type', 'visited', 'status', 'size'],
    ),
  );
  if (all.length > limit) console.log('… and more: use --limit, or --json for all.');
}
