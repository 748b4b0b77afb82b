/**
 * What comes in by itself through the public door: hubs that verify and deliver (WebSub), and submissions (IndexNow).
 * Everybody may knock, so little is done before somebody has shown who they are: a path that nobody can guess and a
 * signature for a delivery, a key on the host itself for a submission. Bodies are bounded, few wait at once, and what is
 * believed goes through the desk like any notice.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, DAY, HOUR } from '../../base/clock.ts';
import { askerOf } from '../../base/http.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Face } from '../../ledger/schedule/faces.ts';
import type { Notice } from '../../notices/notice.ts';
import { believable } from '../../notices/notice.ts';
import { type NoticeDesk, WEBSUB_PATH } from './desk.ts';
import { type Done, NOTHING, type Task } from './messages.ts';
import { SUBMISSION_BYTES, type Submission, submittedInJson, submittedInQuery } from './reading/indexnow.ts';
import { MOST_LEASE } from './reading/websub.ts';

/** What belongs to one partition. */
interface PartitionRoom {
  readonly ledger: Ledger;
  readonly desk: NoticeDesk;
  readonly reader: { do(task: Task): Promise<Done> };
}

interface ReceiverParts {
  /** Of all partitions that are here now. */
  readonly rooms: () => Iterable<PartitionRoom>;
  readonly clock: Clock;
  /** Runs work between two turns of home's loop, in a batch. */
  order<T>(work: () => T): Promise<T>;
}

const INDEXNOW_PATH = '/indexnow';
const DELIVERY_BYTES = 4 << 20;
/**
 * Requests that are read or wait for home at once, of hubs that know their path and of strangers, and of strangers from one
 * address; the others are asked to come again. So whoever never ends what they say keeps no hub out, and alone nobody.
 */
const MOST_AT_ONCE = 16;
const MOST_ALIKE = 4;
/** Milliseconds in which a body has to come. */
const PATIENCE = 10_000;
/** Digests of deliveries that are remembered for each face. */
const REMEMBERED = 20;
/** How long a key that was found on its host is believed, and how long one that was not is not looked for again. */
const VERIFIED_FOR = DAY;
const REFUSED_FOR = HOUR / 60;
/** Looks for keys on one host in that time, whoever asks: it must not be us who wear it out. */
const MOST_LOOKS = 6;
/** Pages of one server that may be submitted in an hour. */
const MOST_AN_HOUR = 20_000;
/** Hosts whose refusals and counts are remembered. */
const MOST_HOSTS = 10_000;

/** A subscription whose hub has knocked. */
interface KnockedFace {
  readonly room: PartitionRoom;
  readonly face: Face;
}

/** An answer to whoever knocked. */
interface Reply {
  readonly status: number;
  readonly text?: string;
}

export class Receivers {
  readonly #parts: ReceiverParts;
  /** Requests at work, by who made them: '' = hubs, else an address. */
  readonly #open = new Map<string, number>();
  /** Ticks until which a host is not asked for a key again, by origin and by whoever named it. */
  readonly #refused = new Map<string, number>();
  /** Ticks of the last looks for keys, by origin. */
  readonly #looks = new Map<string, number[]>();
  readonly #counts = new Map<string, { hour: number; urls: number }>();

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  /** Never throws. Answers 404 to what is none of ours, as the door does. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = ({ status, text = '' }: Reply) => {
      if (response.headersSent || response.destroyed) return;
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(text);
    };
    try {
      say(await this.#reply(request));
    } catch {
      say({ status: 500 }); // a bug, or a run that is ending: whoever knocked comes again
    }
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const url = URL.parse(request.url ?? '/', 'http://door');
    if (url?.pathname.startsWith(WEBSUB_PATH)) {
      const known = this.#faceAt(url.pathname.slice(WEBSUB_PATH.length));
      return known ? this.#admitted('', () => this.#hub(request, url, known)) : { status: 404 };
    }
    if (url?.pathname !== INDEXNOW_PATH) return { status: 404 };
    const from = askerOf(request.socket.remoteAddress ?? '?');
    return this.#admitted(from, () => this.#submission(request, url, from));
  }

  /** Does it where there is a place for whoever asks. */
  async #admitted(from: string, work: () => Promise<Reply>): Promise<Reply> {
    const here = this.#open.get(from) ?? 0;
    const strangers = [...this.#open].reduce((sum, [each, n]) => (each === '' ? sum : sum + n), 0);
    if (from === '' ? here >= MOST_AT_ONCE : here >= MOST_ALIKE || strangers >= MOST_AT_ONCE) return { status: 503 };
    this.#open.set(from, here + 1);
    try {
      return await work();
    } finally {
      const left = this.#open.get(from)! - 1;
      if (left > 0) this.#open.set(from, left);
      else this.#open.delete(from);
    }
  }

  async #submission(request: IncomingMessage, url: URL, from: string): Promise<Reply> {
    if (request.method === 'GET') return this.#submitted(submittedInQuery(url.searchParams), from);
    if (request.method !== 'POST') return { status: 405 };
    const body = await bodyOf(request, SUBMISSION_BYTES);
    return body === undefined ? { status: 413 } : this.#submitted(submittedInJson(body.toString()), from);
  }

  async #hub(request: IncomingMessage, url: URL, { room, face }: KnockedFace): Promise<Reply> {
    if (request.method === 'GET') return this.#verify(room, face, url.searchParams);
    if (request.method !== 'POST') return { status: 405 };
    const body = await bodyOf(request, DELIVERY_BYTES);
    if (body === undefined) return { status: 413 };
    // What is signed wrongly gets the same answer, as the standard wants: nobody learns whether it was close.
    if (!isSigned(request.headers['x-hub-signature'], face.state.secret ?? '', body)) return { status: 202 };
    return this.#deliver(room, face.id, body);
  }

  #faceAt(path: string): KnockedFace | undefined {
    if (!/^[0-9a-f]{48}$/.test(path)) return undefined;
    for (const room of this.#parts.rooms()) {
      const face = room.ledger.schedule.faces.byPath(path);
      if (face) return { room, face };
    }
    return undefined;
  }

  /** The hub asks whether we meant it; it does, too, when it will not tell us. */
  async #verify(room: PartitionRoom, face: Face, query: URLSearchParams): Promise<Reply> {
    const { ledger } = room;
    const { clock } = this.#parts;
    const [mode, topic, challenge] = ['hub.mode', 'hub.topic', 'hub.challenge'].map(name => query.get(name) ?? '');
    if (topic !== face.url || (face.state.asked ?? 0) === 0) return { status: 404 };
    const now = clock.now();
    if (mode === 'denied') {
      const trouble = 'the hub refused the subscription';
      await this.#order(room, () => ledger.schedule.faces.put({ ...face, trouble, due: now + 7 * DAY }));
      return { status: 200 };
    }
    const seconds = Number(query.get('hub.lease_seconds') ?? 0);
    if (mode !== 'subscribe' || !(seconds > 0) || challenge!.length > 2000) return { status: 404 };
    const length = Math.min(MOST_LEASE, seconds * 1000);
    await this.#order(room, () => {
      const known = ledger.schedule.faces.get(face.id) ?? face;
      const state = { ...known.state, lease: now + length };
      // Asked again while a tenth of the lease is left.
      ledger.schedule.faces.put({ ...known, state, due: now + length * 0.9, failures: 0, trouble: '', heard: now });
    });
    return { status: 200, text: challenge! };
  }

  async #deliver(room: PartitionRoom, id: number, body: Buffer): Promise<Reply> {
    const { ledger, reader, desk } = room;
    const face = ledger.schedule.faces.get(id)!;
    const digest = hash('sha256', body).slice(0, 32);
    const { seen = [] } = face.state;
    // The same once more is what a hub sends that was not sure, or somebody who has listened.
    if (seen.includes(digest)) return { status: 202 };
    const server = ledger.servers.byId(face.server);
    const done = await reader.do({ kind: 'read', terms: desk.termsOf(server), face, bytes: body });
    await this.#order(room, () => {
      const known = ledger.schedule.faces.get(id) ?? face;
      const { until } = done.state;
      const state = { ...known.state, seen: [digest, ...seen].slice(0, REMEMBERED), ...(until && { until }) };
      desk.take(server, known, { ...done, state });
    });
    return { status: 202 };
  }

  async #submitted(submission: Submission | undefined, from: string): Promise<Reply> {
    if (!submission) return { status: 422, text: 'Not a submission: one host, its key, and at most 10,000 URLs.' };
    const { origin, key, location, urls } = submission;
    const room = [...this.#parts.rooms()].find(({ ledger }) => ledger.servers.find(origin));
    const server = room?.ledger.servers.find(origin);
    // Whether it is ours to know is told to everybody alike, and nothing is asked of a host that we do not visit.
    if (!room || !server || server.paused) return { status: 202 };
    const now = this.#parts.clock.now();
    const face = await this.#verified(room, submission, from);
    if (!face) return { status: 403, text: `The host does not have this key at ${location}.` };
    // Only what the host itself has sent counts: nobody else uses up what it may send.
    if (!this.#counted(origin, urls.length, now)) return { status: 429 };
    const told = urls.map((url): Notice => ({ kind: 'indexnow', url, change: 'updated', time: 0 }));
    const state = { ...face.state, key: hash('sha256', key) };
    const notices = believable(told, origin, now);
    await this.#order(room, () => room.desk.take(server, face, { ...NOTHING, notices, state }));
    return { status: 200 };
  }

  /** Rejects where the partition has gone to another machine meanwhile: whoever knocked finds that one. */
  #order<T>(room: PartitionRoom, work: () => T): Promise<T> {
    return this.#parts.order(() => {
      if (![...this.#parts.rooms()].includes(room)) throw new Error('its partition is on another machine');
      return work();
    });
  }

  #counted(server: string, urls: number, now: number): boolean {
    const hour = Math.floor(now / HOUR);
    const before = this.#counts.get(server);
    const count = before?.hour === hour ? before.urls + urls : urls;
    if (count > MOST_AN_HOUR) return false;
    if (this.#counts.size >= MOST_HOSTS) this.#counts.clear();
    this.#counts.set(server, { hour, urls: count });
    return true;
  }

  /** Whether the host may be asked for a key once more; `now` in ticks. */
  #mayLook(origin: string, now: number): boolean {
    const lately = (this.#looks.get(origin) ?? []).filter(time => now - time < REFUSED_FOR);
    if (lately.length >= MOST_LOOKS) return false;
    if (this.#looks.size >= MOST_HOSTS) this.#looks.clear();
    this.#looks.set(origin, [...lately, now]);
    return true;
  }

  /** The face of a host that has the key, which is asked for once a day. */
  async #verified(room: PartitionRoom, { origin, key, location }: Submission, from: string): Promise<Face | undefined> {
    const { ledger, reader, desk } = room;
    const { clock } = this.#parts;
    const [now, ticks] = [clock.now(), clock.ticks()];
    const server = ledger.servers.find(origin)!;
    const known = ledger.schedule.faces.find(server.id, 'indexnow', location);
    const { verified = 0, key: shown } = known?.state ?? {};
    if (known && verified <= now && now - verified < VERIFIED_FOR && shown === hash('sha256', key)) return known;
    const who = `${origin} ${from}`;
    if ((this.#refused.get(who) ?? 0) > ticks || !this.#mayLook(origin, ticks)) return undefined;
    if (this.#refused.size >= MOST_HOSTS) this.#refused.clear();
    // Before the answer: of a thousand that one sends at once, one makes us ask the host.
    this.#refused.set(who, ticks + REFUSED_FOR);
    const done = await reader.do({ kind: 'verify', terms: desk.termsOf(server), key, location });
    if (!done.granted) return undefined;
    this.#refused.delete(who);
    return this.#order(room, () => {
      const face = ledger.schedule.faces.add(
        { server: server.id, kind: 'indexnow', url: location, found: 'submitted' },
        now,
      );
      const state = { verified: now, key: hash('sha256', key) };
      if (face) ledger.schedule.faces.put({ ...face, state });
      return face && { ...face, state };
    });
  }
}

/** Undefined: there is more than that, and nothing of it is kept. Rejects where it does not come in time. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => request.destroy(), PATIENCE);
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > most) return undefined;
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

/** `X-Hub-Signature: sha256=…`, or with a stronger hash; SHA-1 is what everybody can make by now. */
function isSigned(header: string | string[] | undefined, secret: string, body: Buffer): boolean {
  const found = /^(sha256|sha384|sha512)=([0-9a-f]{64,128})$/i.exec(typeof header === 'string' ? header : '');
  if (!found || secret === '') return false;
  const wanted = createHmac(found[1]!.toLowerCase(), secret).update(body).digest();
  const given = Buffer.from(found[2]!, 'hex');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
