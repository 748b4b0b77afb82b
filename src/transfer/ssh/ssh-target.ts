/** A machine that ssh reaches, as users write it. */
import { SkeinError } from '../../base/errors.ts';

export interface SshTarget {
  /** As the user wrote it. */
  readonly url: string;
  /** `user@machine` or `machine`. */
  readonly destination: string;
  readonly port: string;
  /** Directory there that is kept; empty = a temporary one. */
  readonly directory: string;
}

export function parseSsh(text: string): SshTarget {
  const match = /^ssh:\/\/((?:[^@/\s]+@)?(?:\[[0-9a-f:]+\]|[^:/@\s[\]]+))(?::(\d+))?(\/.*)?$/i.exec(text);
  if (!match || match[1]!.startsWith('-')) {
    throw new SkeinError(
      'bad-option',
      `"${text}" is not an outpost that ssh can reach.`,
      'Write it as ssh://user@machine, with :port and /directory where they are needed.',
    );
  }
  const directory = (match[3] ?? '').replace(/^\/(?=~)|\/+$/g, '');
  if (/^~[^/]/.test(directory)) {
    throw new SkeinError('bad-option', `"${text}" names the home of another user.`, 'Write ~/directory or /directory.');
  }
  return { url: text, destination: match[1]!.replace(/[[\]]/g, ''), port: match[2] ?? '', directory };
}
