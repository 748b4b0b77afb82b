/** Exim from Debian, private to a test: takes every mail on loopback into its queue, and sends nothing on. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

const EXIM = '/usr/sbin/exim4';
export const noExim = !existsSync(EXIM) && 'exim4 is not installed (scripts/install-debian.sh exim4-daemon-light)';

export interface SmtpServer extends AsyncDisposable {
  readonly url: string;
  /** Mails that have arrived: envelope, header and body, as Exim keeps them. */
  mails(): string[];
}

export async function startSmtp(directory: string): Promise<SmtpServer> {
  const port = await freePort();
  const { username, gid } = userInfo();
  for (const name of ['spool', 'log']) mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(
    join(directory, 'exim.conf'),
    `keep_environment =
primary_hostname = mail.test
exim_user = ${username}
exim_group = ${gid}
spool_directory = ${directory}/spool
log_file_path = ${directory}/log/%s
pid_file_path = ${directory}/pid
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
host_lookup =
tls_advertise_hosts =
rfc1413_query_timeout = 0s
acl_smtp_rcpt = accept
acl_smtp_data = accept
queue_only = true
`,
  );
  const child = spawn(EXIM, ['-C', join(directory, 'exim.conf'), '-bdf'], { stdio: 'ignore' });
  const ended = new Promise(resolve => child.once('exit', resolve));
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 200 || child.exitCode !== null) throw new Error(`exim does not start: ${logOf(directory)}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  const queue = join(directory, 'spool', 'input');
  const read = (name: string) => readFileSync(join(queue, name), 'utf8');
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails: () =>
      readdirSync(queue)
        .filter(name => name.endsWith('-H'))
        .map(name => read(name) + read(name.replace(/-H$/, '-D'))),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

function logOf(directory: string): string {
  return readdirSync(join(directory, 'log'))
    .map(name => readFileSync(join(directory, 'log', name), 'utf8'))
    .join('');
}
