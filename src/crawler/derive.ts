/**
 * What a visit says of a page, found again from the stored page: facts, links, notes, validators. A parcel from another
 * machine leaves them out, and home reads them from the body itself.
 */
import type { Errand } from '../errand/errand.ts';
import type { Visit } from '../errand/visit.ts';
import { analyse } from './analyse.ts';
import { notesOf, validators } from './conclude.ts';
import { withImages } from './image-links.ts';

export interface StoredPage {
  readonly url: string;
  /** Names in lower case, as the server sent them. */
  readonly headers: ReadonlyMap<string, string>;
  /** Without content coding, whole. */
  readonly body: Uint8Array;
  /** Digest of the body as it came, 16 bytes. */
  readonly raw: Uint8Array;
}

export function derive(
  page: StoredPage,
  errand: Errand,
  agentToken: string,
): Pick<Visit, 'facts' | 'links' | 'page' | 'etag' | 'lastModified'> {
  const analysed = analyse(page, { focus: errand.scope.focus, agentToken });
  return {
    facts: analysed.facts,
    links: errand.scope.images ? withImages(analysed.links, analysed.images) : analysed.links,
    page: notesOf(analysed, false, false),
    ...validators(page),
  };
}
