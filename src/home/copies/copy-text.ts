/** The text of a stored copy in Unicode, as its headers and its own words say it is written. */
import type { Stored } from '../../archive/read.ts';
import { charsetOf, toUtf8 } from '../../crawler/analysis/charset.ts';

export function textOf(stored: Pick<Stored, 'headers' | 'decoded'>, limit?: number): string {
  const { bytes } = stored.decoded(limit);
  const charset = charsetOf(bytes, stored.headers.get('content-type'));
  return Buffer.from(toUtf8(bytes, charset.name)).toString();
}

const TEXTUAL = /^(?:text\/|application\/(?:.*[+])?(?:json|xml|javascript|x-javascript|ecmascript)\b|image\/svg|$)/i;

/** A body as JSON can hold it: text in Unicode, anything else in base64. Text that holds zeros is none. */
export function bodyOf(
  stored: Pick<Stored, 'headers' | 'decoded'>,
): { readonly body: string } | { readonly base64: string } {
  const text = TEXTUAL.test(stored.headers.get('content-type') ?? '') ? textOf(stored) : '\0';
  return text.includes('\0') ? { base64: Buffer.from(stored.decoded().bytes).toString('base64') } : { body: text };
}
