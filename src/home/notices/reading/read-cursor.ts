/**
 * The site's own face: changes since a cursor, and the manifest where there is no cursor yet or the site's history is
 * another than the one that we read (a backup, a new journal). A day without changes is one small request.
 *
 * What a site says of itself is held to the limits of the protocol, and every page to the site's own server.
 */
import { DAY, HOUR } from '../../../base/clock.ts';
import { SkeinError } from '../../../base/errors.ts';
import { originOf } from '../../../base/url.ts';
import type { FaceState } from '../../../ledger/schedule/faces.ts';
import type { Notice } from '../../../notices/notice.ts';
import { decodeChanges } from '../../../notices/site/changes.ts';
import { DETECTOR, decodeDiscovery, decodeFailure, siteLimits } from '../../../notices/site/discovery.ts';
import { byPathHash } from '../../../notices/site/paths.ts';
import { type AskedFaces, type Done, type FoundFaces, NOTHING } from '../messages.ts';
import { type Answered, type Asking, NoAnswer } from './asking.ts';
import { details, type Holdings, reconcile } from './reconcile.ts';

interface CursorParts {
  readonly asking: Asking;
  readonly holdings: Holdings;
  /** For sites that want one; undefined = we have none. */
  readonly token: string | undefined;
  /** We have a certificate to show to it. */
  readonly certified?: boolean;
}

const EVERY = HOUR / 4;
/** Until the next question where a watch waits for the site's word: it is asked, and keeps us waiting, all the time. */
const AT_ONCE = 1000;

/** `wait`: seconds that the site may keep us waiting for a change. */
export async function pollCursor(parts: CursorParts, face: AskedFaces, wait: number): Promise<Done> {
  const { state } = face;
  const asked = parts.asking.now;
  const done = await askChanges(parts, face, wait);
  // One that says "nothing" without having waited does not keep readers waiting: it is asked now and then.
  const waits = done.notices.length > 0 || state.cursor === undefined || parts.asking.now - asked >= wait * 500;
  const listens = wait > 0 && waits && done.trouble === '' && done.every === EVERY;
  return listens ? { ...done, every: AT_ONCE } : done;
}

async function askChanges(parts: CursorParts, face: AskedFaces, wait: number): Promise<Done> {
  const { state } = face;
  if (state.cursor === undefined || state.changes === undefined) return begin(parts, face);
  const held = Math.min(wait, siteLimits.wait);
  const url = `${state.changes}?since=${encodeURIComponent(state.cursor)}${held > 0 ? `&wait=${held}` : ''}`;
  const answer = await ask(parts, url, held > 0);
  const { comparing: _, compared: __, ...rest } = state;
  if (answer.status === 204) return finished(rest, []);
  if (answer.status !== 200) {
    const failure = decodeFailure(answer.status, text(answer));
    if (failure.reconcile) return compare(parts, state, face.url);
    // It may have moved: the next poll looks for it anew.
    const known = failure.code === 'slow-down' || failure.code === 'not-ready';
    return { ...NOTHING, state: known ? state : {}, every: EVERY, trouble: failure.message };
  }
  const ours = byPathHash(() => Array.from(parts.holdings(originOf(face.url)), each => each.url));
  const { cursor, more, changes } = decodeChanges(answer.body, face.url, ours);
  const notices = changes.map(({ url, operation, kind, time, content }): Notice => {
    const change = operation === 'create' ? 'created' : operation === 'update' ? 'updated' : 'deleted';
    return { kind: 'cursor', url, change, time, ...details(change, kind, content) };
  });
  return { ...finished({ ...rest, cursor }, notices), ...(more && { every: 0 }) };
}

/** Finds out where things are, and what the site has. */
async function begin(parts: CursorParts, { url, state }: AskedFaces): Promise<Done> {
  const answer = await parts.asking.own({ url, maxBytes: siteLimits.discoveryBytes, accept: 'application/json' });
  if (answer.status !== 200) return { ...NOTHING, state, every: 24 * HOUR, trouble: `it answers ${answer.status}` };
  const found = decodeDiscovery(text(answer), answer.url);
  if (originOf(found.site) !== originOf(url)) throw new NoAnswer('it announces changes of another server');
  if ((found.access === 'certificate' && !parts.certified) || (found.access === 'token' && parts.token === undefined)) {
    return { ...NOTHING, state, every: 24 * HOUR, trouble: `it requires a ${found.access}` };
  }
  // Hashes of another detector say nothing of what we hold: everything would seem to have changed.
  const comparable = found.detector === DETECTOR;
  const { changes, manifest, pagesAt } = found;
  const next: FaceState = { ...state, changes, manifest, pagesAt };
  const done = comparable ? await compare(parts, next, url) : finished({ ...next, cursor: found.journal.cursor }, []);
  return { ...done, found: hubOf(found) };
}

function hubOf({
  hub,
  topics = [],
}: {
  hub?: string | undefined;
  topics?: readonly string[] | undefined;
}): FoundFaces[] {
  if (hub === undefined || topics.length === 0) return [];
  return [
    { kind: 'hub', url: hub, where: 'well-known' },
    { kind: 'topic', url: topics[0]!, where: 'well-known' },
  ];
}

/**
 * Compares all that the site has with what we hold, or goes on with it. A site whose history is another one each time is
 * asked later and later: comparing costs more than any other question.
 */
async function compare(parts: CursorParts, before: FaceState, site: string): Promise<Done> {
  const { holdings } = parts;
  const found = await reconcile({ holdings, read: url => body(parts, url) }, before, site);
  const { notices, unspoken, more } = found;
  if (more) return { ...finished(found.state, notices), unspoken, every: 0 };
  const { compared = 0 } = before;
  const every = Math.min(DAY, EVERY * 2 ** compared);
  return { ...finished({ ...found.state, compared: compared + 1 }, notices), unspoken, every };
}

function finished(state: FaceState, notices: readonly Notice[]): Done {
  return { ...NOTHING, notices, state, every: EVERY, granted: true, pagesAt: state.pagesAt ?? '' };
}

async function body(parts: CursorParts, url: string): Promise<Uint8Array> {
  const answer = await ask(parts, url);
  if (answer.status === 200) return answer.body;
  throw new NoAnswer(decodeFailure(answer.status, text(answer)).message);
}

function ask({ asking, token }: CursorParts, url: string, held = false): Promise<Answered> {
  const { answerBytes: maxBytes } = siteLimits;
  return asking.own(
    { url, maxBytes, accept: '*/*', ...(token && { authorization: `Bearer ${token}` }) },
    held ? 'held' : 'whole',
  );
}

function text({ body }: Answered): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

/** A sentence for what a site sent that cannot be read. */
export function inWords(error: unknown): string {
  if (error instanceof NoAnswer || error instanceof SkeinError) return error.message;
  throw error;
}
