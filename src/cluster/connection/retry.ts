/** Calls that an election of the engine interrupts (4 to 8 s) are made again until they succeed. */
import { SkeinError } from '../../base/errors.ts';
import { forbiddenError, isForbidden, passes } from './errors.ts';

/** Milliseconds. */
const FIRST_WAIT = 25;
const LONGEST_WAIT = 500;

export interface Patience {
  /** Milliseconds after which the last error is thrown. */
  readonly patience?: number;
  readonly signal?: AbortSignal;
}

/** Longer than an election and a frozen server together. */
const PATIENCE = 30_000;

/**
 * The caller makes sure that making the call twice does no harm: the first one may have arrived although its answer
 * did not.
 */
export async function untilItPasses<T>(
  call: () => Promise<T>,
  { patience = PATIENCE, signal }: Patience = {},
): Promise<T> {
  const start = performance.now();
  for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (isForbidden(error)) throw forbiddenError(error);
      if (!passes(error)) throw error;
      if (performance.now() - start + wait > patience)
        throw new SkeinError(
          'no-engine',
          `The engine did not answer for ${Math.round(patience / 1000)} seconds (${(error as Error).message}).`,
          'Check its servers. This peer keeps what it has and continues when they are back.',
          { cause: error },
        );
    }
    await new Promise(resolve => setTimeout(resolve, wait));
  }
}
