/** What is wrong, said to a program: options and calls by the names that they have in the library. */
import { SkeinError } from '../../base/errors.ts';

const calls: ReadonlySet<string> = new Set([
  'crawl',
  'refresh',
  'watch',
  'search',
  'export',
  'extract',
  'changes',
  'forget',
]);
const NAMED = /"skein ([a-z]+)[^"]*"|--set ([a-z][a-z-]*)(?:=\S*\w)?|--([a-z][a-z-]*)/g;

const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Commands that no call stands for keep their names. */
function spoken(text: string): string {
  return text.replace(NAMED, (all, command?: string, setting?: string, option?: string) => {
    if (command !== undefined) return calls.has(command) ? `${command}()` : all;
    return camel(setting ?? option!);
  });
}

/** Throws what the work throws. */
export async function inOwnWords<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw ownError(error);
  }
}

export function ownError(error: unknown): unknown {
  if (!(error instanceof SkeinError)) return error;
  const [message, hint] = [spoken(error.message), error.hint === undefined ? undefined : spoken(error.hint)];
  if (message === error.message && hint === error.hint) return error;
  return new SkeinError(error.code, message, hint, { cause: error });
}
