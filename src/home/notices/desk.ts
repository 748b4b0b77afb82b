/**
 * Where what sites tell comes in: looks for faces, polls those whose time has come, renews leases, and gives what they say
 * to the schedule. All that asks and reads is in a thread (notice-reader.ts); here the ledger is written, between two
 * turns of home's loop. It moves due times and takes in URLs; it never visits a page.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, ClockWatch, DAY, HOUR } from '../../base/clock.ts';
import { namesAddress } from '../../base/domain.ts';
import { originOf } from '../../base/url.ts';
import type { ServerTerms } from '../../errand/errand.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Face } from '../../ledger/schedule/faces.ts';
import type { Server } from '../../ledger/servers.ts';
import { tellsAlone } from '../../revisit/pings.ts';
import { applyNotices, noteUnspoken } from './apply.ts';
import type { Done, FoundFaces, Task } from './messages.ts';
import { VERIFY_WITHIN } from './reading/websub.ts';
import { SHARED_TERMS, sharedTerms } from './shared-terms.ts';

interface DeskParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
  readonly reader: { do(task: Task): Promise<Done> };
  /** The address at which hubs reach the public door, without a slash at its end; undefined = they do not. */
  readonly address?: string | undefined;
  /** Told of a site that gives its pages in bulk, and of one that no longer does (empty). */
  readonly bulk?: (origin: string, pagesAt: string) => void;
  /** Told of a server that sends pages as differences from our copies. */
  readonly differences?: (origin: string) => void;
}

/** Tasks under way at once; servers that are searched for faces in one run. */
const MOST_TASKS = 16;
const MOST_SOUGHT = 1000;
/** How long a search for faces holds. */
const SOUGHT_AGAIN = 30 * DAY;
/** Milliseconds between two polls of a face, whatever it says; and between two that go wrong, at most. */
const SOONEST = 1000;
const LATEST = 7 * DAY;
/** Polls in a row that say there is more. */
const MOST_IN_A_ROW = 50;
/** Failures in a row after which a face that never said anything is forgotten. */
const HOPELESS = 8;
/** Faces that make feeds needless once visits have shown that they tell of everything. */
const instead: ReadonlySet<string> = new Set(['resourcesync', 'websub', 'indexnow']);
export const WEBSUB_PATH = '/notices/websub/';

export class NoticeDesk {
  readonly #parts: DeskParts;
  readonly #watch: ClockWatch;
  readonly #underWay = new Set<number>();
  #results: (() => void)[] = [];
  #tasks = 0;
  #asked = 0;
  /** Pages that were named so far and had not been visited yet. */
  added = 0;
  /** Servers whose faces are to be looked for. */
  #toSeek: Server[] | undefined;
  readonly #inARow = new Map<number, number>();
  #isOpen = false;
  /** When it was last looked, in this run, for terms that a site may be told. */
  readonly #lookedForTerms = new Map<string, number>();
  /** Faces that were asked in this run. */
  readonly #askedAhead = new Set<number>();

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#watch = new ClockWatch(parts.clock);
  }

  /** Something is being asked or read. */
  get busy(): boolean {
    return this.#tasks > 0 || this.#results.length > 0;
  }

  /** Called once a turn of home's loop. `ahead`: faces that are due within so many milliseconds are polled now. */
  turn({ ahead = 0, wait = 0 }: { readonly ahead?: number; readonly wait?: number } = {}): void {
    const { ledger, clock, address } = this.#parts;
    const results = this.#results.splice(0);
    if (results.length > 0) ledger.begin();
    for (const take of results) take();
    const ticks = clock.ticks();
    // What was found just now is asked at once: a round waits for it.
    if (results.length === 0 && this.#asked !== 0 && ticks - this.#asked < SOONEST) return;
    this.#asked = ticks;
    const step = this.#watch.step();
    if (step !== 0) {
      ledger.begin();
      ledger.schedule.faces.moveDue(step);
    }
    this.#seek();
    this.#tellSearched();
    const now = clock.now();
    this.#openDoor();
    const most = MOST_TASKS + this.#underWay.size + this.#askedAhead.size;
    // Without a door hubs wait as they are.
    for (const face of ledger.schedule.faces.due(now + ahead, most, address !== undefined)) {
      if (this.#tasks >= MOST_TASKS) return;
      // Ahead of its time each is asked once.
      if (this.#underWay.has(face.id) || (face.due! > now && this.#askedAhead.has(face.id))) continue;
      this.#askedAhead.add(face.id);
      // Those that keep us waiting leave room for the others.
      this.#ask(face, now, this.#tasks < MOST_TASKS / 2 ? wait : 0);
    }
  }

  /** Nobody waits any longer for those that are being asked: the next round does so the later, the more often that happens. */
  late(): void {
    const { ledger, clock } = this.#parts;
    ledger.begin();
    for (const id of this.#underWay) {
      const face = ledger.schedule.faces.get(id);
      if (!face) continue;
      const failures = face.failures + 1;
      const due = clock.now() + Math.min(LATEST, HOUR * 2 ** (failures - 1));
      ledger.schedule.faces.put({ ...face, failures, due, trouble: 'it answers too slowly' });
    }
  }

  /** Sites that give their pages in bulk, as far as the last polls say, and those that send differences. */
  announce(): void {
    const { ledger, bulk, differences } = this.#parts;
    const faces = ledger.schedule.faces.all();
    const originOfFace = ({ server }: Face) => ledger.servers.byId(server).origin;
    for (const face of faces) {
      const { pagesAt } = face.state;
      if (face.kind === 'cursor' && pagesAt && face.failures === 0) bulk?.(originOfFace(face), pagesAt);
    }
    for (const face of faces) if (face.kind === 'dictionary') differences?.(originOfFace(face));
  }

  /** A hub or a submission brought this. In a batch, or before the next commit. */
  take(server: Server, face: Face, done: Done): void {
    const { ledger, frontier, clock } = this.#parts;
    const now = clock.now();
    this.added += applyNotices({ ledger, frontier }, done.notices, now).added;
    const { words, notices } = face;
    ledger.schedule.faces.put({
      ...face,
      state: done.state,
      heard: now,
      words: words + 1,
      notices: notices + done.notices.length,
      trouble: done.trouble,
      failures: 0,
    });
    if (done.spent > 0) ledger.servers.account.add(now, server.id, 'notice', { spent: done.spent });
  }

  /** What home knows of a server that bears on how it may be asked. */
  termsOf({ origin, seeded, notBefore, pace, robots }: Server): ServerTerms {
    const { options } = this.#parts.frontier;
    const { allowPrivate } = options;
    return {
      ...{ origin, notBefore, connections: 1, auditShare: 0, trustValidators: true },
      pace: pace ?? options.pace,
      allowPrivate: allowPrivate || (seeded && namesAddress(origin)),
      ...(allowPrivate && { anyPrivate: true }),
      ...(robots && {
        robots: {
          ...{ status: robots.status, body: robots.body },
          ...{ time: robots.time, unreachableSince: robots.unreachableSince },
        },
      }),
    };
  }

  /** Hubs that call an address where we are no longer are asked anew. */
  #openDoor(): void {
    const { ledger, clock, address } = this.#parts;
    if (address === undefined || this.#isOpen) return;
    this.#isOpen = true;
    for (const face of ledger.schedule.faces.all()) {
      const { at } = face.state;
      if (face.kind !== 'websub' || at === undefined || at === address) continue;
      ledger.begin();
      ledger.schedule.faces.put({ ...face, due: clock.now() });
    }
  }

  #seek(): void {
    const { ledger, clock } = this.#parts;
    const now = clock.now();
    const sought = () => ledger.settings.get<Record<string, number>>('faces sought') ?? {};
    if (!this.#toSeek) {
      const known = sought();
      const open = [...ledger.servers.all()].filter(({ seeded, paused }) => seeded && !paused);
      this.#toSeek = open.filter(({ id }) => isOver(known[id] ?? 0, SOUGHT_AGAIN, now)).slice(0, MOST_SOUGHT);
    }
    while (this.#tasks < MOST_TASKS && this.#toSeek.length > 0) {
      const server = this.#toSeek.shift()!;
      if (server.notBefore > now) continue;
      this.#run({ kind: 'discover', terms: this.termsOf(server) }, done => {
        this.#enter(server, done.found);
        ledger.servers.account.add(now, server.id, 'notice', { spent: done.spent });
        // One that could not be asked is looked at again in the next run.
        if (done.trouble === '') ledger.settings.set('faces sought', { ...sought(), [server.id]: now });
      });
    }
  }

  /** Once a day, sites that the user named are told which terms led to their pages. */
  #tellSearched(): void {
    const { ledger, clock } = this.#parts;
    const now = clock.now();
    for (const [origin, { asked }] of Object.entries(sharedTerms(ledger))) {
      const server = ledger.servers.find(origin);
      const waits = !isOver(asked, DAY, now) || !isOver(this.#lookedForTerms.get(origin) ?? 0, HOUR, now);
      if (!server || server.paused || server.notBefore > now || waits || this.#tasks >= MOST_TASKS) continue;
      this.#lookedForTerms.set(origin, now);
      this.#run({ kind: 'searched', terms: this.termsOf(server) }, ({ granted, trouble, ...done }) => {
        // Where there was nothing to tell, nothing was told today.
        if (granted || trouble !== '')
          ledger.settings.set(SHARED_TERMS, { ...sharedTerms(ledger), [origin]: { asked: now, trouble } });
        if (done.spent > 0) ledger.servers.account.add(now, server.id, 'notice', { spent: done.spent });
      });
    }
  }

  /** Enters faces that were found; a hub needs a topic of the server itself. */
  #enter(server: Server, found: readonly FoundFaces[]): void {
    const { ledger, clock } = this.#parts;
    const now = clock.now();
    for (const { kind, url, where } of found) {
      if (kind === 'hub' || kind === 'topic' || originOf(url) !== server.origin) continue;
      const face = ledger.schedule.faces.add({ server: server.id, kind, url, found: where }, now);
      if (kind === 'dictionary' && face) ledger.schedule.faces.put({ ...face, heard: now });
    }
    const kinds = new Set(ledger.schedule.faces.ofServer(server.id).map(({ kind }) => kind));
    // Bulk is better than a difference of each page.
    if (kinds.has('dictionary') && !kinds.has('cursor')) this.#parts.differences?.(server.origin);
    const hub = found.find(({ kind }) => kind === 'hub');
    const topic = found.find(({ kind, url }) => kind === 'topic' && originOf(url) === server.origin);
    if (!hub || !topic) return;
    const face = ledger.schedule.faces.add(
      { server: server.id, kind: 'websub', url: topic.url, found: hub.where },
      now,
    );
    if (face && face.state.hub === undefined) {
      const secret = randomBytes(24).toString('hex');
      ledger.schedule.faces.put({ ...face, state: { hub: hub.url, secret, path: randomBytes(24).toString('hex') } });
    }
  }

  #ask(face: Face, now: number, wait: number): void {
    const { ledger, address } = this.#parts;
    const server = ledger.servers.byId(face.server);
    const waits = server.paused || this.#outdone(face) ? DAY : server.notBefore - now;
    if (waits > 0) {
      ledger.begin();
      ledger.schedule.faces.put({ ...face, due: now + waits });
      return;
    }
    this.#underWay.add(face.id);
    const terms = this.termsOf(server);
    if (face.kind !== 'websub') {
      this.#run({ kind: 'poll', terms, face, wait }, done => this.#polled(server, face, done));
      return;
    }
    // Before it is asked: a hub may verify before it has answered.
    ledger.begin();
    ledger.schedule.faces.put({ ...face, state: { ...face.state, asked: now, at: address! } });
    const callback = `${address}${WEBSUB_PATH}${face.state.path}`;
    this.#run({ kind: 'subscribe', terms, face, callback }, done => this.#subscribed(face, done));
  }

  /** Where a site tells everything by its cursor, or all that a feed could by another face, more would say the same again. */
  #outdone({ kind, server }: Face): boolean {
    if (kind === 'cursor' || kind === 'websub') return false;
    const { faces, noticeTrust } = this.#parts.ledger.schedule;
    const others = faces.ofServer(server).filter(({ failures }) => failures === 0);
    // One that has not been asked yet comes first: it may make a list of all pages needless.
    const cursor = (each: Face) => each.kind === 'cursor' && (each.state.cursor !== undefined || each.heard === 0);
    if (others.some(cursor)) return true;
    const alone = (each: Face) => instead.has(each.kind) && tellsAlone(noticeTrust.of(server, each.kind));
    return kind === 'feed' && others.some(alone);
  }

  #run(task: Task, take: (done: Done) => void): void {
    this.#tasks++;
    void this.#parts.reader.do(task).then(done => {
      this.#results.push(() => {
        this.#tasks--;
        if (done.news) this.#parts.frontier.errands.news(done.news);
        take(done);
      });
    });
  }

  #polled(server: Server, before: Face, done: Done): void {
    const { ledger, frontier, clock, bulk } = this.#parts;
    this.#underWay.delete(before.id);
    const now = clock.now();
    const face = ledger.schedule.faces.get(before.id) ?? before;
    this.added += applyNotices({ ledger, frontier }, done.notices, now).added;
    noteUnspoken({ ledger, frontier }, done.unspoken);
    this.#enter(server, done.found);
    const cause = face.kind === 'cursor' ? 'cursor' : 'notice';
    ledger.servers.account.add(now, server.id, cause, { spent: done.spent });
    const failed = done.trouble !== '';
    const failures = failed ? face.failures + 1 : 0;
    if (failures >= HOPELESS && face.heard === 0) {
      ledger.schedule.faces.remove(face.id);
      return;
    }
    const row = (this.#inARow.get(face.id) ?? 0) + 1;
    this.#inARow.set(face.id, done.every === 0 ? row : 0);
    // What has more to say is asked at once: a round takes no note of what comes later.
    const more = done.every === 0 && !failed;
    const every = more ? (row > MOST_IN_A_ROW ? DAY : 0) : Math.max(SOONEST, done.every);
    ledger.schedule.faces.put({
      ...{ ...face, state: done.state, failures },
      trouble: more && row > MOST_IN_A_ROW ? 'it has more to tell than is read in a day' : done.trouble,
      due: now + Math.min(LATEST, failed ? every * 2 ** (failures - 1) : every),
      heard: failed ? face.heard : now,
      words: face.words + (failed ? 0 : 1),
      notices: face.notices + done.notices.length,
    });
    if (face.kind === 'cursor') bulk?.(server.origin, failed ? '' : done.pagesAt);
  }

  /** The hub has been asked; whether it tells is seen when it verifies. One that never does is asked ever more rarely. */
  #subscribed(before: Face, done: Done): void {
    const { ledger, clock } = this.#parts;
    this.#underWay.delete(before.id);
    const now = clock.now();
    const face = ledger.schedule.faces.get(before.id) ?? before;
    const failures = face.failures + 1;
    const state = { ...face.state, ...(done.state.asked && { asked: done.state.asked }) };
    const due = now + Math.min(LATEST, VERIFY_WITHIN * 2 ** (failures - 1));
    // Where the last lease still holds, all is well until it ends.
    const trouble =
      done.trouble || ((face.state.lease ?? 0) > now ? '' : 'the hub has not confirmed the subscription yet');
    // Verified while we were asking: then the lease says when to ask again.
    const verified = (face.state.lease ?? 0) > (before.state.lease ?? 0);
    ledger.schedule.faces.put(verified ? { ...face, state } : { ...face, state, due, failures, trouble });
  }
}

/** So long ago, or written by a clock that ran ahead. */
function isOver(time: number, length: number, now: number): boolean {
  return time > now || now - time >= length;
}
