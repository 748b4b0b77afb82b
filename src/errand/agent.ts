/**
 * Who we say we are, wherever we run. The name is the product's: no errand, home or parent can make an outpost pose as
 * somebody else. Only whom to ask is home's to say.
 */

/** The name by which robots.txt speaks to us. */
export const AGENT_TOKEN = 'skein';

/** Robots.txt, and how a group of rules addresses a crawler by name (docs/decisions/0018). */
const RULES = 'https://www.rfc-editor.org/rfc/rfc9309';

const LONGEST_CONTACT = 200;

/** `contact`: a web page or mail address; undefined or empty = nobody was named. */
export function userAgent(version: string, contact?: string): string {
  return `Skein/${version} (+${contact || RULES})`;
}

/** One line of printable characters that cannot end the comment in which it stands. */
export function isContact(text: string): boolean {
  return text.length <= LONGEST_CONTACT && !/[^\x20-\x7e]|[()]/.test(text);
}
