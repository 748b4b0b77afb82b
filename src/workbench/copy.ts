/** Stored copies as documents for a sandboxed frame: HTML made safe, text as text, small images as images. */
import { mediaType, type Stored } from '../archive/read.ts';
import { SkeinError } from '../base/errors.ts';
import { textOf } from '../home/copies/copy-text.ts';
import { FLAG_NOARCHIVE } from '../ledger/pages/known-row.ts';
import { marked } from './marked-copy.ts';
import type { Reader } from './reader.ts';
import { escaped, safeDocument, safeHtml } from './safe-copy.ts';

/** Bytes that are looked at. */
const MOST_TEXT = 8_000_000;
const MOST_IMAGE = 4_000_000;

/** No scripts, no origin, no forms, no requests: even if something slipped through, it could do nothing. */
export const COPY_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** Another version of the page, named by its visit: what came since that one is marked, or what went until it. */
export interface Against {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export function copyDocument(reader: Reader, visitId: number, { since, until }: Against = {}): string {
  const visit = reader.visit(visitId);
  const flags = reader.ledger.pages.known(visit.page)?.flags ?? 0;
  if (flags & FLAG_NOARCHIVE) throw new SkeinError('refused', 'The page asks not to be shown from an archive.');
  const stored = reader.copies.of(visit);
  if (!stored) throw new SkeinError('not-found', 'That visit stored no copy.');
  const other = since ?? until;
  if (other === undefined) return safeDocument(bodyOf(stored));
  const against = reader.visit(other);
  const version = against.page === visit.page ? reader.copies.of(against) : undefined;
  if (!version) throw new SkeinError('not-found', 'One of the two versions is not stored.');
  return safeDocument(marked(bodyOf(stored), bodyOf(version), since === undefined ? 'went' : 'came'));
}

function bodyOf(stored: Stored): string {
  const type = mediaType(stored.headers);
  if (/^image\/(png|jpeg|gif|webp|avif)$/.test(type) && stored.body.length < MOST_IMAGE) {
    const bytes = Buffer.from(stored.decoded(MOST_IMAGE).bytes);
    return `<img alt="" src="data:${type};base64,${bytes.toString('base64')}">`;
  }
  if (type === 'text/html' || type === 'application/xhtml+xml' || type === '')
    return safeHtml(textOf(stored, MOST_TEXT));
  if (/^text\/|[/+](json|xml)$|javascript/.test(type)) return `<pre>${escaped(textOf(stored, MOST_TEXT))}</pre>`;
  return `<p>${stored.body.length.toLocaleString('en')} bytes of ${escaped(type)}: nothing that could be shown here.</p>`;
}
