/** Where a redirect leads. */
import { normalise } from '../../base/url.ts';

/**
 * The normal form of what the header Location says, seen at `url`; undefined without one, or when it is no web page.
 * Headers come as one character a byte. Bytes beyond ASCII are taken as escapes of themselves: a server that sends UTF-8
 * means that, which the URL parser, fed with those characters, would encode once more.
 */
export function locationOf(headers: ReadonlyMap<string, string>, url: string): string | undefined {
  const text = headers.get('location');
  return text === undefined ? undefined : normalise(text.replace(/[\x80-\xff]/g, escaped), url);
}

function escaped(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16)}`;
}
