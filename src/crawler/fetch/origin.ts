/**
 * All connections to one origin, and the choice among them. An ask takes an idle connection, the shared HTTP/2
 * session, or a new connection; it never queues behind another ask, except for the one handshake that finds out
 * which protocol a server speaks. How many asks are under way at once is the caller's politeness, not ours.
 */
import type { BodyMemory } from './body-memory.ts';
import { type Dialled, type Dialler, type DialRoute, describe, dial, type Undialled } from './dial.ts';
import { type Deadlines, type Exchange, fail, waitOf } from './exchange.ts';
import { type ConnectionKeeper, Http1Connection, type Http1Terms } from './http1-connection.ts';
import { fixedLines, type Target } from './http1-head.ts';
import type { Http2Connection } from './http2-connection.ts';
import type { ConnectionPlaces } from './places.ts';

/** Tries, and milliseconds between them, while this machine has no socket left: half a minute. */
const SHORT_TRIES = 120;
const SHORT_PAUSE = 250;

/** Loaded where it is offered: see tls.ts. */
type Http2Module = typeof import('./http2-connection.ts');

/** What all origins of a fetcher share. */
export interface Shared {
  readonly dialler: Dialler;
  readonly deadlines: Deadlines;
  readonly memory: BodyMemory;
  readonly userAgent: string;
  readonly http2: boolean;
  readonly idle: IdleLimits;
  /** Unused connections of all origins, longest unused first. */
  readonly unused: Set<Http1Connection>;
  readonly places: ConnectionPlaces;
  /** Everything open, for the end. */
  readonly open: Set<{ close(): void }>;
  closed: boolean;
}

export interface IdleLimits {
  readonly perOrigin: number;
  readonly total: number;
  /** Milliseconds. */
  readonly time: number;
}

export class Origin implements ConnectionKeeper {
  readonly target: Target;
  readonly #shared: Shared;
  readonly #allowPrivate: boolean;
  readonly #terms: Http1Terms;
  #unused: Http1Connection[] = [];
  #session: Http2Connection | undefined;
  #protocol: 'http/1.1' | 'h2' | undefined;
  /** Exchanges that wait for the handshake under way; undefined = none is. */
  #waiting: Exchange[] | undefined;
  /** Address of the last connection that worked. */
  #preferred: string | undefined;
  #connections = 0;

  constructor(target: Target, shared: Shared, allowPrivate: boolean) {
    this.target = target;
    this.#shared = shared;
    this.#allowPrivate = allowPrivate;
    this.#terms = {
      keeper: this,
      deadlines: shared.deadlines,
      memory: shared.memory,
      timeouts: shared.dialler.timeouts,
      idleTime: shared.idle.time,
      fixed: fixedLines(target, shared.userAgent),
    };
    if (!target.secure || !shared.http2) this.#protocol = 'http/1.1';
  }

  /** Nothing is open or being opened. */
  get quiet(): boolean {
    return this.#connections === 0;
  }

  submit(exchange: Exchange): void {
    const connection = this.#session?.usable ? this.#session : this.#takeUnused();
    if (connection !== undefined) this.#send(connection, exchange);
    else if (this.#waiting !== undefined) this.#waiting.push(exchange);
    else {
      if (this.#protocol !== 'http/1.1') this.#waiting = [];
      void this.#open(exchange);
    }
  }

  #send(connection: Http1Connection | Http2Connection, exchange: Exchange): void {
    const wait = waitOf(exchange);
    if (wait === 0) {
      connection.send(exchange);
      exchange.ask.departure?.left();
    } else if (wait !== Number.POSITIVE_INFINITY) setTimeout(() => this.#sendLater(connection, exchange), wait);
    else if (connection instanceof Http1Connection) connection.close();
  }

  /** Its moment has come; the server may have closed the connection meanwhile. */
  #sendLater(connection: Http1Connection | Http2Connection, exchange: Exchange): void {
    if (connection.usable) this.#send(connection, exchange);
    else void this.#open(exchange);
  }

  #takeUnused(): Http1Connection | undefined {
    const connection = this.#unused.pop();
    if (connection !== undefined) this.#shared.unused.delete(connection);
    return connection;
  }

  free(connection: Http1Connection): void {
    const { unused, idle } = this.#shared;
    if (this.#unused.length >= idle.perOrigin || this.#shared.closed || this.#shared.places.wanted) {
      connection.close();
      return;
    }
    this.#unused.push(connection);
    unused.add(connection);
    if (unused.size > idle.total) unused.values().next().value!.close();
  }

  gone(connection: Http1Connection | Http2Connection): void {
    this.#connections--;
    this.#shared.places.give();
    this.#shared.open.delete(connection);
    if (connection === this.#session) this.#session = undefined;
    if (!(connection instanceof Http1Connection) || !this.#shared.unused.delete(connection)) return;
    this.#unused = this.#unused.filter(other => other !== connection);
  }

  again(exchange: Exchange): void {
    // The other idle ones are as old: a new connection, not the next of them.
    void this.#open(exchange);
  }

  /** The server wants HTTP/1.1 for this (an HTTP/2 error code says so). */
  downgrade(exchange: Exchange): void {
    this.#protocol = 'http/1.1';
    void this.#open(exchange);
  }

  dropUnused(): void {
    for (const connection of [...this.#unused]) connection.close();
    if (this.#session?.idle) this.#session.close();
  }

  async #open(exchange: Exchange): Promise<void> {
    this.#connections++;
    const waits = this.#shared.places.take();
    if (waits) await waits;
    // Before anything is dialled: bytes that come before somebody listens would be lost.
    const module = this.#protocol === 'http/1.1' ? undefined : await import('./http2-connection.ts');
    const http2 = module !== undefined;
    const route = { target: this.target, allowPrivate: this.#allowPrivate, http2, preferred: this.#preferred };
    const result = await this.#dialled(route);
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    if (result.kind === 'undialled') {
      this.#connections--;
      this.#shared.places.give();
      for (const each of [exchange, ...waiting]) fail(each, result.reason, result.detail);
      return;
    }
    this.#preferred = result.address;
    this.#begin(result, exchange, module);
    for (const each of waiting) this.submit(each);
  }

  /** Where this machine is short of sockets, one that is not in use is closed, and then it is tried again for a while. */
  async #dialled(route: DialRoute): Promise<Dialled | Undialled> {
    const { dialler, places } = this.#shared;
    for (let tries = 0; ; tries++) {
      const result = await dial(dialler, route).catch((error: unknown) => ({
        kind: 'undialled' as const,
        reason: 'connect-refused' as const,
        detail: describe(error), // an argument that the socket does not accept
      }));
      const short = result.kind === 'undialled' && result.reason === 'no-socket';
      if (!short || tries >= SHORT_TRIES || this.#shared.closed) return result;
      places.spare();
      await new Promise(resolve => setTimeout(resolve, SHORT_PAUSE));
    }
  }

  #begin(dialled: Dialled, exchange: Exchange, http2: Http2Module | undefined): void {
    const shared = this.#shared;
    this.#protocol = dialled.protocol;
    if (dialled.protocol === 'http/1.1') {
      const connection = new Http1Connection(dialled, this.#terms);
      shared.open.add(connection);
      this.#send(connection, exchange);
      if (shared.closed) connection.close();
      return;
    }
    const session = new http2!.Http2Connection(dialled, { ...this.#terms, origin: this, userAgent: shared.userAgent });
    shared.open.add(session);
    this.#session = session;
    this.#send(session, exchange);
    if (shared.closed) session.close();
  }
}
