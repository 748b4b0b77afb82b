/** `skein subscriptions`: who tells us what, how true it has been, leases and the last word of each. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { partitionOfUrl } from '../../base/partition.ts';
import { normalise, originOf, withScheme } from '../../base/url.ts';
import { openLedger, requireCollection } from '../../engine/open-ledger.ts';
import { type Subscription, subscriptionsOf } from '../../home/answers/subscriptions.ts';
import { keepIdentity } from '../../home/notices/identities.ts';
import { SHARED_TERMS, sharedTerms } from '../../home/notices/shared-terms.ts';
import { isBegun, readCollection } from '../../ledger/collection/collection.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, table } from '../print/terminal.ts';

export function addSubscriptionsCommand(program: Command): void {
  const command = program
    .command('subscriptions')
    .option('--json', 'print one JSON object a line')
    .option('--token <site=token>', 'token that a cooperating site gave you')
    .option('--certificate <site=file>', 'client certificate that a cooperating site accepts, PEM; with --key')
    .option('--key <file>', 'its private key, PEM without a passphrase')
    .option('--share-terms <site>', 'tell this site once a day which terms led to its pages, with counts and no names')
    .option('--keep-terms <site>', 'stop telling it')
    .option('--forgive <site>', 'accept bulk pages again from a site whose bulk pages differed from its server')
    .addHelpText(
      'after',
      `
Refresh and watch find announcements by themselves: /.well-known/skein,
ResourceSync, feeds, hubs. Skein learns from its visits how accurate they are.
Hubs and submissions need an open port: run watch with --listen and --public.

Examples:
  skein subscriptions
  skein subscriptions --token https://example.org=9f3a77b0
  skein subscriptions --certificate https://example.org=me.pem --key me.key
  skein subscriptions --share-terms https://example.org`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    if (given['token'] !== undefined) return setToken(data, String(given['token']));
    if (given['certificate'] !== undefined || given['key'] !== undefined)
      return setCertificate(data, String(given['certificate'] ?? ''), given['key'] as string | undefined);
    if (given['forgive'] !== undefined) return forgive(data, String(given['forgive']));
    if (given['shareTerms'] !== undefined) return shareTerms(data, String(given['shareTerms']), true);
    if (given['keepTerms'] !== undefined) return shareTerms(data, String(given['keepTerms']), false);
    requireCollection(data);
    const rows: Subscription[] = [];
    const shared: ReturnType<typeof sharedTerms> = {};
    for (const { directory } of readCollection(data).here.filter(isBegun)) {
      const ledger = openLedger(directory);
      rows.push(...subscriptionsOf(ledger));
      Object.assign(shared, sharedTerms(ledger));
      ledger.close();
    }
    if (given['json']) return rows.forEach(row => void printJson(row));
    print(rows);
    for (const [origin, { asked, trouble }] of Object.entries(shared)) {
      const last = asked === 0 ? 'nothing sent yet' : `last sent ${moment(asked)}`;
      console.log(`Search terms are shared with ${harmless(origin)}: ${harmless(trouble) || last}.`);
    }
  });
}

function print(rows: readonly Subscription[]): void {
  if (rows.length === 0) {
    console.log('No site announces its changes yet. The first refresh or watch looks for announcements.');
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
  console.log(table(['server', 'kind', 'state', 'last notice', 'lease', 'true', 'recall', 'trouble'], shown));
}

/** The directory of the partition that has the pages of a server. */
function placeOf(data: string, origin: string): string {
  requireCollection(data); // a directory without a collection is a mistake, not a new one
  const { partitions, here } = readCollection(data);
  const place = here.find(({ id }) => id === partitionOfUrl(origin, partitions));
  if (place && isBegun(place)) return place.directory;
  throw new SkeinError('not-found', `The partition of ${origin} is on another machine.`);
}

interface SettingChange<T> {
  readonly data: string;
  readonly origin: string;
  /** The setting that is changed; the work is given its value by origin. */
  readonly name: string;
  work(value: Record<string, T>): void;
}

/** Written as a collection is: not while another Skein works in it. `asksAgain`: what the site has refused is asked for anew. */
function change<T>({ data, origin, name, work }: SettingChange<T>, asksAgain = false): void {
  const ledger = new Ledger(placeOf(data, origin), 'write');
  try {
    ledger.begin();
    const value = ledger.settings.get<Record<string, T>>(name) ?? {};
    work(value);
    ledger.settings.set(name, value);
    if (asksAgain) askAgain(ledger, origin);
    ledger.commit();
  } finally {
    ledger.close();
  }
}

function askAgain(ledger: Ledger, origin: string): void {
  const server = ledger.servers.find(origin);
  for (const face of server ? ledger.schedule.faces.ofServer(server.id) : [])
    if (face.kind === 'cursor') ledger.schedule.faces.put({ ...face, due: 0, failures: 0 });
}

function originIn(text: string): string {
  const url = normalise(withScheme(text));
  if (url !== undefined) return originOf(url);
  throw new SkeinError('bad-option', `"${text}" is not a site.`, 'Write it with its scheme, as https://example.org.');
}

/** `SITE=VALUE` in its two parts. */
function siteAnd(written: string): { readonly origin: string; readonly value: string } | undefined {
  const at = written.lastIndexOf('=');
  return at < 1 ? undefined : { origin: originIn(written.slice(0, at)), value: written.slice(at + 1).trim() };
}

function setToken(data: string, written: string): void {
  const { origin, value: token } = siteAnd(written) ?? { origin: '', value: '' };
  if (!/^[\x21-\x7e]{1,200}$/.test(token)) {
    throw new SkeinError('bad-option', '--token needs a site and a token.', 'Write --token https://example.org=TOKEN.');
  }
  const work = (tokens: Record<string, string>) => {
    tokens[origin] = token;
  };
  change<string>({ data, origin, name: 'site tokens', work }, true);
  console.log(`${origin} gets this token from the next run on.`);
}

function setCertificate(data: string, written: string, keyFile: string | undefined): void {
  const named = siteAnd(written);
  if (!named || keyFile === undefined) {
    const how = 'Write --certificate https://example.org=FILE --key FILE.';
    throw new SkeinError('bad-option', 'A certificate needs a site, its file and the file of its key.', how);
  }
  const { origin, value } = named;
  const identity = { certificate: readPem(value), key: readPem(keyFile) };
  const directory = placeOf(data, origin);
  const ledger = new Ledger(directory, 'write');
  try {
    keepIdentity(directory, origin, identity);
    ledger.begin();
    askAgain(ledger, origin);
    ledger.commit();
  } finally {
    ledger.close();
  }
  console.log(`${origin} gets this certificate from the next run on.`);
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new SkeinError('not-found', `${file} cannot be read.`, 'Give a PEM file.');
  }
}

function shareTerms(data: string, written: string, share: boolean): void {
  const origin = originIn(written);
  const work = (sites: Record<string, { asked: number; trouble: string }>) => {
    if (share) sites[origin] ??= { asked: 0, trouble: '' };
    else delete sites[origin];
  };
  change({ data, origin, name: SHARED_TERMS, work });
  const words = share ? 'gets the search terms that led to its pages once a day' : 'gets no more search terms';
  console.log(`${origin} ${words}, from the next refresh or watch on.`);
}

function forgive(data: string, written: string): void {
  const origin = originIn(written);
  const work = (sites: Record<string, string>) => {
    if (sites[origin] === undefined) throw new SkeinError('not-found', `${origin} is trusted already.`);
    delete sites[origin];
  };
  change<string>({ data, origin, name: 'sites distrusted', work });
  console.log(`${origin} may send its pages in bulk again.`);
}
