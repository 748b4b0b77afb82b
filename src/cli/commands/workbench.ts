/** `skein workbench`: the web page to watch and steer, beside whatever runs in the data directory, or nothing. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { askCollection } from '../../engine/open-collection.ts';
import { WORKBENCH_PORT } from '../../engine/services.ts';
import { feedWhileIdle } from '../../home/indexing/indexing.ts';
import { type WorkbenchRole, workbenchRoles } from '../../workbench/access.ts';
import { openWorkbench } from '../../workbench/server.ts';
import { parseListen, readTls } from '../options/listen.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { paint } from '../print/terminal.ts';
import { nextSignal } from '../signals.ts';

export function addWorkbenchCommand(program: Command): void {
  const command = program
    .command('workbench')
    .option('--listen <address>', `host:port or port (default 127.0.0.1:${WORKBENCH_PORT}); other hosts need TLS`)
    .option('--certificate <file>', 'TLS certificate chain, PEM')
    .option('--key <file>', 'its private key, PEM')
    .option('--user <name:role...>', 'other users with a role: read, steer or admin; each gets a private address')
    .option('--collections <dir>', 'several collections below this directory; runs can be started and scheduled')
    .option('--site <dir>', 'directory of a skein site on this machine, to show it (default ./skein-site)')
    .option('--json', 'print one JSON object with the address')
    .addHelpText(
      'after',
      `
Examples:
  skein workbench --data ./skein-data
  skein workbench --collections ./collections
  skein workbench --listen 0.0.0.0:7700 --certificate chain.pem --key key.pem
  skein workbench --listen 0.0.0.0:7700 --certificate chain.pem --key key.pem \\
    --user anna:read ben:steer

On loopback everybody on this machine may look; changing something needs the
token in the address that is printed. Elsewhere everything needs the token.`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const several = given['collections'] as string | undefined;
    const data = several === undefined ? (await values(given, ['data'])).data : directoryOf(several);
    const directories = several === undefined ? partitionsOf(data) : [];
    const { host, port } = parseListen(String(given['listen'] ?? WORKBENCH_PORT));
    const tls = readTls(given['certificate'] as string | undefined, given['key'] as string | undefined);
    const users = usersIn((given['user'] as string[] | undefined) ?? []);
    const site = given['site'] === undefined ? {} : { site: String(given['site']) };
    const workbench = await openWorkbench({
      directory: data,
      ...(several !== undefined && { program: [process.execPath, process.argv[1]!] }),
      host,
      port,
      version,
      users,
      ...site,
      ...(tls && { tls }),
    });
    const feeding = several === undefined ? await feedWhileIdle(data, directories) : undefined;
    const stopped = nextSignal();
    if (given['json'])
      printJson({
        ...{ address: workbench.address, port: workbench.port },
        ...(workbench.users.length > 0 && { users: workbench.users }),
      });
    else {
      const lines = workbench.users.map(({ name, role, address }) => `${name} (${role}): ${address}\n`);
      console.log(`${paint('bold', 'Workbench:')} ${workbench.address}\n${lines.join('')}Stop it with Ctrl-C.`);
    }
    await stopped;
    await feeding?.stop();
    await workbench.close();
  });
}

/** Says in words when there is nothing to show. */
function partitionsOf(data: string): string[] {
  const collection = askCollection(data);
  const directories = collection.here.map(({ directory }) => directory);
  collection.close();
  return directories;
}

function directoryOf(collections: string): string {
  if (statSync(collections, { throwIfNoEntry: false })?.isDirectory()) return resolve(collections);
  throw new SkeinError(
    'bad-option',
    `${collections} is not a directory.`,
    'Create it, or name the directory of the collections.',
  );
}

const MOST_USERS = 100;

function usersIn(texts: readonly string[]): { name: string; role: WorkbenchRole }[] {
  if (texts.length > MOST_USERS) throw new SkeinError('bad-option', `At most ${MOST_USERS} users can be named.`);
  return texts.map(text => {
    const [, name, written] = /^([\w.@-]{1,60}):(\w+)$/.exec(text) ?? [];
    const role = workbenchRoles.find(each => each === written);
    if (name !== undefined && role) return { name, role };
    throw new SkeinError(
      'bad-option',
      `"${text}" is not a user.`,
      'Write a name and a role: anna:read, ben:steer, eve:admin.',
    );
  });
}
