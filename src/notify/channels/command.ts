/** A command of the user's, by the shell: the message as JSON on its standard input, its subject in SKEIN_SUBJECT. */
import { spawn } from 'node:child_process';
import { type Message, subjectOf } from '../message.ts';
import { type MessageSender, NotDelivered } from './channel.ts';

const LAST_WORDS = 200;

export function command(line: string): MessageSender {
  return {
    send: (message: Message, signal: AbortSignal) =>
      new Promise((resolve, reject) => {
        const environment = { ...process.env, SKEIN_SUBJECT: subjectOf(message), SKEIN_ID: message.id };
        const child = spawn(line, { shell: true, env: environment, stdio: ['pipe', 'ignore', 'pipe'], signal });
        let said = '';
        child.stderr.on('data', bytes => {
          said = `${said}${bytes}`.slice(-LAST_WORDS);
        });
        child.stdin.on('error', () => {}); // it need not read what it is given
        child.stdin.end(JSON.stringify(message));
        child.once('error', error =>
          reject(new NotDelivered(error.name === 'AbortError' ? 'the command took too long' : error.message)),
        );
        child.once('close', code =>
          code === 0 ? resolve() : reject(new NotDelivered(`the command failed with code ${code}: ${said.trim()}`)),
        );
      }),
  };
}
