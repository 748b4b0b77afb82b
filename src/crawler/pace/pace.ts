/**
 * Who may be asked when. One Pace serves all errands of an outpost: whoever wants to send a request waits for a turn,
 * sends it, and says how it went. It never sends anything itself, and knows nothing of robots.txt but a delay.
 *
 * A server gets at most `connections` requests at once, the next not before the longest of
 *  - `pace` after the last one started,
 *  - Crawl-delay after the last one started (at most a minute),
 *  - a rest after the last one ended: as long as the server takes to answer, four times that when it slows down;
 * and none at all before the end of Retry-After or of a back-off, which doubles with every failure in a row.
 * Servers on one address are spaced by a quarter of the pace together, with four times the connections. The address is
 * looked up before the first request; its turns and connections are those of a table that all threads of the machine share.
 * `pace` 0 says that the user owns the server: it lifts all of this but Retry-After, `notBefore` and the connections.
 * Where several homes crawl as one, nothing goes out without leave (leave.ts), which each address needs, too.
 *
 * Invariants: turns of one server are given in the order asked; a server that waits has one timer, others none; a
 * turn that was given counts until its `done`.
 */
import { type Clock, DAY } from '../../base/clock.ts';
import type { Departure } from '../stages.ts';
import { AddressSlots } from './address-slots.ts';
import type { Effect } from './answer-effect.ts';
import { learnLatency, restOf } from './latency.ts';
import type { Leave } from './leave.ts';
import { type Sleeper, sleepUntil, stopSleep } from './sleeper.ts';

export interface PaceTerms {
  /** Milliseconds between the starts of requests; 0 = as fast as it goes. */
  readonly pace: number;
  readonly connections: number;
  /** Nothing before this time, milliseconds since 1970. */
  readonly notBefore: number;
  /** Milliseconds, 0 = none. */
  readonly crawlDelay: number;
}

/** Distances count from when requests were written, not from their turns: to make a connection takes time. */
export interface Turn extends Departure {
  /** To be called once, when the answer is complete or has failed; more calls change nothing. */
  done(effect: Effect): void;
}

/** What is worth keeping of a server across restarts. */
interface PaceRecord {
  readonly origin: string;
  readonly address: string;
  readonly notBefore: number;
  /** Smoothed time to first byte, and its usual value; milliseconds. */
  readonly latency: number;
  readonly usual: number;
  /** Failures in a row. */
  readonly failures: number;
}

const LONGEST_CRAWL_DELAY = 60_000;
const LONGEST_BACK_OFF = 300_000;
const SHORTEST_BACK_OFF = 1000;
/** First back-off of a server that says it is overloaded, but not for how long. */
const OVERLOADED = 10_000;
/** Servers and connections that share an address, in terms of what one of them may do. */
const SHARED = 4;
/** Milliseconds after which a thread looks again whether others have ended their requests to an address. */
const LOOK_AGAIN = 100;
/** Idle servers are forgotten when there are more than this. */
const REMEMBERED = 4096;

interface Waiter {
  readonly terms: PaceTerms;
  readonly signal: AbortSignal | undefined;
  readonly grant: (turn: Turn | undefined) => void;
}

interface PacedServer extends Sleeper {
  readonly origin: string;
  queue: Waiter[];
  /** Signals that are listened to for whoever waits. */
  readonly heard: WeakSet<AbortSignal>;
  active: number;
  /** Its own place in the table: a server may go from one thread to another. */
  readonly place: number;
  /** Earliest next start by pace and rest; ticks. */
  next: number;
  /** Of Retry-After and back-off; ticks. */
  notBefore: number;
  latency: number;
  usual: number;
  failures: number;
  /** When the last failure was counted; ticks. */
  failedAt: number;
  address: string;
  /** Its address was looked up, is being, or is not to be. */
  located: 'no' | 'soon' | 'yes';
  /** The address in whose queue it stands. */
  blockedBy: PacedAddress | undefined;
}

interface PacedAddress extends Sleeper {
  readonly name: string;
  readonly place: number;
  /** Requests of this thread. */
  active: number;
  /** Servers that could go on but for the address, in order of arrival. */
  readonly queue: PacedServer[];
}

interface PaceOptions {
  /** What was kept of servers. */
  readonly records?: readonly PaceRecord[];
  /** The table that threads share; one of its own otherwise. */
  readonly slots?: AddressSlots;
  /** The address that a server will be asked at, empty = it has none. Without it, it is known from the first answer. */
  readonly locate?: ((origin: string) => Promise<string>) | undefined;
  /** Absent = this machine asks whom it likes. */
  readonly leave?: Leave | undefined;
}

export class Pace {
  readonly #clock: Clock;
  readonly #slots: AddressSlots;
  readonly #locate: PaceOptions['locate'];
  readonly #servers = new Map<string, PacedServer>();
  readonly #addresses = new Map<string, PacedAddress>();
  readonly #leave: Leave | undefined;
  /** Servers that wait for leave. */
  readonly #held = new Set<PacedServer>();
  #sweepAt = REMEMBERED;

  constructor(clock: Clock, { records = [], slots = new AddressSlots(), locate, leave }: PaceOptions = {}) {
    this.#clock = clock;
    this.#leave = leave;
    leave?.listen(() => this.#resume());
    this.#slots = slots;
    this.#locate = locate;
    for (const record of records) {
      const notBefore = clock.ticks() + Math.min(record.notBefore - clock.now(), DAY);
      Object.assign(this.#server(record.origin), { ...record, notBefore });
    }
  }

  /** Resolves when a request to `origin` may start; undefined when the signal aborted first. */
  turn(origin: string, terms: PaceTerms, signal?: AbortSignal): Promise<Turn | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    const server = this.#server(origin);
    return new Promise(grant => {
      server.queue.push({ terms, signal, grant });
      this.#serve(server);
      if (server.queue.length > 0 && signal !== undefined) this.#hear(server, signal);
    });
  }

  /** Once for a server and a signal, not once a turn: a listener that comes and goes costs more than the turn. */
  #hear(server: PacedServer, signal: AbortSignal): void {
    if (server.heard.has(signal)) return;
    server.heard.add(signal);
    signal.addEventListener('abort', () => this.#cancel(server, signal), { once: true });
  }

  #cancel(server: PacedServer, signal: AbortSignal): void {
    const cancelled = server.queue.filter(waiter => waiter.signal === signal);
    if (cancelled.length === 0) return;
    server.queue = server.queue.filter(waiter => waiter.signal !== signal);
    if (server.queue.length === 0) stopSleep(server);
    if (server.blockedBy !== undefined) this.#serveAddress(server.blockedBy);
    for (const { grant } of cancelled) grant(undefined);
  }

  recordOf(origin: string): PaceRecord | undefined {
    const server = this.#servers.get(origin);
    if (server === undefined) return undefined;
    const { address, latency, usual, failures } = server;
    const wait = server.notBefore - this.#clock.ticks();
    const notBefore = wait > 0 ? this.#clock.now() + wait : 0;
    return { origin, address, notBefore, latency, usual, failures };
  }

  /** Of all servers that must not be asked now. */
  records(): PaceRecord[] {
    const now = this.#clock.ticks();
    return [...this.#servers.values()]
      .filter(server => server.notBefore > now)
      .map(each => this.recordOf(each.origin)!);
  }

  #server(origin: string): PacedServer {
    let server = this.#servers.get(origin);
    if (server === undefined) {
      if (this.#servers.size >= this.#sweepAt) this.#sweep();
      server = {
        ...{ origin, queue: [], active: 0, next: 0, notBefore: 0, latency: 0, usual: 0, failures: 0, failedAt: 0 },
        ...{
          place: this.#slots.placeOf(origin),
          address: '',
          located: this.#locate ? 'no' : 'yes',
          blockedBy: undefined,
          timer: undefined,
          wakeAt: 0,
          heard: new WeakSet(),
        },
      };
      this.#servers.set(origin, server);
    }
    return server;
  }

  #addressOf(server: PacedServer): PacedAddress | undefined {
    if (server.address === '') return undefined;
    let address = this.#addresses.get(server.address);
    if (address === undefined) {
      const name = server.address;
      address = { name, place: this.#slots.placeOf(name), active: 0, queue: [], timer: undefined, wakeAt: 0 };
      this.#addresses.set(server.address, address);
    }
    return address;
  }

  /** Forgets servers that may be asked at once: what is known of them would change nothing. */
  #sweep(): void {
    const now = this.#clock.ticks();
    for (const [origin, server] of this.#servers) {
      const idle = server.active === 0 && server.queue.length === 0;
      if (idle && server.next <= now && server.notBefore <= now) this.#servers.delete(origin);
    }
    for (const [name, address] of this.#addresses) {
      if (address.active === 0 && address.queue.length === 0) this.#addresses.delete(name);
    }
    this.#sweepAt = Math.max(REMEMBERED, 2 * this.#servers.size);
  }

  /** Gives as many turns as may start now, and arranges to be called again for the others. */
  #serve(server: PacedServer): void {
    while (server.queue.length > 0 && server.blockedBy === undefined) {
      const { terms } = server.queue[0]!;
      if (server.active >= terms.connections) return; // `done` calls again
      if (this.#leave?.open() === false) {
        this.#held.add(server);
        return;
      }
      if (terms.pace > 0 && server.located !== 'yes') {
        this.#find(server);
        return;
      }
      const now = this.#clock.ticks();
      const at = this.#startOf(server, terms, now);
      if (at > now) {
        sleepUntil(this.#clock, server, at, () => this.#serve(server));
        return;
      }
      const address = terms.pace > 0 ? this.#addressOf(server) : undefined;
      if (address !== undefined && !this.#take(address, terms, now)) {
        server.blockedBy = address;
        address.queue.push(server);
        this.#serveAddress(address);
        return;
      }
      this.#grant(server, address, now);
    }
    if (server.queue.length === 0) stopSleep(server);
  }

  /** There is more leave than before. */
  #resume(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const server of held) this.#serve(server);
    for (const address of this.#addresses.values()) if (address.queue.length > 0) this.#serveAddress(address);
  }

  /** Looks up where the server is, so that its first request counts, too. */
  #find(server: PacedServer): void {
    if (server.located !== 'no') return;
    server.located = 'soon';
    const found = (address: string) => {
      server.located = 'yes';
      if (server.address === '') server.address = address;
      this.#serve(server);
    };
    this.#locate!(server.origin).then(found, () => found(''));
  }

  /** Whether a server that nobody waits before may ask this address now; then its turn is taken. */
  #take(address: PacedAddress, terms: PaceTerms, now: number): boolean {
    if (address.queue.length > 0 || !this.#isOurs(address, terms) || !this.#hasRoom(address, terms)) return false;
    return this.#slots.take(address.place, now, terms.pace / SHARED);
  }

  #serveAddress(address: PacedAddress): void {
    for (let server = address.queue[0]; server !== undefined; server = address.queue[0]) {
      const terms = server.queue[0]?.terms;
      const now = this.#clock.ticks();
      if (terms !== undefined && !this.#isOurs(address, terms)) return; // leave calls again
      if (terms !== undefined && !this.#hasRoom(address, terms)) {
        // A `done` of this thread calls again, one of another does not.
        const others = this.#slots.active(address.place) > address.active;
        if (others) sleepUntil(this.#clock, address, now + LOOK_AGAIN, () => this.#serveAddress(address));
        return;
      }
      // Its own terms may have changed while it waited; if not, this is its turn.
      const ready =
        terms !== undefined && server.active < terms.connections && this.#startOf(server, terms, now) <= now;
      if (ready && !this.#slots.take(address.place, now, terms.pace / SHARED)) {
        const free = Math.max(this.#slots.freeAt(address.place), now + 1);
        sleepUntil(this.#clock, address, free, () => this.#serveAddress(address));
        return;
      }
      address.queue.shift();
      server.blockedBy = undefined;
      if (ready) this.#grant(server, address, now);
      this.#serve(server);
    }
    stopSleep(address);
  }

  #hasRoom({ place }: PacedAddress, { connections }: PaceTerms): boolean {
    return this.#slots.active(place) < SHARED * connections;
  }

  #isOurs({ name }: PacedAddress, { pace }: PaceTerms): boolean {
    return this.#leave?.holds(name, pace / SHARED) ?? true;
  }

  #count(address: PacedAddress, by: 1 | -1): void {
    address.active += by;
    this.#leave?.count(address.name, by);
    this.#slots.count(address.place, by);
  }

  #grant(server: PacedServer, address: PacedAddress | undefined, now: number): void {
    const { terms, grant } = server.queue.shift()!;
    server.active++;
    const spacing = terms.pace === 0 ? 0 : Math.max(terms.pace, Math.min(terms.crawlDelay, LONGEST_CRAWL_DELAY));
    server.next = now + spacing;
    if (address !== undefined) this.#count(address, 1);
    let open = true;
    grant({
      leaves: () => {
        if (address ? !this.#isOurs(address, terms) : this.#leave?.open() === false) return Number.POSITIVE_INFINITY;
        if (spacing === 0) return 0;
        const at = this.#clock.ticks();
        const wait = this.#slots.missing(server.place, at, spacing);
        if (wait > 0) return wait;
        return address === undefined ? 0 : this.#slots.write(address.place, at, terms.pace / SHARED);
      },
      left: () => {
        if (spacing === 0) return;
        const at = this.#clock.ticks();
        this.#slots.wrote(server.place, at);
        server.next = Math.max(server.next, at + spacing);
        if (address !== undefined) this.#slots.wrote(address.place, at);
      },
      done: effect => {
        if (!open) return;
        open = false;
        server.active--;
        if (address !== undefined) this.#count(address, -1);
        this.#learn(server, terms, effect, now);
        this.#serve(server);
        if (address !== undefined) this.#serveAddress(address);
      },
    });
  }

  #learn(server: PacedServer, terms: PaceTerms, effect: Effect, started: number): void {
    const now = this.#clock.ticks();
    const { status, firstByteMs, retryAfterMs, failed, address } = effect;
    if (address !== '') server.address = address;
    const overloaded = status === 429 || status === 503;
    const failure = status === 0 ? failed : overloaded || status >= 500;
    if (!failure) server.failures = 0;
    // Requests that were under way together fail together: that is one failure.
    else if (started >= server.failedAt) {
      server.failures++;
      server.failedAt = now;
    }
    if (status > 0 && !failure) learnLatency(server, firstByteMs);
    if (overloaded && retryAfterMs > 0)
      server.notBefore = Math.max(server.notBefore, now + Math.min(retryAfterMs, DAY));
    if (terms.pace === 0) return;
    server.next = Math.max(server.next, now + restOf(server));
    if (failure && retryAfterMs === 0) {
      const first = overloaded ? OVERLOADED : Math.max(terms.pace, SHORTEST_BACK_OFF);
      const wait = Math.min(first * 2 ** Math.max(server.failures - 1, 0), LONGEST_BACK_OFF);
      server.notBefore = Math.max(server.notBefore, now + wait);
    }
  }

  /** The next start by the server's own state and by what home knows, in ticks. No server may stay away for over a day. */
  #startOf(server: PacedServer, terms: PaceTerms, now: number): number {
    const wait = terms.notBefore === 0 ? 0 : Math.min(terms.notBefore - this.#clock.now(), DAY);
    return Math.max(terms.pace === 0 ? 0 : server.next, server.notBefore, now + wait);
  }
}
