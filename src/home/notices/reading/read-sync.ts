/**
 * ResourceSync: from a source description or capability list down to change lists, and a resource list where there are
 * none. Only what lies on the server is read, few documents a poll, and of the change lists those that go on after what was
 * read before.
 */
import { DAY, HOUR } from '../../../base/clock.ts';
import { originOf } from '../../../base/url.ts';
import type { FaceState } from '../../../ledger/schedule/faces.ts';
import { MOST_NOTICES, type Notice } from '../../../notices/notice.ts';
import { parseSync, type SyncDocument, type SyncEntry } from '../../../notices/resourcesync.ts';
import { type AskedFaces, type Done, NOTHING } from '../messages.ts';
import { type Answered, type Asking, conditionsOf, validatorsOf } from './asking.ts';
import { listsIn, resourcesIn, unlisted } from './read-resources.ts';
import type { Holdings } from './reconcile.ts';

const MOST_BYTES = 32 << 20;
/** Documents that one poll reads: an index of change lists may go on without end. */
const MOST_DOCUMENTS = 20;
const EVERY = HOUR;
/** How long a change list that goes on is asked alone, without what leads to it. */
const LIST_KNOWN = 7 * DAY;

interface SyncParts {
  readonly asking: Asking;
  readonly holdings: Holdings;
}

interface SyncProgress {
  readonly asking: Asking;
  readonly since: number;
  readonly notices: Notice[];
  until: number;
  /** Up to here everything was read, in whatever order lists come. */
  place: number;
  /** Goes on behind this document of an index; and the last one that was read. */
  readonly after: string | undefined;
  last: string | undefined;
  documents: number;
  /** There was more than one poll reads. */
  cut: boolean;
  /** Validators of a list that is a face by itself, or of the only one that was read. */
  validators: Pick<FaceState, 'etag' | 'lastModified'>;
  /** Lists that were read. */
  lists: number;
  /** The last of them, if it is a change list that goes on. */
  open: string | undefined;
  /** Lists of the pages whose changes the change lists tell. */
  resources: readonly string[];
}

export async function pollSync({ asking, holdings }: SyncParts, { url, state: given }: AskedFaces): Promise<Done> {
  const { list, etag: _, lastModified: __, ...rest } = given;
  if (list && list.found <= asking.now && asking.now - list.found < LIST_KNOWN) {
    const done = await askList(asking, given, list);
    if (done) return done;
  }
  const state: FaceState = list ? rest : given;
  const progress = begin(asking, state);
  const capability = await descend(progress, url);
  if (capability === undefined) return { ...NOTHING, state, every: EVERY };
  if (capability === '') return { ...NOTHING, state, every: DAY, trouble: 'it is not a ResourceSync document' };
  const { notices, until, validators, cut, place, last, resources, open } = progress;
  const found = given.listed === undefined && resources.length > 0 ? await resourcesIn(asking, resources) : undefined;
  const unspoken = found ? unlisted(holdings(originOf(url)!), found) : [];
  const { listed = found?.listed } = given;
  const known = listed === undefined ? {} : { listed };
  if (!cut) {
    const list = open !== undefined && open !== url ? { list: { url: open, found: asking.now } } : {};
    const read = { ...validators, ...list, ...known, ...(until > 0 && { until }) };
    return { ...NOTHING, notices, unspoken, state: read, every: EVERY };
  }
  // Lists that do not say until when they reach are in no order of time: what is left may be older than what was read.
  const further = { ...known, ...(place > 0 && { until: place }), ...(last && { after: last }), reached: until };
  const moved = place > progress.since || last !== state.after;
  return { ...NOTHING, notices, unspoken, state: further, every: moved ? 0 : EVERY };
}

function begin(asking: Asking, state: FaceState): SyncProgress {
  const since = state.until ?? 0;
  return {
    ...{ asking, since, notices: [], until: Math.max(since, state.reached ?? 0), documents: 0, cut: false },
    ...{ after: state.after, last: state.after, place: since, lists: 0, open: undefined },
    resources: [],
    validators: conditionsOf(state) as SyncProgress['validators'],
  };
}

/** Asks a change list that is known; undefined = it is no longer what it was. */
async function askList(
  asking: Asking,
  state: FaceState,
  { url }: NonNullable<FaceState['list']>,
): Promise<Done | undefined> {
  const progress = begin(asking, state);
  const answer = await ask(progress, url, true);
  if (answer.status === 304) return { ...NOTHING, state, every: EVERY };
  const document = answer.status === 200 ? parseSync(answer.body, answer.url) : undefined;
  if (document?.capability !== 'changelist' || document.index || document.until > 0) return undefined;
  take(progress, document);
  const { notices, until } = progress;
  const { etag: _, lastModified: __, ...rest } = state;
  const read = { ...rest, ...validatorsOf(answer.headers), ...(until > 0 && { until }) };
  return { ...NOTHING, notices, state: read, every: EVERY };
}

function ask(progress: SyncProgress, url: string, conditional: boolean): Promise<Answered> {
  const { asking, validators } = progress;
  const asked = { url, maxBytes: MOST_BYTES, accept: 'application/xml, */*;q=0.5' };
  return asking.own({ ...asked, ...(conditional && validators) });
}

/** The capability of the document; undefined = it has not changed. */
async function descend(progress: SyncProgress, url: string): Promise<string | undefined> {
  const top = await read(progress, url, true);
  if (top === undefined) return undefined;
  await follow(progress, top, 0);
  return top.capability;
}

const lists = new Set(['changelist', 'resourcelist']);

async function follow(progress: SyncProgress, document: SyncDocument, depth: number): Promise<void> {
  const { capability, index, entries } = document;
  if (lists.has(capability) && !index) return take(progress, document);
  if (depth > 3) return;
  if (capability === 'capabilitylist' && listsIn(entries, 'changelist').length > 0)
    progress.resources = listsIn(entries, 'resourcelist');
  for (const entry of worthReading(progress, document, entries)) {
    if (progress.documents >= MOST_DOCUMENTS) {
      progress.cut = true;
      return;
    }
    const below = await read(progress, entry.url, false);
    if (below) await follow(progress, below, depth + 1);
    if (progress.cut) return;
    // What was read up to here is a place to go on from.
    if (entry.until > 0) progress.until = progress.place = Math.max(progress.place, entry.until - 1);
    else if (document.index) progress.last = entry.url;
  }
}

/** Parts of an index that reach beyond what is known; of the lists of a set, its changes before its resources. */
function worthReading(
  { since, after }: SyncProgress,
  { capability, index }: SyncDocument,
  entries: readonly SyncEntry[],
): readonly SyncEntry[] {
  if (index) {
    const begun = entries.findIndex(({ url }) => url === after) + 1;
    return entries.slice(begun).filter(({ until }) => until === 0 || until > since);
  }
  if (capability === 'description') return entries.filter(each => each.capability === 'capabilitylist');
  if (capability !== 'capabilitylist') return [];
  const changes = entries.filter(each => each.capability === 'changelist');
  return changes.length > 0 ? changes : entries.filter(each => each.capability === 'resourcelist');
}

async function read(progress: SyncProgress, url: string, first: boolean): Promise<SyncDocument | undefined> {
  progress.documents++;
  const answer = await ask(progress, url, first);
  if (answer.status !== 200) return undefined;
  const document = parseSync(answer.body, answer.url);
  const { capability, index, until } = document;
  const isList = lists.has(capability) && !index;
  if (isList) progress.lists++;
  // Only a list can be asked whether it has changed, and only if there is one: what a description leads to changes below it.
  progress.validators = isList && progress.lists === 1 ? validatorsOf(answer.headers) : {};
  progress.open = capability === 'changelist' && isList && progress.lists === 1 && until === 0 ? answer.url : undefined;
  if (!first && progress.open === undefined) progress.validators = {};
  return document;
}

function take(progress: SyncProgress, { capability, entries }: SyncDocument): void {
  const news = entries.filter(({ time }) => time === 0 || time > progress.since);
  // A list is taken whole, or the next poll begins with it: one alone is never more than a batch.
  if (progress.notices.length > 0 && progress.notices.length + news.length > MOST_NOTICES) {
    progress.cut = true;
    return;
  }
  for (const { url, time, change, sha256 } of news) {
    progress.until = Math.max(progress.until, Math.min(time, progress.asking.now));
    const changed = change || (capability === 'resourcelist' ? 'created' : 'updated');
    progress.notices.push({ kind: 'resourcesync', url, change: changed, time, ...(sha256 && { sha256 }) });
  }
}
