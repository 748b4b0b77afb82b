/** A command of the user's, by the shell: the message as JSON on its standard input, its subject in SKEIN_SUBJECT. */
import { type ChildProcess, spawn } from 'node:child_process';
import { type Message, subjectOf } from '../message.ts';
import { type MessageSender, NotDelivered } from './channel.ts';

const LAST_WORDS = 200;

export function command(line: string): MessageSender {
  return {
    send: (message: Message, signal: AbortSignal) =>
      new Promise((resolve, reject) => {
        const environment = { ...process.env, SKEIN_SUBJECT: subjectOf(message), SKEIN_ID: message.id };
        // In a group of its own, so that all of a pipeline can be ended.
        const child = spawn(line, { shell: true, detached: true, env: environment, stdio: ['pipe', 'ignore', 'pipe'] });
        const end = () => {
          endAll(child);
          reject(new NotDelivered('the command took too long'));
        };
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
        let said = '';
        child.stderr.on('data', bytes => {
          said = `${said}${bytes}`.slice(-LAST_WORDS);
        });
        child.stdin.on('error', () => {}); // it need not read what it is given
        child.stdin.end(JSON.stringify(message));
        child.once('error', error => reject(new NotDelivered(error.message)));
        child.once('close', code => {
          signal.removeEventListener('abort', end);
          if (code === 0) resolve();
          else reject(new NotDelivered(`the command failed with code ${code}: ${said.trim()}`));
        });
      }),
  };
}

/** The shell and whatever it started. */
function endAll(child: ChildProcess): void {
  if (child.pid === undefined) return; // it never began
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // no groups here, or all of it has ended
  }
}
