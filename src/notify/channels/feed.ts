/** What was told lately, as Atom and as RSS: for readers of feeds. */
import { escaped, htmlOf, type Message, subjectOf } from '../message.ts';

export function atomOf(rule: string, messages: readonly Message[]): string {
  const entries = messages.map(
    message => `<entry><id>urn:skein:${message.id}</id><title>${escaped(subjectOf(message))}</title><updated>${timeOf(message)}</updated>
<link href="${escaped(message.changes[0]?.url ?? '')}"/><content type="html">${escaped(htmlOf(message))}</content></entry>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:skein:rule:${rule}</id><title>${escaped(rule)}</title><author><name>Skein</name></author>
<updated>${messages[0] ? timeOf(messages[0]) : '1970-01-01T00:00:00.000Z'}</updated>
${entries.join('\n')}
</feed>
`;
}

export function rssOf(rule: string, messages: readonly Message[]): string {
  const items = messages.map(
    message => `<item><guid isPermaLink="false">urn:skein:${message.id}</guid><title>${escaped(subjectOf(message))}</title>
<pubDate>${new Date(timeOf(message)).toUTCString()}</pubDate><link>${escaped(message.changes[0]?.url ?? '')}</link><description>${escaped(htmlOf(message))}</description></item>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>${escaped(rule)}</title><link>urn:skein:rule:${rule}</link><description>Changes that Skein found</description>
${items.join('\n')}
</channel></rss>
`;
}

const timeOf = ({ changes }: Message) => changes.at(-1)!.time;
