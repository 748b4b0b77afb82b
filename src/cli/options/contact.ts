/**
 * Who we say we are. A site's owner who wonders about a crawler finds its name, and whom to ask, in the User-Agent. Skein
 * cannot know whom: whoever runs it says so with --agent, once a collection, and is told once when nobody did. Until then
 * the address is that of the rules which we obey, by which the owner can keep us away without asking anybody.
 */
import { isIP } from 'node:net';
import { SkeinError } from '../../base/errors.ts';
import { isPublic } from '../../crawler/fetch/addresses.ts';
import { isContact, userAgent } from '../../errand/agent.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { version } from '../version.ts';

const EXAMPLE = 'Write it as https://example.org/crawler or mailto:me@example.org.';
const CONTACT = 'contact';
const TOLD = 'told-of-contact';

/** The contact that was given now, else the one given last: a refresh by cron is by the same people. In a transaction. */
export function rememberedContact(ledger: Ledger, given: string | undefined): string | undefined {
  if (given !== undefined && !isContact(given)) {
    throw new SkeinError('bad-option', 'A contact is one line of plain characters without brackets.', EXAMPLE);
  }
  if (given !== undefined) ledger.set(CONTACT, given);
  return given ?? ledger.setting<string>(CONTACT);
}

/** The sentence for somebody who is about to crawl other people's servers without a contact; undefined = nothing to say. */
export function missingContact(ledger: Ledger): string | undefined {
  if (ledger.setting<string>(CONTACT) !== undefined || ledger.setting<boolean>(TOLD)) return undefined;
  if (![...ledger.servers.all()].some(({ origin }) => !isOwn(new URL(origin).hostname))) return undefined;
  ledger.begin();
  ledger.set(TOLD, true);
  ledger.commit();
  return (
    `The User-Agent "${userAgent(version)}" names nobody whom the owners of these sites could ask: ` +
    'give a web page or mail address with --agent; it is remembered.'
  );
}

function isOwn(host: string): boolean {
  const bare = host.replace(/[[\]]/g, '');
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(bare) !== 0 && !isPublic(bare));
}
