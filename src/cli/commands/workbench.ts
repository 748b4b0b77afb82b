/** `skein workbench`: the web page to watch and steer, beside whatever runs in the data directory, or nothing. */
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
    .option('--user <name:role...>', 'others who may come: read, steer or admin; each gets an address of their own')
    .option('--json', 'print one JSON object with the address')
    .addHelpText(
      'after',
      `
Examples:
  skein workbench --data ./skein-data
  skein workbench --listen 0.0.0.0:7700 --certificate chain.pem --key key.pem
  skein workbench --listen 0.0.0.0:7700 --certificate chain.pem --key key.pem \\
    --user anna:read ben:steer

On loopback everybody on this machine may look; changing something needs the
token in the address that is printed. Elsewhere everything needs the token.`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const collection = askCollection(data); // says in words when there is nothing to show
    const directories = collection.here.map(({ directory }) => directory);
    collection.close();
    const { host, port } = parseListen(String(given['listen'] ?? WORKBENCH_PORT));
    const tls = readTls(given['certificate'] as string | undefined, given['key'] as string | undefined);
    const users = usersIn((given['user'] as string[] | undefined) ?? []);
    const workbench = await openWorkbench({ directory: data, host, port, version, users, ...(tls && { tls }) });
    const feeding = await feedWhileIdle(data, directories);
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
    await feeding.stop();
    await workbench.close();
  });
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
      `"${text}" is no user.`,
      'Write a name and a role: anna:read, ben:steer, eve:admin.',
    );
  });
}
