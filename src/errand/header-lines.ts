/**
 * The header lines of one answer as a map: names in lower case, lines of the same name joined by commas, as HTTP has it.
 * Only lines of X-Robots-Tag stay apart, each on a line of the value: a name in one of them (`otherbot: noindex`) counts up
 * to the end of that line, and would else take what the next one says for its own. No line can hold a newline itself.
 */
const APART = 'x-robots-tag';

/** Adds a line; the name is in lower case. */
export function addHeader(headers: Map<string, string>, name: string, value: string): void {
  const earlier = headers.get(name);
  headers.set(name, earlier === undefined ? value : `${earlier}${name === APART ? '\n' : ', '}${value}`);
}
