/** The invitation that a parent hands to the owner of an outpost: one line of text, good for joining and nothing else. */
import { SkeinError } from '../../base/errors.ts';

export interface Token {
  /** Where the parent listens. */
  readonly host: string;
  readonly port: number;
  /** Of the parent's certificate. */
  readonly fingerprint: string;
  /** Name of the invitation, and the secret that goes with it. */
  readonly id: string;
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** What the parent will allow; its own note is what counts. */
  readonly uses: number;
  readonly servers: readonly string[];
  readonly quotas: Readonly<Record<string, number>>;
}

const PREFIX = 'skein1.';

export function writeToken(token: Token): string {
  return PREFIX + Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function readToken(text: string): Token {
  const trimmed = text.trim();
  try {
    const token = JSON.parse(Buffer.from(trimmed.slice(PREFIX.length), 'base64url').toString('utf8')) as Token;
    const { host, port, fingerprint, id, secret, expires } = token;
    const texts = [host, fingerprint, id, secret].every(each => typeof each === 'string' && each !== '');
    if (trimmed.startsWith(PREFIX) && texts && Number.isInteger(port) && Number.isFinite(expires)) return token;
  } catch {
    // not base64 or not JSON: said below, without showing what may hold a secret
  }
  throw new SkeinError(
    'bad-option',
    'That is not a token.',
    'Copy the whole line that "skein outpost invite" printed.',
  );
}
