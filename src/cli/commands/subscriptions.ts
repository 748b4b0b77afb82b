/** `skein subscriptions`: who tells us what, how true it has been, leases and the last word of each. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { normalise, originOf, withScheme } from '../../base/url.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { type Subscription, subscriptionsOf } from '../../home/answers/subscriptions.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, table } from '../print/terminal.ts';

export function addSubscriptionsCommand(program: Command): void {
  const command = program
    .command('subscriptions')
    .option('--json', 'print one JSON object a line')
    .option('--token <site=token>', 'the token that a cooperating site has given you')
    .option('--forgive <site>', 'take pages in bulk again from a site that gave others than its server shows')
    .addHelpText(
      'after',
      `
Sites are found by themselves, in refresh and watch: /.well-known/skein,
ResourceSync, feeds, hubs. What each is worth is learned from the visits that
its notices brought about. Hubs and submissions need a door: watch with
--listen and --public.

Examples:
  skein subscriptions
  skein subscriptions --token https://example.org=9f3a77b0`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    if (given['token'] !== undefined) return setToken(data, String(given['token']));
    if (given['forgive'] !== undefined) return forgive(data, String(given['forgive']));
    const ledger = openLedger(data);
    const rows = subscriptionsOf(ledger);
    ledger.close();
    if (given['json']) for (const row of rows) printJson(row);
    else print(rows);
  });
}

function print(rows: readonly Subscription[]): void {
  if (rows.length === 0) {
    console.log('No site tells of its changes yet. Faces are looked for in the first refresh or watch.');
    return;
  }
  const shown = rows.map(row => [
    harmless(row.server),
    row.kind,
    row.state,
    row.heard === null ? '' : moment(row.heard),
    row.lease === null ? '' : moment(row.lease),
    row.judged === 0 ? '' : `${row.confirmed} of ${row.judged}`,
    row.judged === 0 ? '' : `${Math.round(row.recall * 100)}%`,
    harmless(row.trouble),
  ]);
  console.log(table(['server', 'kind', 'state', 'last word', 'lease', 'true', 'recall', 'trouble'], shown));
}

/** Written as a collection is: not while another Skein works in it. */
function change(data: string, name: string, work: (value: Record<string, string>) => void): void {
  openLedger(data).close(); // a directory without a collection is a mistake, not a new one
  const ledger = new Ledger(data, 'write');
  try {
    ledger.begin();
    const value = ledger.setting<Record<string, string>>(name) ?? {};
    work(value);
    ledger.set(name, value);
    ledger.commit();
  } finally {
    ledger.close();
  }
}

function originIn(text: string): string {
  const url = normalise(withScheme(text));
  if (url !== undefined) return originOf(url);
  throw new SkeinError('bad-option', `"${text}" is not a site.`, 'Write it with its scheme, as https://example.org.');
}

function setToken(data: string, written: string): void {
  const at = written.lastIndexOf('=');
  const token = written.slice(at + 1).trim();
  if (at < 1 || !/^[\x21-\x7e]{1,200}$/.test(token)) {
    throw new SkeinError(
      'bad-option',
      'A token is written behind its site.',
      'Write --token https://example.org=TOKEN.',
    );
  }
  const origin = originIn(written.slice(0, at));
  change(data, 'site tokens', tokens => {
    tokens[origin] = token;
  });
  console.log(`${origin} is asked with this token from the next run on.`);
}

function forgive(data: string, written: string): void {
  const origin = originIn(written);
  change(data, 'sites distrusted', sites => {
    if (sites[origin] === undefined) throw new SkeinError('not-found', `${origin} is not distrusted.`);
    delete sites[origin];
  });
  console.log(`${origin} may give its pages in bulk again.`);
}
