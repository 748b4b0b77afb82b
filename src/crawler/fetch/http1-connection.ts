/**
 * One HTTP/1.1 connection, one exchange at a time. Listeners are set once per connection, not per request, and bytes
 * go from the kernel's buffer through the reader into the body with one copy: this is the hot path of the crawler.
 * After anything irregular the connection is closed; a doubtful one is never used again.
 */
import type { BodyMemory } from './body-memory.ts';
import { type Dialled, describe } from './dial.ts';
import { answer, type Deadlines, type Exchange, fail, mayRepeat, type Timed, type Timeouts } from './exchange.ts';
import { writeRequest } from './http1-head.ts';
import { Http1Reader } from './http1-reader.ts';

/** Who hands out connections and takes them back. */
export interface ConnectionKeeper {
  /** Ready for another exchange. */
  free(connection: Http1Connection): void;
  gone(connection: Http1Connection): void;
  /** The exchange got no byte on a connection that had served before: the server had closed it as we wrote. */
  again(exchange: Exchange): void;
}

export interface Http1Terms {
  readonly keeper: ConnectionKeeper;
  readonly deadlines: Deadlines;
  readonly timeouts: Timeouts;
  readonly memory: BodyMemory;
  /** Milliseconds an unused connection is kept. */
  readonly idleTime: number;
  /** See fixedLines. */
  readonly fixed: string;
}

export class Http1Connection implements Timed {
  deadline = Infinity;
  readonly #dialled: Dialled;
  readonly #terms: Http1Terms;
  readonly #reader: Http1Reader;
  #exchange: Exchange | undefined;
  #served = 0;
  #closed = false;
  /** A byte of the current answer has come. */
  #begun = false;
  /** When the current body has to be whole. */
  #bodyDeadline = 0;

  constructor(dialled: Dialled, terms: Http1Terms) {
    this.#dialled = dialled;
    this.#terms = terms;
    this.#reader = new Http1Reader(terms.memory);
    const { socket, sink } = dialled;
    sink.receive = (bytes, size) => this.#receive(bytes, size);
    socket.on('end', () => this.#ended());
    socket.on('error', (error: Error) => this.#broken(describe(error)));
    socket.on('close', () => {
      this.#broken('the connection was closed');
      this.close();
    });
    terms.deadlines.add(this);
  }

  get usable(): boolean {
    return !this.#closed;
  }

  send(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#begun = false;
    const { maxBytes, method, flow } = exchange.ask;
    this.#reader.begin(maxBytes, method === 'HEAD', flow);
    exchange.requestHead = writeRequest(exchange.path, this.#terms.fixed, exchange.ask);
    this.deadline = performance.now() + this.#terms.timeouts.firstByte;
    exchange.up += exchange.requestHead.length;
    this.#dialled.socket.write(exchange.requestHead);
    const { content } = exchange.ask;
    if (content === undefined) return;
    exchange.up += content.bytes.length;
    this.#dialled.socket.write(content.bytes);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#terms.deadlines.delete(this);
    this.#dialled.socket.destroy();
    this.#terms.keeper.gone(this);
    this.#fail('reset', 'the connection was closed on our side');
  }

  late(): void {
    const reader = this.#reader;
    if (this.#exchange === undefined) this.close();
    else if (!this.#begun) this.#fail('first-byte-timeout', 'no byte of the answer arrived');
    else if (!reader.answered) this.#fail('first-byte-timeout', 'the response header is incomplete');
    else if (reader.bodySize === 0) this.#fail('body-timeout', 'no byte of the body arrived');
    else this.#complete('time', performance.now());
  }

  #receive(bytes: Buffer, size: number): void {
    const exchange = this.#exchange;
    // Bytes that nobody asked for, or that come after we gave up.
    if (exchange === undefined) {
      this.close();
      return;
    }
    const now = performance.now();
    const { timeouts } = this.#terms;
    if (!this.#begun) {
      this.#begun = true;
      this.#bodyDeadline = now + timeouts.body;
      exchange.firstByte = now;
    }
    // Counted here: what the socket counts takes it a list of all that is waiting to be written.
    exchange.down += size;
    this.deadline = Math.min(now + timeouts.betweenBytes, this.#bodyDeadline);
    const verdict = this.#reader.push(bytes, size);
    if (verdict === 'done') this.#complete(undefined, now);
    else if (verdict === 'cut') this.#complete('length', now);
    else if (verdict === 'bad') this.#fail('bad-answer', this.#reader.problem);
  }

  #ended(): void {
    if (this.#exchange !== undefined && this.#reader.end() === 'done') this.#complete(undefined, performance.now());
    else this.#broken('the server closed the connection');
    this.close();
  }

  /** The exchange cannot be finished on this connection. */
  #broken(detail: string): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    if (this.#reader.answered && this.#reader.bodySize > 0) this.#complete('disconnect', performance.now());
    else if (this.#begun || this.#served === 0 || !mayRepeat(exchange)) this.#fail('reset', detail);
    else {
      this.#exchange = undefined;
      exchange.retried = true;
      this.close();
      this.#terms.keeper.again(exchange);
    }
  }

  #complete(truncated: 'length' | 'time' | 'disconnect' | undefined, now: number): void {
    const exchange = this.#exchange!;
    const reader = this.#reader;
    this.#exchange = undefined;
    this.#served++;
    // Back in the pool before the asker hears of it, so that its next ask finds the connection there.
    if (truncated === undefined && reader.keepAlive) {
      this.deadline = now + this.#terms.idleTime;
      this.#terms.keeper.free(this);
    } else this.close();
    answer(
      exchange,
      {
        status: reader.status,
        head: reader.head,
        headers: reader.headers,
        body: reader.body(),
        truncated,
        protocol: 'http/1.1',
        address: this.#dialled.address,
      },
      now,
    );
  }

  #fail(reason: 'reset' | 'bad-answer' | 'first-byte-timeout' | 'body-timeout', detail: string): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.close();
    fail(exchange, reason, detail);
  }
}
