/**
 * Who we say we are. A site's owner who wonders about a crawler finds its name, and whom to ask, in the User-Agent. Skein
 * cannot know whom: whoever runs it says so with --agent, and is told once a collection when nobody did.
 */
import { isIP } from 'node:net';
import { isPublic } from '../crawler/fetch/addresses.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { version } from './version.ts';

export function userAgent(contact: string | undefined): string {
  return contact === undefined ? `Skein/${version}` : `Skein/${version} (+${contact})`;
}

const TOLD = 'told-of-contact';

/** The sentence for somebody who is about to crawl other people's servers without a contact; undefined = nothing to say. */
export function missingContact(ledger: Ledger, contact: string | undefined): string | undefined {
  if (contact !== undefined || ledger.setting<boolean>(TOLD)) return undefined;
  if (![...ledger.servers.all()].some(({ origin }) => !isOwn(new URL(origin).hostname))) return undefined;
  ledger.begin();
  ledger.set(TOLD, true);
  ledger.commit();
  return (
    `The User-Agent "${userAgent(undefined)}" names nobody whom the owners of these sites could ask: ` +
    'give a web page or mail address with --agent, or as "agent" in skein.config.json.'
  );
}

function isOwn(host: string): boolean {
  const bare = host.replace(/[[\]]/g, '');
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(bare) !== 0 && !isPublic(bare));
}
