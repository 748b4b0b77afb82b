/** OpenSSH's own server on a port of loopback, with keys and settings of its own, and an ssh that finds it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const SSHD = '/usr/sbin/sshd';

export interface Sshd extends AsyncDisposable {
  /** For --outpost. */
  readonly url: string;
  readonly port: number;
  /** ssh with the settings that reach it. */
  readonly command: readonly string[];
  /** Directory with an `ssh` that has these settings, to be put first on the path. */
  readonly bin: string;
  /** Where the far end keeps what it needs for a while. */
  readonly temporary: string;
}

/** Why there is none; empty = there is. */
export function noSshd(): string {
  try {
    execFileSync('bash', [join(root, 'scripts', 'install-debian.sh'), 'openssh-server', 'openssh-client'], {
      stdio: 'ignore',
    });
  } catch {
    // the notice below says what is missing
  }
  return existsSync(SSHD) ? '' : 'openssh-server is not installed';
}

interface Far {
  /** Directory whose Node the far end finds first. */
  readonly node: string;
  /** Its home directory. */
  readonly home?: string;
  /** A program of the system that does not work there; only root can have that. */
  readonly broken?: string;
}

export async function openSshd(path: string, far: Far): Promise<Sshd> {
  const port = await freePort();
  mkdirSync(join(path, 'bin'), { recursive: true, mode: 0o700 });
  mkdirSync('/run/sshd', { recursive: true });
  const temporary = join(path, 'temporary');
  mkdirSync(temporary, { recursive: true });
  for (const name of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(path, name)]);
  }
  const read = (name: string) => execFileSync('cat', [join(path, name)], { encoding: 'utf8' }).trim();
  writeFileSync(join(path, 'authorized'), read('user.pub'), { mode: 0o600 });
  writeFileSync(join(path, 'known'), `[127.0.0.1]:${port} ${read('host.pub')}\n`);
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(path, 'host')}`,
    `AuthorizedKeysFile ${join(path, 'authorized')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'PermitRootLogin yes',
    'PidFile none',
    `SetEnv PATH=${far.node}:/usr/bin:/bin TMPDIR=${temporary}${far.home ? ` HOME=${far.home}` : ''}`,
  ];
  writeFileSync(join(path, 'sshd_config'), `${settings.join('\n')}\n`);
  const client = [
    'Host 127.0.0.1',
    `  IdentityFile ${join(path, 'user')}`,
    '  IdentitiesOnly yes',
    `  UserKnownHostsFile ${join(path, 'known')}`,
  ];
  writeFileSync(join(path, 'config'), `${client.join('\n')}\n`);
  writeFileSync(join(path, 'bin', 'ssh'), `#!/bin/sh\nexec ssh.real -F ${join(path, 'config')} "$@"\n`, {
    mode: 0o700,
  });
  const real = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeFileSync(join(path, 'bin', 'ssh.real'), `#!/bin/sh\nexec ${real} "$@"\n`, { mode: 0o700 });
  const serve = [SSHD, '-D', '-e', '-f', join(path, 'sshd_config')];
  const hide = `mount --bind /dev/null ${far.broken} && exec "$@"`;
  const [program, ...words] = far.broken ? ['unshare', '-m', 'sh', '-c', hide, 'sh', ...serve] : serve;
  const server: ChildProcess = spawn(program!, words, { stdio: 'ignore' });
  await listening(port);
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    port,
    command: ['ssh', '-F', join(path, 'config')],
    bin: join(path, 'bin'),
    temporary,
    async [Symbol.asyncDispose]() {
      const ended = new Promise(resolve => server.once('exit', resolve));
      server.kill();
      await ended;
    },
  };
}

async function listening(port: number): Promise<void> {
  for (let turn = 0; turn < 200; turn++) {
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error('sshd does not listen');
}
