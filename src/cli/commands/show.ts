/** `skein show URL`: everything known of a page, and why it is or is not due. */
import type { Command } from 'commander';
import { ivalOf } from '../../crawler/detect/image.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { type Facts, unpackFacts } from '../../errand/facts.ts';
import { type Found, findPage } from '../../home/answers/lookup.ts';
import { stateOf } from '../../home/answers/why.ts';
import { inferredNote } from '../../home/copies/copies.ts';
import { masksOn, type ShownMask } from '../../home/masks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import { roles } from '../../ledger/pages/pages.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, paint, size, table } from '../print/terminal.ts';

export function addShowCommand(program: Command): void {
  const command = program
    .command('show')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein show https://example.org/');
  declare(command, ['data']).action(async (url: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const shown = describe(ledger, findPage(ledger, url));
    ledger.close();
    if (given['json']) printJson({ ...shown, details: keyed(shown.details), facts: keyed(shown.facts) });
    else print(shown);
  });
}

interface Shown {
  readonly url: string;
  readonly state: string;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
  readonly facts: Readonly<Record<string, unknown>>;
  /** What is taken for noise, and why. */
  readonly masks: readonly ShownMask[];
  readonly visits: readonly Readonly<Record<string, string | number | null>>[];
}

function describe(ledger: Ledger, { page, known }: Found): Shown {
  const urlOf = (id: number | null | undefined) => (id ? (ledger.pages.get(id)?.url ?? null) : null);
  const facts = known?.facts ? unpackFacts(known.facts) : undefined;
  const server = page.server === 0 ? undefined : ledger.servers.byId(page.server);
  return {
    url: page.url,
    state: stateOf({ page, known }, server, Date.now()),
    details: {
      server: server?.origin ?? null,
      parent: urlOf(page.parent),
      depth: page.depth,
      found: page.found,
      'links to it': ledger.backward.saved(page.id),
      title: known?.title ?? null,
      type: known?.media_type ?? null,
      charset: known?.charset ?? null,
      language: known?.language ?? null,
      bytes: known?.bytes ?? null,
      etag: known?.etag ?? null,
      'last-modified': known?.last_modified ?? null,
      lastmod: page.lastmod,
      'first visit': known?.first_time ?? null,
      'last visit': known?.time ?? null,
      // What was never there has not changed.
      changed: known?.seen_time == null ? null : known.changed_time,
      due: known?.due ?? null,
      noindex: flag(known?.flags, 1),
      nofollow: flag(known?.flags, 2),
      noarchive: flag(known?.flags, 4),
      truncated: flag(known?.flags, 8),
      'not kept by filter': flag(known?.flags, 16),
      canonical: known?.canonical ?? null,
      'moved to': urlOf(known?.moved_to),
      'same bytes as': urlOf(known?.same_as),
      'nearly equal to': urlOf(known?.near),
      'copy handed out': known ? inferredOf(ledger, known) : null,
      segment: known?.segment ?? null,
      offset: known?.place ?? null,
      length: known?.length ?? null,
    },
    masks: masksOn(ledger, page.id, page.server),
    facts: facts ? measuresOf(facts, roles[page.role] === 'image') : {},
    visits: ledger.visits.of(page.id).map(({ time, outcome, reason, status, stage, up, down, ms, outpost }) => ({
      time,
      outcome,
      reason,
      status,
      stage,
      bytes: up + down,
      ms,
      outpost,
    })),
  };
}

/** Where the copy that people read was not fetched like this. */
function inferredOf(ledger: Ledger, { page, segment, place }: KnownRow): string | null {
  const row = ledger.inferred.of(page);
  return row && row.segment === segment && row.place === place ? inferredNote(row) : null;
}

/** What the papers' detectors compare. */
function measuresOf(facts: Facts, image: boolean): Shown['facts'] {
  return {
    ...(image && { 'image code': ivalOf(facts).toString() }),
    'ascii count': facts.asciiSum,
    urls: facts.urls,
    keywords: facts.keywords,
    words: facts.words,
    'text code 1': facts.textCode1,
    'text code 2': facts.textCode2,
    levels: facts.levels.join(' '),
    content: Buffer.from(facts.content).toString('hex'),
  };
}

const flag = (flags: number | undefined, bit: number): boolean | null => (flags && flags & bit ? true : null);

/** Names as machines write them: `links to it` is `linksToIt`. */
function keyed(named: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const camel = (name: string) => name.replace(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [camel(name), value]));
}

/** Details that are times, and what people call them. */
const times: Readonly<Record<string, string>> = {
  ...{ found: 'found', lastmod: 'sitemap lastmod', changed: 'last change', due: 'expected change' },
  ...{ 'first visit': 'first visit', 'last visit': 'last visit' },
};

function wordsOf(name: string, value: unknown): string {
  if (name in times) return moment(Number(value));
  return name === 'bytes' ? size(Number(value)) : value === true ? 'yes' : String(value);
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
  console.log(`\n${table(['visit', 'outcome', 'reason', 'status', 'stage', 'wire', 'took', 'by'], rows)}`);
}
