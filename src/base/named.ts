/** Things that a user chooses by name: detectors, estimators, policies. */
import { SkeinError } from './errors.ts';

/** `kind` as a person calls it. Throws 'bad-option' with the names there are. */
export function named<T>(kind: string, table: Readonly<Record<string, T>>, name: string): T {
  if (Object.hasOwn(table, name)) return table[name]!;
  throw new SkeinError(
    'bad-option',
    `There is no ${kind} named "${name}".`,
    `Choose one of ${Object.keys(table).join(', ')}.`,
  );
}
