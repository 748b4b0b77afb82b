/** `skein outpost`: invite a machine, join a parent, run, and install as a service. */

import { availableParallelism, hostname, networkInterfaces, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { DAY, systemClock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { hasJoined, joinParent, StandingOutpost } from '../../outpost/standing-outpost.ts';
import { limitsOnly, Members } from '../../transfer/entry/members.ts';
import { declare, parseAddress, parseSize, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless } from '../print/terminal.ts';
import { addForgive } from './outpost-forgive.ts';
import { addMembers } from './outpost-members.ts';
import { addRules, ceilingsOf, ownerOptions, quotaOf, whole } from './outpost-rules.ts';

const DIRECTORY = 'skein-outpost';

export function addOutpostCommand(program: Command): void {
  const outpost = program
    .command('outpost')
    .addHelpText('after', '\nExample:\n  skein outpost invite --listen 0.0.0.0:7070');
  addInvite(outpost);
  addJoin(outpost);
  addRun(outpost);
  addInstall(outpost);
  addForgive(outpost);
  addRules(outpost, DIRECTORY);
  addMembers(outpost);
}

function addInvite(outpost: Command): void {
  const command = outpost
    .command('invite')
    .description('create a token with which a machine can join this collection, or the outpost in --data')
    .option(
      '--address <host:port>',
      'address that the machine connects to (default: this host and the port of --listen)',
    )
    .option('--uses <n>', 'how many machines may join with it (default 1)', '1')
    .option('--days <n>', 'days until it expires (default 7)', '7')
    .option('--servers <list>', 'only these hosts or domains (default: any)', '')
    .option('--pages-a-day <n>', 'most pages it may visit a day (default: no limit)')
    .option('--bytes-a-day <size>', 'most bytes between it and servers a day (default: no limit)')
    .option('--approve', 'require "skein outpost approve" for machines that join (default: no approval)')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein outpost invite --listen 0.0.0.0:7070 --servers example.org');
  declare(command, ['data', 'listen']).action(async (given: Record<string, unknown>) => {
    const { data, listen } = await values(given, ['data', 'listen']);
    const { host, port } = reachable(given['address'] as string | undefined, listen);
    const token = new Members(join(data, 'door')).invite({
      host,
      port,
      uses: whole(given['uses'], '--uses'),
      expires: Date.now() + whole(given['days'], '--days') * DAY,
      servers: listOf(given['servers']),
      quotas: limitsOnly({ ...quotaOf(given) }),
      approve: given['approve'] === true,
    });
    if (given['json']) printJson({ token, host, port });
    else console.log(`${token}\n\nOn the other machine, run "skein outpost join" and paste this token.`);
  });
}

function addJoin(outpost: Command): void {
  const command = outpost
    .command('join')
    .description('serve the parent that the token names; keeps running')
    .argument(
      '[token]',
      'what "skein outpost invite" printed (default: read from standard input, where no other user sees it)',
    )
    .option('--name <name>', 'name of this machine (default: its host name)', hostname())
    .option('--servers <list>', 'hosts or domains that may be visited from here (default: as invited)', '')
    .option('--no-code', 'refuse errands with their own code (default: run code that home signed, in a sandbox)')
    .option('--once', 'only join; serve later with "skein outpost run"')
    .addHelpText('after', '\nExample:\n  skein outpost join skein1.eyJob3N0… --name near-the-site');
  ownerOptions(common(command)).action(async (word: string | undefined, given: Record<string, unknown>) => {
    const token = await invitation(word);
    const { allowPrivate } = await values(given, serving);
    const directory = given['directory'] as string;
    const name = given['name'] as string;
    const servers = listOf(given['servers']);
    const code = given['code'] !== false;
    const rules = { quota: quotaOf(given), ceilings: ceilingsOf(given) };
    joinParent({ directory, token, name, servers, allowPrivate, ...rules, code }, Date.now());
    if (given['once']) console.log(`Joined. Serve with: skein outpost run --directory ${resolve(directory)}`);
    else await serve(given);
  });
}

/** As an argument it is taken off the list of processes (bin/skein.js), a moment after it stood there. */
async function invitation(word: string | undefined): Promise<string> {
  if (word !== undefined && word !== '-') return word;
  if (process.stdin.isTTY) process.stderr.write('The invitation, as "skein outpost invite" printed it: ');
  for await (const line of createInterface({ input: process.stdin })) if (line.trim() !== '') return line.trim();
  return '';
}

function addRun(outpost: Command): void {
  const command = outpost
    .command('run')
    .description('serve the parent that this machine has joined; keeps running')
    .addHelpText('after', '\nExample:\n  skein outpost run --directory /var/lib/skein-outpost --listen 0.0.0.0:7071');
  common(command).action(serve);
}

const serving = ['listen', 'threads', 'allowPrivate'] as const;

function common(command: Command): Command {
  command
    .option('--directory <dir>', `where it keeps its key and its spool (default ./${DIRECTORY})`, DIRECTORY)
    .option('--spool <size>', 'most bytes of parcels to hold there (default 1GB)', '1GB');
  return declare(command, serving);
}

async function serve(given: Record<string, unknown>): Promise<void> {
  const { listen, threads, allowPrivate } = await values(given, serving);
  const outpost = new StandingOutpost({
    directory: given['directory'] as string,
    software: version,
    threads: threads || availableParallelism(),
    spoolBytes: parseSize(given['spool'] as string),
    allowPrivate,
    clock: systemClock,
    say: text => console.error(`${new Date().toISOString()} ${harmless(text)}`),
    ...(listen !== undefined && { listen: parseAddress(listen) }),
  });
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(130);
      asked = true;
      void outpost.stop();
    });
  }
  await outpost.run();
}

function addInstall(outpost: Command): void {
  outpost
    .command('install')
    .description('print a unit file for systemd that runs the outpost as a service')
    .option('--directory <dir>', `where it has joined (default ./${DIRECTORY}, as for join and run)`, DIRECTORY)
    .option('--user <name>', 'user that it runs as (default: the current user)')
    .addHelpText('after', '\nExample:\n  skein outpost install | sudo tee /etc/systemd/system/skein-outpost.service')
    .action((given: Record<string, unknown>) => {
      const directory = resolve(given['directory'] as string);
      if (!hasJoined(directory)) {
        console.error(`${directory} has not joined a home yet: skein outpost join --once --directory ${directory}`);
      }
      console.log(
        unitFile(directory, (given['user'] as string | undefined) ?? process.env['SUDO_USER'] ?? userInfo().username),
      );
    });
}

function unitFile(directory: string, user: string): string {
  return `[Unit]
Description=Skein outpost
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
ExecStart=${process.execPath} ${resolve(process.argv[1] ?? 'skein')} outpost run --directory ${directory}
Restart=always
RestartSec=5
KillSignal=SIGTERM
TimeoutStopSec=15
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
OOMPolicy=continue
Delegate=memory pids
ReadWritePaths=${directory}

[Install]
WantedBy=multi-user.target`;
}

function reachable(address: string | undefined, listen: string | undefined): { host: string; port: number } {
  if (address === undefined && listen === undefined) {
    throw new SkeinError(
      'bad-option',
      'The token needs an address to connect to.',
      'Give --listen or --address host:port.',
    );
  }
  const { host, port } = parseAddress(address ?? listen!);
  const anywhere = host === '0.0.0.0' || host === '::';
  return { host: anywhere ? ownAddress() : host, port };
}

/** The first address of this machine that others may know. */
function ownAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(each => !each.internal && each.family === 'IPv4');
    if (found) return found.address;
  }
  return hostname();
}

function listOf(text: unknown): string[] {
  return String(text ?? '')
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== '');
}
