/** What goes wrong between a peer and its engine, in one sentence each, and which of it passes by itself. */

import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';

/** The oldest nats-server that a cluster may use. */
export const LEAST_SERVER = '2.10.23';

/** Codes of JetStream's answers that this code tells apart. */
export const CODES = {
  noMessage: 10037,
  notEnabled: 10039,
  streamMissing: 10059,
  streamExists: 10058,
  /** A publish or a KV write that expected another last sequence. */
  wrongSequence: 10071,
  wrongSequenceUnknown: 10164,
  noRoom: 10047,
  noPlacement: 10005,
  replicasNotPossible: 10074,
  /** A stream with `discard: new` has no room. */
  streamFull: 10077,
} as const;

export function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'number' ? code : undefined;
}

/** Somebody else wrote in between: read again, then decide. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === CODES.wrongSequence || code === CODES.wrongSequenceUnknown;
}

const PASSING = new Set(['TimeoutError', 'NoResponders', 'JetStreamNotEnabled', 'ConnectionError', 'RequestError']);
/** Server errors of an election under way: no leader yet, no quorum, not ready. */
const PASSING_CODES = new Set([503, 10008, 10009, 10004]);

/** The server's configuration forbids it to this user. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && (error.name === 'PermissionViolationError' || isForbidden(error.cause));
}

/** True for what an election or a lost server causes: the same call succeeds when it is over. */
export function passes(error: unknown): boolean {
  if (!(error instanceof Error) || isForbidden(error)) return false;
  const code = codeOf(error);
  if (code !== undefined && PASSING_CODES.has(code)) return true;
  return PASSING.has(error.name) || (error.cause instanceof Error && PASSING.has(error.cause.name));
}

/** Why no connection came to be. */
export function connectError(error: unknown, shown: string): SkeinError {
  const { message = String(error), cause } = error as Error;
  // What Node adds is for those who write programs.
  const said = harmless(((cause as Error)?.message || message).replace(/; if the root CA.*/s, ''));
  const options = { cause: error };
  if ((error as Error).name === 'AuthorizationError' || /authorization|authentication/i.test(said))
    return new SkeinError(
      'refused',
      `The engine at ${shown} refuses this key or password.`,
      "Check nkey=FILE (or user and password) against the users in the server's configuration.",
      options,
    );
  if (/does not support 'tls'|tls.*not available/i.test(said))
    return new SkeinError(
      'refused',
      `The engine at ${shown} has no TLS.`,
      'Write nats:// instead of tls://, without ca= and cert=, or add a tls block to its configuration.',
      options,
    );
  if (/certificate|altname|self.signed|tls|ssl/i.test(said))
    return new SkeinError(
      'refused',
      `The engine at ${shown} and this machine do not trust each other's certificates: ${said.trim()}.`,
      'Name the authority with ?ca=FILE (and cert=FILE&key=FILE if the server asks for one), and connect by the name in it.',
      options,
    );
  return new SkeinError(
    'no-engine',
    `No engine answers at ${shown} (${said.trim()}).`,
    'Check the address, and that nats-server runs there.',
    options,
  );
}

export function oldServerError(found: string, shown: string): SkeinError {
  return new SkeinError(
    'version-mismatch',
    `The engine at ${shown} is nats-server ${harmless(found)}; a cluster needs ${LEAST_SERVER} or newer, because older ones ` +
      'lose streams in crashes, or let two peers win the same compare-and-set.',
    'Debian 13 has a newer one; docs/guides/cluster.md says how to get it elsewhere.',
  );
}

export function forbiddenError(error: unknown): SkeinError {
  return new SkeinError(
    'refused',
    `The engine does not allow this key what a peer does (${harmless((error as Error).message)}).`,
    "Use a peer's key; with a viewer's, skein peers and the commands that read work. docs/guides/cluster.md has the permissions.",
    { cause: error },
  );
}

export function noJetStreamError(shown: string): SkeinError {
  return new SkeinError(
    'bad-config',
    `The engine at ${shown} has no JetStream for this user.`,
    'Add a jetstream block to its configuration, and "jetstream: enabled" to the account.',
  );
}
