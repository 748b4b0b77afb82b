/** The contact for owners of sites, which the user names once for each collection. */
import { SkeinError } from '../base/errors.ts';
import { isContact } from '../errand/agent.ts';
import type { Settings } from '../ledger/collection/settings.ts';

const EXAMPLE = 'Write it as https://example.org/crawler or mailto:me@example.org.';
const CONTACT = 'contact';

/** The contact given now, or else the last one: a refresh by cron is run by the same people. In a transaction. */
export function rememberedContact(settings: Settings, given?: string): string | undefined {
  if (given !== undefined && !isContact(given)) {
    throw new SkeinError('bad-option', 'A contact is one line of plain characters without brackets.', EXAMPLE);
  }
  if (given !== undefined) settings.set(CONTACT, given);
  return given ?? settings.get<string>(CONTACT);
}
