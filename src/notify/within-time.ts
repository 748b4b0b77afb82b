/**
 * Work that has no step between which it could be asked to stop: an expression that a user wrote, on a page that a stranger
 * wrote, may take longer than anybody lives. The engine ends it from outside, in this very thread.
 */
import { createContext, Script } from 'node:vm';

const call = new Script('work()');

/** Undefined: it took more than so many milliseconds, and was ended. */
export function withinTime<T extends object>(milliseconds: number, work: () => T): T | undefined {
  try {
    return call.runInContext(createContext({ work }), { timeout: milliseconds }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
