/** The text of a stored copy in Unicode, as its headers and its own words say it is written. */
import type { Stored } from '../archive/read.ts';
import { charsetOf, toUtf8 } from '../crawler/charset.ts';

export function textOf(stored: Stored, limit: number): string {
  const { bytes } = stored.decoded(limit);
  const charset = charsetOf(bytes, stored.headers.get('content-type'));
  return Buffer.from(toUtf8(bytes, charset.name)).toString();
}
