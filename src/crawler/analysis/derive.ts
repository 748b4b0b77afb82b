/**
 * What a visit says of a page, found again from the stored page: facts, links, notes, validators. A parcel from another
 * machine leaves them out, and home reads them from the body that it stores. What is known of a page then is what its
 * copy says, whoever brought it.
 */

import type { Errand } from '../../errand/errand.ts';
import { type Facts, packFacts, unpackFacts } from '../../errand/facts.ts';
import { compileKeep } from '../../errand/scope/scope.ts';
import type { Visit } from '../../errand/visit.ts';
import { decodeBody } from '../../errand/warc/decode.ts';
import { notesOf, validators } from '../conclude.ts';
import { ivalOf, withImage } from '../detect/image.ts';
import { lengthOf } from '../detect/watched-image.ts';
import type { Page } from '../stages.ts';
import { analyse } from './analyse.ts';
import { withImages } from './image-links.ts';

export interface StoredPage {
  readonly url: string;
  readonly status: number;
  /** Names in lower case, as the archive keeps them. */
  readonly headers: ReadonlyMap<string, string>;
  /** As the archive keeps it. */
  readonly body: Uint8Array;
  /** SHA-256 of that, 16 bytes at least. */
  readonly digest: Uint8Array;
  /** Why it is not all that the server had; empty = it is. */
  readonly truncated: string;
  /** Of an image: what whoever fetched it says of it; only its look and its code are taken over. */
  readonly image?: Facts | undefined;
}

type Derived = Pick<Visit, 'facts' | 'links' | 'page' | 'etag' | 'lastModified'>;

const PARTIAL_CONTENT = 206;

/** Undefined: its content coding does not come off, so that nobody can have read it. */
export function derive(stored: StoredPage, errand: Errand, agentToken: string): Derived | undefined {
  const { url, status, headers, body, digest, image } = stored;
  const decoded = decodeBody(body, headers.get('content-encoding'), errand.limits);
  if (decoded.kind === 'failed') return undefined;
  const page = analyse({ url, headers, body: decoded.bytes, raw: digest }, { focus: errand.scope.focus, agentToken });
  const truncated = stored.truncated !== '' || decoded.truncated !== undefined || status === PARTIAL_CONTENT;
  const filtered = !compileKeep(errand.scope.keep)({ url, page });
  return {
    facts: image ? imageFacts(page, stored, image) : page.facts,
    links: errand.scope.images ? withImages(page.links, page.images) : page.links,
    page: notesOf(page, truncated, filtered),
    // What broke off must not be taken for the whole at the next visit.
    ...((stored.truncated === '' || stored.truncated === 'length') && validators({ headers })),
  };
}

function imageFacts(page: Page, { headers, body }: StoredPage, told: Facts): Uint8Array {
  const length = headers.get('x-archive-orig-content-length') ?? headers.get('content-length') ?? '';
  const words = lengthOf(new Map([['content-length', length]])) || body.length;
  return packFacts(withImage({ ...unpackFacts(page.facts)!, words }, { look: told.mainHash, ival: ivalOf(told) }));
}
