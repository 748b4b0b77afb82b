/**
 * One process writes a site's directory, and others may ask it how it stands: both by a socket in that directory, which the
 * system closes however the process ends.
 */
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.ts';

/** What the system takes for the name of a socket. */
const LONGEST = 100;
const ANSWER_BYTES = 1 << 20;

interface LockPlace {
  /** Names the socket for as long as it is not left. */
  readonly name: string;
  leave(): void;
}

/** Always in the directory itself: in one that others may write to, they would be there first. */
function placeOf(directory: string): LockPlace {
  const name = join(resolve(directory), 'lock');
  if (Buffer.byteLength(name) <= LONGEST) return { name, leave() {} };
  if (process.platform !== 'linux')
    throw new SkeinError('bad-option', `The path ${name} is too long for a socket.`, 'Give a shorter one with --data.');
  const opened = openSync(resolve(directory), 'r');
  return { name: `/proc/self/fd/${opened}/lock`, leave: () => closeSync(opened) };
}

/** Holds the directory; whoever connects is told `status()` as JSON. Closing the server gives it back. */
export async function hold(directory: string, status: () => unknown): Promise<Server> {
  const { name, leave } = placeOf(directory);
  try {
    for (let tries = 0; tries < 2; tries++) {
      const server = await listening(name, status);
      if (server) return server.once('close', leave).unref();
      if ((await ask(directory)).held) break;
      unlinkSync(name); // whoever made it is gone
    }
  } catch (error) {
    leave();
    throw error;
  }
  leave();
  throw new SkeinError(
    'data-in-use',
    `Another skein site is running in ${resolve(directory)}.`,
    'Stop it, or give this one its own directory with --data.',
  );
}

/** Undefined: there is such a socket. */
function listening(name: string, status: () => unknown): Promise<Server | undefined> {
  const server = createServer(socket => {
    socket.on('error', () => {}); // whoever asked has gone
    socket.end(JSON.stringify(status()));
  });
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? done(undefined) : fail(error),
    );
    server.listen(name, () => done(server));
  });
}

/** Whether a process holds the directory, and what it says; one that is busy may say nothing. */
export function ask(directory: string): Promise<{ readonly held: boolean; readonly status?: unknown }> {
  return new Promise(resolved => {
    let held = false;
    let place: LockPlace;
    try {
      place = placeOf(directory);
    } catch {
      return resolved({ held }); // there is no such directory
    }
    const { name, leave } = place;
    const socket = connect(name, () => {
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
      leave();
      try {
        resolved({ held, status: JSON.parse(text) });
      } catch {
        resolved({ held }); // nobody answers
      }
    });
  });
}
