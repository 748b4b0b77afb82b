/**
 * One HTTP/2 session with an origin, shared by all asks to it: a stream each, one GET per stream. The protocol itself
 * is Node's; here are the same limits, the same reasons and the same account of bytes as for HTTP/1.1. A page of 41 kB
 * costs 2.3 times the CPU of HTTP/1.1 over TLS (nearly all of it inside Node); but headers are sent once and referred
 * to after that, so that a page that has not changed costs 69 bytes instead of 458 (measured with a 304 answer).
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { STATUS_CODES } from '../../base/http.ts';
import { addHeader } from '../../errand/header-lines.ts';
import { Body } from './body.ts';
import { type Dialled, describe } from './dial.ts';
import { answer, type Exchange, fail, mayRepeat, type Timed } from './exchange.ts';
import type { Http1Terms } from './http1-connection.ts';
import { acceptOf, codingsOf, conditions, extras, type Target, writeRequest } from './http1-head.ts';

/** Bytes a server may send ahead of our reading, per stream and per session. */
const streamWindow = 1_048_576;
const sessionWindow = 4_194_304;

interface Http2Terms extends Omit<Http1Terms, 'keeper'> {
  readonly origin: Http2Keeper;
  readonly userAgent: string;
}

interface Http2Keeper {
  readonly target: Target;
  gone(connection: Http2Connection): void;
  submit(exchange: Exchange): void;
  /** The server asks for HTTP/1.1. */
  downgrade(exchange: Exchange): void;
}

export class Http2Connection implements Timed {
  deadline = Infinity;
  readonly dialled: Dialled;
  readonly terms: Http2Terms;
  readonly #session: ClientHttp2Session;
  readonly #streams = new Set<Http2Exchange>();
  #retired = false;
  #closed = false;
  #countedUp = 0;
  #countedDown = 0;

  constructor(dialled: Dialled, terms: Http2Terms) {
    this.dialled = dialled;
    this.terms = terms;
    this.#session = connect(terms.origin.target.origin, {
      createConnection: () => dialled.socket,
      settings: { enablePush: false, initialWindowSize: streamWindow, maxHeaderListSize: 65_536 },
      maxHeaderListPairs: 512,
    });
    this.#session.on('connect', session => {
      if (!session.destroyed) session.setLocalWindowSize(sessionWindow);
    });
    this.#session.on('goaway', () => this.retire());
    // Every stream hears of it by its own close event, with what it means for that stream.
    this.#session.on('error', () => this.retire());
    this.#session.on('close', () => this.close());
    terms.deadlines.add(this);
  }

  get usable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  get idle(): boolean {
    return this.#streams.size === 0;
  }

  send(exchange: Exchange): void {
    const { ask } = exchange;
    const { target } = this.terms.origin;
    const headers: Record<string, string> = {
      ':method': ask.method ?? 'GET',
      ':path': exchange.path,
      ':scheme': 'https',
      ':authority': target.authority,
      'user-agent': this.terms.userAgent,
      'accept-encoding': codingsOf(ask),
      accept: acceptOf(ask),
    };
    for (const [name, value] of [...conditions(ask), ...extras(ask)]) headers[name.toLowerCase()] = value;
    exchange.requestHead = writeRequest(exchange.path, this.terms.fixed, ask);
    this.deadline = Infinity;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(headers, { endStream: ask.content === undefined });
      if (ask.content) stream.end(ask.content.bytes);
    } catch (error) {
      // The session ended between the check and now.
      this.retire();
      this.retry(exchange, describe(error));
      return;
    }
    const carried = new Http2Exchange(this, exchange, stream);
    this.#streams.add(carried);
    this.terms.deadlines.add(carried);
  }

  /** Takes no more exchanges; the ones under way go on. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    if (!this.#session.closed) this.#session.close();
  }

  /** An exchange for which nothing came may be tried once more, elsewhere. */
  retry(exchange: Exchange, detail: string): void {
    if (!mayRepeat(exchange)) fail(exchange, 'reset', detail);
    else {
      exchange.retried = true;
      this.terms.origin.submit(exchange);
    }
  }

  /** The stream has ended, one way or another; its exchange pays for what the session carried since the last one. */
  finished(carried: Http2Exchange): void {
    if (!this.#streams.delete(carried)) return;
    this.terms.deadlines.delete(carried);
    const { socket } = this.dialled;
    carried.exchange.down += socket.bytesRead - this.#countedDown;
    carried.exchange.up += socket.bytesWritten - this.#countedUp;
    this.#countedDown = socket.bytesRead;
    this.#countedUp = socket.bytesWritten;
    if (this.#streams.size === 0) this.deadline = performance.now() + this.terms.idleTime;
  }

  late(): void {
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#retired = true;
    this.terms.deadlines.delete(this);
    this.terms.origin.gone(this);
    this.#session.destroy();
  }
}

/** One exchange on its stream. */
class Http2Exchange implements Timed {
  deadline: number;
  readonly exchange: Exchange;
  readonly #connection: Http2Connection;
  readonly #stream: ClientHttp2Stream;
  #status = 0;
  #head: Uint8Array = new Uint8Array(0);
  #headers = new Map<string, string>();
  readonly #body: Body;
  #bodyDeadline = 0;
  #problem = '';

  constructor(connection: Http2Connection, exchange: Exchange, stream: ClientHttp2Stream) {
    this.#connection = connection;
    this.exchange = exchange;
    this.#stream = stream;
    this.#body = new Body(connection.terms.memory);
    this.#body.begin(exchange.ask.maxBytes, exchange.ask.flow);
    this.deadline = performance.now() + connection.terms.timeouts.firstByte;
    stream.on('response', (_headers, _flags, raw) => this.#answered(raw as unknown as readonly string[]));
    stream.on('data', (chunk: Buffer) => this.#received(chunk));
    stream.on('end', () => this.#ended());
    stream.on('error', error => {
      this.#problem = describe(error);
    });
    stream.on('close', () => this.#broken());
  }

  late(): void {
    const { exchange } = this;
    if (this.#status === 0) {
      // A session that swallows requests may be dead altogether.
      this.#connection.retire();
      this.#finish();
      fail(exchange, 'first-byte-timeout', 'no byte of the answer arrived');
    } else if (this.#body.size === 0) {
      this.#finish();
      fail(exchange, 'body-timeout', 'no byte of the body arrived');
    } else this.#complete('time');
  }

  #answered(raw: readonly string[]): void {
    const now = performance.now();
    this.exchange.firstByte = now;
    this.#bodyDeadline = now + this.#connection.terms.timeouts.body;
    this.#wait(now);
    let lines = '';
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i]!.toLowerCase();
      const value = raw[i + 1]!;
      if (name === ':status') this.#status = Number(value);
      if (name.startsWith(':')) continue;
      lines += `${name}: ${value}\r\n`;
      addHeader(this.#headers, name, value);
    }
    const length = Number(this.#headers.get('content-length') ?? -1);
    if (length >= 0) this.#body.expect(length);
    // Readers of archives know no HTTP/2 heads, so it is written as HTTP/1.1 would have it.
    const first = `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status] ?? ''}`;
    this.#head = Buffer.from(`${first}\r\n${lines}\r\n`, 'latin1');
  }

  #wait(now: number): void {
    this.deadline = Math.min(now + this.#connection.terms.timeouts.betweenBytes, this.#bodyDeadline);
  }

  #received(chunk: Buffer): void {
    if (this.exchange.settled) return;
    this.#wait(performance.now());
    if (!this.#body.add(chunk, 0, chunk.length) || this.#body.full) this.#complete('length');
  }

  #ended(): void {
    // An aborted stream ends, too; its close event says so.
    if (this.#status !== 0 && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR && !this.#stream.aborted)
      this.#complete(undefined);
  }

  #broken(): void {
    const { exchange } = this;
    if (exchange.settled) return;
    this.#connection.finished(this);
    const code = this.#stream.rstCode;
    const detail = this.#problem || `the stream was closed with code ${code}`;
    if (this.#status !== 0 && this.#body.size > 0) this.#complete('disconnect');
    else if (this.#status !== 0) fail(exchange, 'reset', detail);
    else if (code === constants.NGHTTP2_HTTP_1_1_REQUIRED && !exchange.retried) {
      exchange.retried = true;
      this.#connection.terms.origin.downgrade(exchange);
    } else if (code === constants.NGHTTP2_PROTOCOL_ERROR) fail(exchange, 'bad-answer', detail);
    else this.#connection.retry(exchange, detail);
  }

  #complete(truncated: 'length' | 'time' | 'disconnect' | undefined): void {
    this.#finish();
    answer(
      this.exchange,
      {
        status: this.#status,
        head: this.#head,
        headers: this.#headers,
        body: this.#body.take(),
        truncated,
        protocol: 'h2',
        address: this.#connection.dialled.address,
      },
      performance.now(),
    );
  }

  /** Lets go of the stream; what it may still send is not waited for. */
  #finish(): void {
    this.#connection.finished(this);
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
  }
}
