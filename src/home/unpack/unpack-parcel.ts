/**
 * The end of a parcel's way from another machine: pages become WARC records again, and what the outpost left out is read
 * from them. Runs in a thread of its own (unpack-thread.ts): home's thread neither parses nor compresses.
 */
import { hash } from 'node:crypto';
import { SkeinError } from '../../base/errors.ts';
import { derive, type StoredPage } from '../../crawler/analysis/derive.ts';
import type { Errand } from '../../errand/errand.ts';
import { unpackFacts } from '../../errand/facts.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { RecordPlace, Visit } from '../../errand/visit.ts';
import { type Growing, growing } from '../../errand/warc/gzip.ts';
import { appendPage } from '../../errand/warc/page-records.ts';
import { parseHttp } from '../../errand/warc/warc.ts';
import type { Sent, SentPage, SentVisit } from '../../transfer/wire/wire-visit.ts';

/** Below this, or where it would not shrink, a body is stored as it is. */
const SMALL_BODY = 512;
const TEXT = /^(?:text\/|image\/svg|application\/(?:[\w.-]+\+)?(?:xml|json|javascript|xhtml))/;

interface ParcelName {
  readonly sequence: number;
  readonly done: boolean;
}

export function restoreParcel(sent: Sent, errand: Errand, name: ParcelName, agentToken: string): Parcel {
  const members = growing(1 << 20);
  const visits = sent.visits.map(each => restoreVisit(each, errand, members, agentToken));
  return {
    errand: errand.id,
    sequence: name.sequence,
    done: name.done,
    visits,
    members: members.bytes.slice(0, members.length),
    ...(sent.server && { server: sent.server }),
  };
}

function restoreVisit({ visit, page }: SentVisit, errand: Errand, members: Growing, agentToken: string): Visit {
  if (!page) return visit;
  const digest = hash('sha256', page.body, 'buffer');
  const derived = derive(storedPage(visit, page, digest), errand, agentToken);
  if (!derived)
    throw new SkeinError('bad-frame', `${visit.url} has a Content-Encoding that the outpost cannot have decoded.`);
  const { facts, ...bare } = visit; // said of an image, and taken into account
  const kept = !derived.page!.filtered && !derived.page!.noarchive;
  return { ...bare, ...derived, ...(kept && { record: keepPage(members, visit, page, digest) }) };
}

function storedPage({ url, status, facts }: Visit, page: SentPage, digest: Uint8Array): StoredPage {
  const { headers } = parseHttp(page.head)!; // sent-checks.ts has seen to it
  const image = facts && unpackFacts(facts);
  return { url, status, headers, body: page.body, digest, truncated: page.truncated, ...(image && { image }) };
}

function keepPage(members: Growing, { url, time }: Visit, page: SentPage, digest: Uint8Array): RecordPlace {
  const { head, body, truncated } = page;
  const cut = truncated === 'length' || truncated === 'time' || truncated === 'disconnect' ? truncated : undefined;
  // Small effort: this thread has time, and the archive is for long.
  const text = body.length >= SMALL_BODY && TEXT.test(typeOf(head));
  return appendPage(members, { url, time, digest, response: { ...page, truncated: cut } }, text ? 'small' : 'stored');
}

function typeOf(head: Uint8Array): string {
  return /\ncontent-type[ \t]*:[ \t]*([^\r\n;]*)/i.exec(Buffer.from(head).toString('latin1'))?.[1]?.toLowerCase() ?? '';
}
