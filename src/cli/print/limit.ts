/** `--limit`: so many lines for people; machines that ask for JSON get everything unless they say otherwise. */
import { SkeinError } from '../../base/errors.ts';

export function limitOf(given: Record<string, unknown>, forPeople: number): number {
  const limit = Number(given['limit'] ?? (given['json'] === true ? Number.MAX_SAFE_INTEGER : forPeople));
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new SkeinError('bad-option', '--limit takes a whole number from 1.');
}
