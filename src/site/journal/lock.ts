/**
 * One process writes a site's directory, and others may ask it how it stands: both by a socket in that directory, which the
 * system closes however the process ends.
 */
import { hash } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.ts';

/** What the system takes for the name of a socket. */
const LONGEST = 100;
const ANSWER_BYTES = 1 << 20;

function socketOf(directory: string): string {
  const name = join(resolve(directory), 'lock');
  if (name.length <= LONGEST) return name;
  return join(tmpdir(), `skein-site-${userInfo().uid}-${hash('sha256', name, 'hex').slice(0, 24)}`);
}

/** Holds the directory; whoever connects is told `status()` as JSON. Closing the server gives it back. */
export async function hold(directory: string, status: () => unknown): Promise<Server> {
  const name = socketOf(directory);
  for (let tries = 0; tries < 2; tries++) {
    const server = createServer(socket => {
      socket.on('error', () => {}); // whoever asked has gone
      socket.end(JSON.stringify(status()));
    });
    const held = await new Promise<boolean>((done, fail) => {
      server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? done(false) : fail(error)));
      server.listen(name, () => done(true));
    });
    if (held) return server.unref();
    if ((await ask(directory)).held) break;
    unlinkSync(name); // whoever made it is gone
  }
  throw new SkeinError(
    'data-in-use',
    `Another skein site works in ${resolve(directory)}.`,
    'Stop it, or give this one a directory of its own with --data.',
  );
}

/** Whether a process holds the directory, and what it says; one that is busy may say nothing. */
export function ask(directory: string): Promise<{ readonly held: boolean; readonly status?: unknown }> {
  return new Promise(resolved => {
    let held = false;
    const socket = connect(socketOf(directory), () => {
      held = true;
    });
    let text = '';
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', chunk => {
      text += chunk;
      if (text.length > ANSWER_BYTES) socket.destroy();
    });
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => {
      try {
        resolved({ held, status: JSON.parse(text) });
      } catch {
        resolved({ held }); // nobody answers
      }
    });
  });
}
