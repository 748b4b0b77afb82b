/** `skein why URL`: the figures behind the schedule of one page, and the sentence that follows from them. */
import type { Command } from 'commander';
import { findPage } from '../../home/lookup.ts';
import { type ServerTrust, type Whence, type Why, whyOf } from '../../home/why.ts';
import { inWords } from '../../revisit/explain.ts';
import { openLedger } from '../look.ts';
import { declare, values } from '../options.ts';
import { duration, fold, harmless, moment, paint } from '../terminal.ts';

export function addWhyCommand(program: Command): void {
  const command = program
    .command('why')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein why https://example.org/');
  declare(command, ['data']).action(async (url: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const reason = whyOf(ledger, findPage(ledger, url), Date.now());
    ledger.close();
    if (given['json']) console.log(JSON.stringify(reason));
    else print(reason);
  });
}

function print({ url, state, policy, explanation, notices, searches, server, machine }: Why): void {
  console.log(paint('bold', harmless(url)));
  console.log(fold(state));
  const line = (name: string, text: string) =>
    console.log(fold(`${paint('dim', name.padEnd(14))} ${text}`, ' '.repeat(15)));
  if (explanation) {
    const { history, rate, confidence, changedByNow, importance, due, value, theta } = explanation;
    console.log(`${fold(explanation.sentence)}\n`);
    line('history', history === '' ? 'none yet' : `${history}  (oldest first, 1 = had changed)`);
    line('rate', `${rate > 0 ? `once in ${inWords(1 / rate)}` : 'never'}, evidence ${confidence.word}`);
    line('probability', `${Math.round(changedByNow * 100)} % that it has changed by now`);
    line('importance', String(Number(importance.toPrecision(3))));
    line('due', moment(due));
    if (policy === 'value') line('worth', `${inWords(value)} of freshness; the budget asks for ${inWords(theta)}`);
    line('policy', policy);
  }
  if (searches > 0) line('searches', `people look for it: counts as ${searches.toFixed(1)} opens, which fade`);
  if (notices > 0) line('notices', `${notices} since the last visit`);
  if (server) line('server', serverInWords(server));
  line('machine', harmless(machineInWords(machine)));
}

function machineInWords({ placement, last }: Whence): string {
  const before = last === '' ? 'nobody has visited it yet' : `last visited by ${last}`;
  return placement ? `${placement.machine}, because ${placement.because}; ${before}` : before;
}

function serverInWords(server: ServerTrust): string {
  const { paused, notBefore, audits, lies, validatorsTrusted, notices, trueNotices, multiplier } = server;
  const wait = notBefore - Date.now();
  const parts = [
    paused ? 'paused' : wait > 0 ? `no request for another ${duration(wait)}` : 'may be visited now',
    audits < 1
      ? 'its 304s were not checked yet'
      : `${Math.round(lies)} of ${Math.round(audits)} checked 304s were wrong${validatorsTrusted ? '' : ', so it is not believed'}`,
    notices < 1
      ? 'no notices'
      : `${Math.round((100 * trueNotices) / notices)} % of ${Math.round(notices)} notices true`,
  ];
  if (multiplier > 1.01) parts.push(`politeness keeps it behind (threshold ×${multiplier.toFixed(1)})`);
  return parts.join('; ');
}
