/**
 * Every error that Skein throws on purpose, with a stable code. A page that cannot be fetched is never one of these:
 * that is a visit with an outcome. These are for people (bad input, full disk) and for bugs.
 */
export type ErrorCode =
  | 'bad-option' // the user's input is wrong; the message says what to write instead
  | 'bad-seed'
  | 'bad-config'
  | 'not-found' // a URL, a data directory, a version that is not there
  | 'data-in-use' // another process holds the data directory
  | 'data-too-new' // the ledger was written by a newer Skein
  | 'disk-full'
  | 'damaged' // ledger or archive contradict themselves
  | 'bad-frame' // a peer sent bytes that do not decode, or that break a limit
  | 'version-mismatch'
  | 'bad-query'
  | 'refused' // a right is missing: token, key, quota
  | 'incomplete' // a peer does not answer, and what it has is missing
  | 'no-engine' // the engine of a cluster does not answer, or lost what it knew
  | 'internal';

/** Exit codes of the command line, by error code; anything else exits with 1. */
export const exitCodes: Readonly<Partial<Record<ErrorCode, number>>> = {
  'bad-option': 2,
  'bad-seed': 2,
  'bad-config': 2,
  'bad-query': 2,
  'not-found': 3,
  'data-in-use': 4,
  'disk-full': 5,
  damaged: 6,
  incomplete: 8,
};

export class SkeinError extends Error {
  readonly code: ErrorCode;
  /** What to do next, one sentence; shown below the message. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SkeinError';
    this.code = code;
    this.hint = hint;
  }
}

/** What the operating system says of a file, without its codes and calls: `no such file or directory`. */
export function systemWords(error: unknown): string {
  return (error as Error).message.replace(/^E[A-Z0-9]+: (.*?), \w+(?: '.*)?$/s, '$1');
}
