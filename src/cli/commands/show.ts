/** `skein show URL`: everything known of a page, and why it is or is not due. */
import type { Command } from 'commander';
import { askWhole } from '../../engine/open-collection.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { type Shown, showQuestion } from '../../questions/page/show.ts';
import { declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, paint, size, table } from '../print/terminal.ts';

export function addShowCommand(program: Command): void {
  const command = program
    .command('show')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein show https://example.org/');
  declare(command, ['data', 'engine']).action(async (url: string, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = await askWhole(data, engine);
    const shown = await collection.ask(showQuestion, aboutUrl(url));
    endAsking(collection);
    if (given['json']) printJson({ ...shown, details: keyed(shown.details), facts: keyed(shown.facts) });
    else print(shown);
  });
}

/** Names as machines write them: `links to it` is `linksToIt`. */
function keyed(named: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const camel = (name: string) => name.replace(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [camel(name), value]));
}

/** Details that are times, and what people call them. */
const times: Readonly<Record<string, string>> = {
  ...{ found: 'found', lastmod: 'sitemap lastmod', changed: 'last change', due: 'next check' },
  ...{ 'first visit': 'first visit', 'last visit': 'last visit' },
};

function wordsOf(name: string, value: unknown): string {
  if (name in times) return moment(Number(value));
  if (name === 'bytes') return size(Number(value));
  if (typeof value === 'number') return String(Math.round(value * 100) / 100);
  return value === true ? 'yes' : String(value);
}

function print(shown: Shown): void {
  console.log(paint('bold', harmless(shown.url)));
  console.log(`${shown.state}\n`);
  for (const [name, value] of [...Object.entries(shown.details), ...Object.entries(shown.facts)]) {
    if (value === null || value === '') continue;
    console.log(`${paint('dim', (times[name] ?? name).padEnd(18))} ${harmless(wordsOf(name, value))}`);
  }
  for (const { told, because } of shown.masks) {
    console.log(`${paint('dim', 'masked'.padEnd(18))} ${harmless(`${told}: ${because}`)}`);
  }
  if (shown.visits.length === 0) return;
  const rows = shown.visits.map(visit => [
    moment(Number(visit['time'])),
    String(visit['outcome']),
    harmless(String(visit['reason'])),
    visit['status'] ? String(visit['status']) : '',
    String(visit['stage'] ?? ''),
    size(Number(visit['bytes'])),
    `${visit['ms']} ms`,
    harmless(String(visit['outpost'])),
  ]);
  console.log(`\n${table(['visit', 'outcome', 'reason', 'status', 'detected by', 'wire', 'took', 'by'], rows)}`);
}
