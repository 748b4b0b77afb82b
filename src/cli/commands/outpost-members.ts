/** `skein outpost members`, `approve`, `limit` and `revoke`: who may come in, and what they may do. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { type Invited, type Member, Members } from '../../transfer/entry/members.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, size, table, thousands } from '../print/terminal.ts';
import { quotaOf } from './outpost-rules.ts';

export function addMembers(outpost: Command): void {
  const command = outpost
    .command('members')
    .description('list the machines that joined this collection (or the outpost in --data), and the invitations')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein outpost members');
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const known = await membersOf(given);
    const [members, invitations] = [known.all(), known.invitations()];
    if (given['json']) printJson({ members, invitations });
    else show(members, invitations);
  });
  addApprove(outpost);
  addLimit(outpost);
  addRevoke(outpost);
}

function addApprove(outpost: Command): void {
  const command = outpost
    .command('approve')
    .description('approve a machine whose invitation requires approval')
    .argument('<name>', 'as "skein outpost members" names it')
    .addHelpText('after', '\nExample:\n  skein outpost approve near-the-site');
  declare(command, ['data']).action(async (name: string, given: Record<string, unknown>) => {
    found((await membersOf(given)).approve(name), name);
    console.log(`${name} is approved; it connects within seconds.`);
  });
}

function addLimit(outpost: Command): void {
  const command = outpost
    .command('limit')
    .description('change what a machine may visit, and how much a day; applies within seconds')
    .argument('<name>', 'as "skein outpost members" names it')
    .option('--servers <list>', 'only these hosts or domains; * = any')
    .option('--pages-a-day <n>', 'most pages it may visit a day; none = no limit')
    .option('--bytes-a-day <size>', 'most bytes between it and servers a day; none = no limit')
    .addHelpText('after', '\nExample:\n  skein outpost limit near-the-site --pages-a-day 20000');
  declare(command, ['data']).action(async (name: string, given: Record<string, unknown>) => {
    const servers = given['servers'] as string | undefined;
    const list = servers?.split(',').map(each => each.trim());
    const terms = { quotas: { ...quotaOf(given) }, ...(list && { servers: list.includes('*') ? [] : list }) };
    found((await membersOf(given)).limit(name, terms), name);
    console.log(`${name} is limited; a running home applies this within seconds.`);
  });
}

function addRevoke(outpost: Command): void {
  const command = outpost
    .command('revoke')
    .description('exclude a machine for good, or revoke an invitation')
    .argument('<name>', 'machine or invitation, as "skein outpost members" names it')
    .addHelpText('after', '\nExample:\n  skein outpost revoke near-the-site');
  declare(command, ['data']).action(async (name: string, given: Record<string, unknown>) => {
    found((await membersOf(given)).revoke(name, Date.now()), name);
    console.log(`${name} is revoked; a running home disconnects it within seconds.`);
  });
}

async function membersOf(given: Record<string, unknown>): Promise<Members> {
  const { data } = await values(given, ['data']);
  return new Members(join(data, 'door'));
}

function found(done: boolean, name: string): void {
  if (done) return;
  throw new SkeinError('not-found', `No machine or invitation is named ${name}.`, 'See "skein outpost members".');
}

function show(members: readonly Member[], invitations: readonly Invited[]): void {
  if (members.length === 0) console.log('No machine has joined.');
  else {
    const rows = members.map(each => [harmless(each.name), stateOf(each), moment(each.joined), ...termsOf(each)]);
    console.log(table(['machine', 'state', 'joined', 'servers', 'pages a day', 'bytes a day'], rows));
  }
  const open = invitations.filter(({ expires, used, uses }) => expires > Date.now() && used < uses);
  if (open.length === 0) return;
  const rows = open.map(each => [each.id, `${each.used} of ${each.uses}`, moment(each.expires), ...termsOf(each)]);
  console.log(`\n${table(['invitation', 'used', 'until', 'servers', 'pages a day', 'bytes a day'], rows)}`);
}

function stateOf({ revoked, approved }: Member): string {
  return revoked ? 'revoked' : approved === false ? 'waits for approval' : 'member';
}

function termsOf({ servers, quotas }: Pick<Member, 'servers' | 'quotas'>): string[] {
  const { pages, bytes } = quotas;
  const any = (value: string | undefined) => value ?? 'no limit';
  return [
    servers.length === 0 ? 'any' : harmless(servers.join(', ')),
    any(pages === undefined ? undefined : thousands(pages)),
    any(bytes === undefined ? undefined : size(bytes)),
  ];
}
