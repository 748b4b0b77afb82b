/** `skein why URL`: the figures behind the schedule of one page, and the sentence that follows from them. */
import type { Command } from 'commander';
import { askCollection, askWhole } from '../../engine/open-collection.ts';
import { findPage } from '../../home/answers/lookup.ts';
import type { ServerTrust, Whence, Why } from '../../home/answers/why.ts';
import { runningHome } from '../../home/door.ts';
import { liftedInWords, unmask } from '../../home/masks.ts';
import { Ledger, lockCollection } from '../../ledger/ledger.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { whyQuestion } from '../../questions/page/why.ts';
import { inWords } from '../../revisit/explain.ts';
import { declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { duration, fold, harmless, moment, paint } from '../print/terminal.ts';

export function addWhyCommand(program: Command): void {
  const command = program
    .command('why')
    .argument('<url>', 'the page')
    .option('--unmask', 'remove the noise masks of the page and its server')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein why https://example.org/');
  declare(command, ['data', 'engine']).action(async (url: string, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    if (given['unmask']) {
      const done = await lift(data, url);
      if (given['json']) printJson({ url, done });
      else console.log(done);
      return;
    }
    await using collection = await askWhole(data, engine);
    const reason = await collection.ask(whyQuestion, aboutUrl(url));
    endAsking(collection);
    if (given['json']) printJson(reason);
    else print(reason);
  });
}

/** A running home holds the collection, so it is asked through its door. */
async function lift(data: string, url: string): Promise<string> {
  const running = await runningHome(data);
  if (running) return (await running.client.order({ kind: 'unmask', url })).done;
  const { urls } = aboutUrl(url);
  const collection = askCollection(data); // a directory without a collection is a mistake, not a new one
  const directory = collection.ownerOf(urls[0]!)?.directory ?? data;
  collection.close();
  const lock = directory === data ? undefined : lockCollection(data);
  const ledger = new Ledger(directory, 'write');
  try {
    const { page } = findPage(ledger, url);
    ledger.begin();
    const lifted = unmask(ledger, page.id, page.server);
    ledger.commit();
    return liftedInWords(lifted);
  } finally {
    ledger.close();
    lock?.close();
  }
}

function print({ url, state, policy, explanation, notices, searches, server, machine, masks }: Why): void {
  console.log(paint('bold', harmless(url)));
  console.log(fold(state));
  const line = (name: string, text: string) =>
    console.log(fold(`${paint('dim', name.padEnd(14))} ${text}`, ' '.repeat(15)));
  if (explanation) {
    const { history, rate, confidence, changedByNow, importance, due, value, theta } = explanation;
    console.log(`${fold(explanation.sentence)}\n`);
    line('history', history === '' ? 'none yet' : `${history}  (oldest first, 1 = changed)`);
    line(
      'rate',
      `${rate > 0 ? `once in ${inWords(1 / rate)}` : 'never'} (${confidence.word === 'unknown' ? 'no' : confidence.word} evidence)`,
    );
    line('probability', `${Math.round(changedByNow * 100)}% that it has changed`);
    line('importance', String(Number(importance.toPrecision(3))));
    line('due', moment(due));
    if (policy === 'value')
      line('gain', `${inWords(value)} of freshness by a check now; at least ${inWords(theta)} is wanted`);
    line('policy', policy);
  }
  if (searches > 0) line('searches', `opened ${searches.toFixed(1)} times lately (older opens count less)`);
  if (notices > 0) line('notices', `${notices} since the last visit`);
  if (server) line('server', serverInWords(server));
  line('machine', harmless(machineInWords(machine)));
  for (const { told, because } of masks) line('masked', harmless(`${told}: ${because}`));
  if (masks.length > 0)
    console.log(fold('Skein ignores masked parts when it looks for changes. To remove the masks: --unmask'));
}

function machineInWords({ placement, last }: Whence): string {
  const before = last === '' ? 'never visited' : `last visited by ${last}`;
  return placement ? `${placement.machine}, because ${placement.because}; ${before}` : before;
}

function serverInWords(server: ServerTrust): string {
  const { paused, notBefore, audits, lies, validatorsTrusted, notices, trueNotices, multiplier } = server;
  const wait = notBefore - Date.now();
  const parts = [
    paused ? 'paused' : wait > 0 ? `next request in ${duration(wait)}` : 'ready',
    audits < 1
      ? '304 answers not verified yet'
      : `${Math.round(lies)} of ${Math.round(audits)} verified 304 answers wrong${validatorsTrusted ? '' : ', so Skein ignores them'}`,
    notices < 1
      ? 'no notices'
      : `${Math.round((100 * trueNotices) / notices)}% of ${Math.round(notices)} notices correct`,
  ];
  if (multiplier > 1.01) parts.push(`delayed by politeness (threshold ×${multiplier.toFixed(1)})`);
  return parts.join('; ');
}
