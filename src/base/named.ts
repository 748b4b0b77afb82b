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

/** The most similar name, if one is close. */
export function nearest(wrong: string, names: readonly string[]): string | undefined {
  const scored = names.map(name => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }));
  const best = scored.sort((a, b) => a.distance - b.distance)[0];
  return best && best.distance <= Math.max(2, wrong.length / 3) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}
