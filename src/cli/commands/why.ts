/** `skein why URL`: the figures behind the schedule of one page, and the sentence that follows from them. */
import type { Command } from 'commander';
import { Schedule } from '../../frontier/schedule.ts';
import { trustTerms } from '../../frontier/trust.ts';
import { standingOf } from '../../home/why.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Server } from '../../ledger/servers.ts';
import { type Explanation, explain, inWords } from '../../revisit/explain.ts';
import { unpackState } from '../../revisit/state.ts';
import { openLedger } from '../compose.ts';
import { type Found, findPage } from '../lookup.ts';
import { declare, values } from '../options.ts';
import { duration, harmless, moment, paint } from '../terminal.ts';
import { stateOf } from './show.ts';

export function addWhyCommand(program: Command): void {
  const command = program
    .command('why')
    .description('why a page is or is not due: its change history, rate, importance and server')
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

export interface Why {
  readonly url: string;
  /** What happened last and what happens next. */
  readonly state: string;
  readonly policy: string;
  /** Absent for a page that was never seen. */
  readonly explanation?: Explanation;
  /** Notices since the last visit. */
  readonly notices: number;
  /** Times that it was opened from a search lately, and a little for being shown; part of its importance. */
  readonly searches: number;
  readonly server?: ServerState;
}

export interface ServerState {
  readonly origin: string;
  readonly paused: boolean;
  /** No request before this time, 0 = none. */
  readonly notBefore: number;
  /** Its 304 answers are believed; audited so often, wrong so often. */
  readonly validatorsTrusted: boolean;
  readonly audits: number;
  readonly lies: number;
  readonly notices: number;
  readonly trueNotices: number;
  /** Above 1: politeness keeps it behind, so that its pages must be worth more. */
  readonly multiplier: number;
}

export function whyOf(ledger: Ledger, found: Found, now: number): Why {
  const { page, known } = found;
  const schedule = new Schedule(ledger);
  const server = page.server === 0 ? undefined : ledger.servers.byId(page.server);
  const { weight, searches } = standingOf(ledger, page, now);
  const explained = known?.change &&
    known.seen_time !== null && {
      explanation: explain(schedule.plan, schedule.termsFor(weight, server), {
        state: unpackState(known.change),
        last: known.seen_time,
        now,
        ...(known.due !== null && { due: known.due }),
      }),
    };
  return {
    url: page.url,
    state: stateOf(found, server?.notBefore ?? 0),
    policy: schedule.plan.policy.name,
    ...(explained || {}),
    notices: known?.pings ?? 0,
    searches,
    ...(server && { server: serverState(server) }),
  };
}

function serverState(server: Server): ServerState {
  const { origin, paused, notBefore, audits, lies, pings, truePings, multiplier } = server;
  const { trustValidators } = trustTerms(server);
  return {
    ...{ origin, paused, notBefore, audits, lies, multiplier },
    validatorsTrusted: trustValidators,
    notices: pings,
    trueNotices: truePings,
  };
}

function print({ url, state, policy, explanation, notices, searches, server }: Why): void {
  console.log(paint('bold', harmless(url)));
  console.log(state);
  const line = (name: string, text: string) => console.log(`${paint('dim', name.padEnd(14))} ${text}`);
  if (explanation) {
    const { history, rate, confidence, changedByNow, importance, due, value, theta } = explanation;
    console.log(`${explanation.sentence}\n`);
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
}

function serverInWords(server: ServerState): string {
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
