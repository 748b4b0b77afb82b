/**
 * Images that are watched, not kept. A look asks for the headers alone and compares the length, or the validators
 * where the server tells no length. Only an image that its headers say is another is fetched, and from
 * then on it is known by its bytes.
 *
 * The length comes before validators, because many sites date all of their files anew with each deployment: on the
 * recorded ones validators brought home 12 MB of images in eight days, though 34 of 461 change in sixty.
 * Validators that brought the same bytes again are worth nothing, and are forgotten.
 */
import type { Errand } from '../../errand/errand.ts';
import { bareFacts, type Facts, packFacts, unpackFacts } from '../../errand/facts.ts';
import type { Known } from '../../errand/known.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Response } from '../stages.ts';

/** How a page is asked for: whole, only if it changed, or for its headers alone. */
export type Manner = 'whole' | 'conditional' | 'head';

/** In the place of the hashes while only the headers are known. */
const UNSEEN = new Uint8Array(16);

export function isWatched({ scope }: Pick<Errand, 'scope'>, known: Known): boolean {
  return known.role === 'image' && !scope.images;
}

export function mannerOf(errand: Errand, known: Known): Manner {
  if (isWatched(errand, known)) return 'head';
  return errand.server.trustValidators ? 'conditional' : 'whole';
}

type Headers = Response['headers'];
type Glance = Pick<Visit, 'outcome' | 'stage' | 'facts'> & { readonly reason: 'watched' | 'unwatchable' };

/** What the answer to a HEAD says of an image; undefined = it is another, and its bytes are wanted. */
export function glance(known: Known, { status, headers }: Response): Glance | undefined {
  const length = lengthOf(headers);
  const before = known.facts && unpackFacts(known.facts);
  const tagged = before ? (known.etag ?? known.lastModified) : (headers.get('etag') ?? headers.get('last-modified'));
  const telling = length > 0 || tagged !== undefined;
  if (status !== 200 || !telling || /^text\/html/i.test(headers.get('content-type') ?? '')) {
    return { outcome: 'refused', reason: 'unwatchable' };
  }
  if (before) {
    const same = length > 0 ? length === before.words : hasSameTag(known, headers);
    return same ? { outcome: 'same', reason: 'watched', stage: 'validator' } : undefined;
  }
  const facts = packFacts({ ...bareFacts(UNSEEN, UNSEEN), words: length });
  return { outcome: 'same', reason: 'watched', stage: 'first', facts };
}

/** Machines behind one name have tags of their own for one file, but they agree on its date. */
function hasSameTag(known: Known, headers: Headers): boolean {
  const etag = headers.get('etag');
  const date = headers.get('last-modified');
  return (
    (etag !== undefined && known.etag?.includes(etag) === true) || (date !== undefined && date === known.lastModified)
  );
}

/** A server that knows no HEAD. */
export function knowsNoHead(status: number): boolean {
  return status === 405 || status === 501;
}

/** Whether an image that came is another than the one that was known, by its bytes or by its headers. */
export function imageChanged(known: Known, before: Facts, facts: Facts, { headers }: Response): boolean {
  if (Buffer.compare(before.content, UNSEEN) !== 0) return Buffer.compare(before.content, facts.content) !== 0;
  if (before.words > 0) return before.words !== facts.words;
  return !hasSameTag(known, headers);
}

/** Bytes of the image on the wire, 0 = unknown. */
export function lengthOf(headers: Headers): number {
  const text = headers.get('content-length') ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : 0;
}
