/**
 * One ask on its way: when it began, what it cost so far, and the promise it settles. Connections of either protocol
 * carry exchanges; only the functions here make answers of them, so every answer accounts for its bytes the same way.
 */
import type { ReasonCode } from '../../errand/reasons.ts';
import { type Answer, type Ask, RECALLED, type Response } from '../stages.ts';

export interface Timeouts {
  /** All in milliseconds. Name to addresses, and TCP connection, each. */
  readonly connect: number;
  readonly tls: number;
  /** From the request to the first byte of the answer. */
  readonly firstByte: number;
  /** Longest silence within an answer. */
  readonly betweenBytes: number;
  /** From the first byte to the last. */
  readonly body: number;
  /** A timer that is this late was not held up by work, but by somebody who stopped the process: it begins anew. */
  readonly stopped: number;
}

export const defaultTimeouts: Timeouts = {
  connect: 10_000,
  tls: 10_000,
  firstByte: 20_000,
  betweenBytes: 15_000,
  body: 120_000,
  stopped: 3000,
};

export interface Exchange {
  readonly ask: Ask;
  readonly path: string;
  readonly started: number;
  readonly resolve: (answer: Answer) => void;
  /** The request as written; replaced when a retry speaks another protocol. */
  requestHead: Uint8Array;
  /** On the clock of performance.now(), as `started`; 0 = none came. */
  firstByte: number;
  /** Bytes of HTTP, framing included, over all tries; what TLS adds (about 22 per 16 KiB) is not seen from here. */
  up: number;
  down: number;
  /** It has had its second try. */
  retried: boolean;
  settled: boolean;
}

/** What a request that brings something did is not known when no answer comes: it is not sent twice. */
export function mayRepeat({ retried, ask: { content } }: Exchange): boolean {
  return !retried && (content === undefined || content.isQuestion === true);
}

export function fail(exchange: Exchange, reason: ReasonCode, detail: string): void {
  settle(exchange, { kind: 'failure', reason, detail, wire: wireOf(exchange, performance.now()) });
}

/** Milliseconds until it may go out; Infinity: it may not any more, and has ended. */
export function waitOf(exchange: Exchange): number {
  const wait = exchange.ask.departure?.leaves() ?? 0;
  if (wait !== Number.POSITIVE_INFINITY) return wait;
  const wire = wireOf(exchange, performance.now());
  settle(exchange, { kind: 'failure', reason: RECALLED, detail: 'it was cancelled before it was sent', wire });
  return wait;
}

/** What a connection read, before the account of its cost is added. */
type ReadResponse = Omit<Response, 'kind' | 'requestHead' | 'wire'>;

/** `now`: when its last byte came. */
export function answer(exchange: Exchange, reading: ReadResponse, now: number): void {
  settle(exchange, {
    kind: 'response',
    status: reading.status,
    head: reading.head,
    requestHead: exchange.requestHead,
    headers: reading.headers,
    body: reading.body,
    truncated: reading.truncated,
    protocol: reading.protocol,
    address: reading.address,
    wire: wireOf(exchange, now),
  });
}

function settle(exchange: Exchange, result: Answer): void {
  if (exchange.settled) return;
  exchange.settled = true;
  exchange.resolve(result);
}

function wireOf(exchange: Exchange, now: number) {
  return {
    up: exchange.up,
    down: exchange.down,
    firstByte: exchange.firstByte === 0 ? 0 : exchange.firstByte - exchange.started,
    total: now - exchange.started,
  };
}

/** A limit for one wait. If the process was stopped meanwhile, it begins anew: the answer may be there, unread. */
export function limitWait(ms: number, { stopped }: Timeouts, late: () => void): { clear(): void } {
  let timer: NodeJS.Timeout;
  const begin = () => {
    const due = performance.now() + ms;
    timer = setTimeout(() => (performance.now() - due > stopped ? begin() : late()), ms);
  };
  begin();
  return { clear: () => clearTimeout(timer) };
}

export interface Timed {
  /** On the clock of performance.now(); Infinity = waits for nothing. */
  deadline: number;
  /** Called once per sweep in which the deadline has passed, until it is moved or removed. */
  late(): void;
}

/**
 * One coarse timer for everything that may take too long. A timer per request and phase costs more than parsing the
 * response; instead whoever waits writes down until when, and a sweep a few times a second finds who is late.
 */
export class Deadlines {
  readonly #waiting = new Set<Timed>();
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;
  /** When it last looked. */
  #swept = 0;
  readonly #stopped: number;

  /** `shortest`: the smallest time limit that will be asked for, milliseconds; it may be overrun by a quarter. */
  constructor(shortest: number, { stopped }: Pick<Timeouts, 'stopped'> = defaultTimeouts) {
    this.#stopped = stopped;
    this.#interval = Math.min(250, Math.max(5, shortest / 4));
  }

  add(item: Timed): void {
    this.#waiting.add(item);
    if (this.#timer !== undefined) return;
    this.#swept = performance.now();
    this.#timer = setInterval(() => this.#sweep(), this.#interval);
  }

  delete(item: Timed): void {
    this.#waiting.delete(item);
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /** Time in which we were stopped is nobody's delay: what came meanwhile has not even been read. */
  #sweep(): void {
    const now = performance.now();
    const gap = now - this.#swept - this.#interval;
    this.#swept = now;
    if (gap > this.#stopped) for (const item of this.#waiting) item.deadline += gap;
    for (const item of this.#waiting) if (item.deadline <= now) item.late();
  }
}
