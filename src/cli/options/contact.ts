/**
 * Who we say we are. A site's owner who wonders about a crawler finds its name, and whom to ask, in the User-Agent. Skein
 * cannot know whom: whoever runs it says so with --agent, once a collection, and is told once when nobody did. Until then
 * the address is that of the rules which we obey, by which the owner can keep us away without asking anybody.
 */
import { isIP } from 'node:net';
import { version } from '../../base/version.ts';
import { isPublic } from '../../crawler/fetch/addresses.ts';
import { rememberedContact } from '../../engine/contact.ts';
import { userAgent } from '../../errand/agent.ts';
import type { Settings } from '../../ledger/collection/settings.ts';
import type { Ledger } from '../../ledger/ledger.ts';

const TOLD = 'told-of-contact';

/** The sentence for somebody who is about to crawl other people's servers without a contact; undefined = nothing to say. */
export function missingContact(settings: Settings, ledgers: readonly Ledger[]): string | undefined {
  if (rememberedContact(settings) !== undefined || settings.get<boolean>(TOLD)) return undefined;
  const servers = ledgers.flatMap(ledger => [...ledger.servers.all()]);
  if (!servers.some(({ origin }) => !isOwn(new URL(origin).hostname))) return undefined;
  for (const ledger of ledgers) ledger.begin();
  settings.set(TOLD, true);
  for (const ledger of ledgers) ledger.commit();
  return (
    `The User-Agent "${userAgent(version)}" names no contact for the owners of these sites: ` +
    'give a web page or mail address with --agent; it is remembered.'
  );
}

function isOwn(host: string): boolean {
  const bare = host.replace(/[[\]]/g, '');
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(bare) !== 0 && !isPublic(bare));
}
