/** `skein pages`: lists, filters and sorts what the collection knows. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { segmentName } from '../../archive/segments.ts';
import { SkeinError } from '../../base/errors.ts';
import { globOf } from '../../ledger/pages/pages.ts';
import { openLedger } from '../open-ledger.ts';
import { nearest } from '../options/config.ts';
import { declare, values } from '../options/options.ts';
import { limitOf } from '../print/limit.ts';
import { harmless, moment, size, urlTable } from '../print/terminal.ts';

const sorts: Readonly<Record<string, string>> = {
  id: 'p.id',
  url: 'p.url',
  time: 'k.time DESC',
  changed: 'k.changed_time DESC',
  size: 'k.bytes DESC',
  depth: 'p.depth, p.id',
  due: 'k.due',
};

export function addPagesCommand(program: Command): void {
  const command = program
    .command('pages')
    .argument('[pattern]', 'part of the URL, e.g. example.org/docs/*')
    .option('--outcome <outcome>', 'fetched, same, moved, gone, refused, failed or waiting')
    .option('--type <type>', 'media type, e.g. text/html')
    .option('--sort <field>', `${Object.keys(sorts).join(', ')} (default id)`)
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
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const { sql, parameters } = query(pattern, given);
    const statement = ledger.database.prepare(sql);
    if (given['json'] === true) await writeLines(statement.iterate(...parameters) as Iterable<Row>, data);
    else print(statement.all(...parameters) as Row[], limitOf(given, SHOWN));
    ledger.close();
  });
}

/** Lines for people. */
const SHOWN = 50;

type Row = Record<string, string | number | null>;

/** As fast as the reader takes them: a collection may have more pages than memory. */
async function writeLines(rows: Iterable<Row>, directory: string): Promise<void> {
  for (const row of rows) {
    if (process.stdout.write(`${JSON.stringify(lineOf(row, directory))}\n`)) continue;
    await new Promise(resolve => process.stdout.once('drain', resolve));
  }
}

/** With the file that holds the newest copy, and where in it the response begins. */
function lineOf({ segment, offset, ...row }: Row, directory: string): Row {
  const file = segment == null ? null : join(directory, 'archive', segmentName(Number(segment)));
  return { ...row, file, offset: offset ?? null };
}

function query(
  pattern: string | undefined,
  given: Record<string, unknown>,
): { sql: string; parameters: (string | number)[] } {
  const where: string[] = [];
  const parameters: (string | number)[] = [];
  const add = (condition: string, value: string) => {
    where.push(condition);
    parameters.push(value);
  };
  if (pattern !== undefined) add('p.url GLOB ?', globOf(pattern));
  const outcome = given['outcome'] as string | undefined;
  if (outcome === 'waiting') where.push('k.page IS NULL AND p.refused IS NULL');
  else if (outcome === 'refused') where.push(`(k.outcome = 'refused' OR p.refused IS NOT NULL)`);
  else if (outcome !== undefined) add('k.outcome = ?', oneOf(outcome));
  if (given['type'] !== undefined) add('k.media_type = ?', String(given['type']));
  const sort = sorts[String(given['sort'] ?? 'id')];
  if (!sort) {
    throw new SkeinError(
      'bad-option',
      `Pages cannot be sorted by "${given['sort']}".`,
      `Sort by ${Object.keys(sorts).join(', ')}.`,
    );
  }
  // Where links lead that the crawl stays out of is no page of the collection: people see those who ask for them.
  const people = given['json'] !== true;
  if (people && outcome === undefined) where.push(`p.refused IS NOT 'out-of-scope'`);
  parameters.push(limitOf(given, SHOWN) + (people ? 1 : 0));
  const sql = `SELECT p.url, coalesce(k.outcome, CASE WHEN p.refused IS NULL THEN 'waiting' ELSE 'refused' END) AS outcome,
      coalesce(p.refused, k.reason) AS reason, k.status, k.media_type AS type, k.bytes, p.depth, k.time,
      k.changed_time AS changed, k.due, k.title, q.url AS parent, k.ascii_sum AS asciiCount,
      k.last_modified AS lastModified, k.segment, k.place + k.request_length AS offset
    FROM pages p LEFT JOIN known k ON k.page = p.id LEFT JOIN pages q ON q.id = p.parent
    ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY ${sort} LIMIT ?`;
  return { sql, parameters };
}

function oneOf(outcome: string): string {
  const known = ['fetched', 'same', 'moved', 'gone', 'refused', 'failed', 'waiting'];
  if (known.includes(outcome)) return outcome;
  const near = nearest(outcome, known);
  throw new SkeinError(
    'bad-option',
    `There is no outcome "${outcome}".`,
    near ? `Did you mean "${near}"?` : `It is one of ${known.join(', ')}.`,
  );
}

/** `all` has one more than the limit where there are more. */
function print(all: readonly Row[], limit: number): void {
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
  if (all.length > limit) console.log('… and more: --limit shows them, --json lists all.');
}
