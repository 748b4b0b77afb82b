/**
 * Servers that misbehave on the wire. Each fault takes the raw socket: what it sends is often not HTTP. All stop when
 * the peer hangs up, so that a crawler with limits ends them by leaving.
 */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { hashOf } from './random.ts';

const HTML = 'Content-Type: text/html; charset=utf-8\r\n';
const FILLER = `<!DOCTYPE html><title>Fault</title><p>${'This body is not what it seems. '.repeat(64)}</p>`;
const CLOSE = 'Content-Length: 0\r\nConnection: close\r\n';

const head = (status: string, more = ''): string => `HTTP/1.1 ${status}\r\n${HTML}${more}\r\n`;
const length = (bytes: number): string => `Content-Length: ${bytes}\r\n`;

const acts = {
  /** Reads the request, never answers. */
  hang: () => {},
  /** A good head, then one byte every 50 ms. */
  drip: socket => {
    socket.write(head('200 OK', length(FILLER.length)));
    drip(socket, FILLER);
  },
  /** The head itself, one byte every 50 ms: half a minute of it. */
  'drip-head': socket => drip(socket, head('200 OK', `X-Filler: ${FILLER.slice(0, 500)}\r\n${length(2)}`)),
  /** Half a body, then RST. */
  reset: socket => {
    socket.write(head('200 OK', length(FILLER.length)) + FILLER.slice(0, 900));
    setTimeout(() => socket.resetAndDestroy(), 20);
  },
  'reset-at-once': socket => socket.resetAndDestroy(),
  /** Closes without a byte. */
  close: socket => socket.end(),
  /** Content-Length promises more than comes before the close. */
  'short-body': socket => socket.end(head('200 OK', length(FILLER.length + 5000)) + FILLER),
  /** More bytes than Content-Length says. */
  'long-body': socket => socket.end(head('200 OK', length(200)) + FILLER),
  /** Closed in the middle of a chunk. */
  'broken-chunks': socket => socket.end(`${head('200 OK', 'Transfer-Encoding: chunked\r\n')}ffff\r\n${FILLER}`),
  /** A chunked body without end, as fast as the reader reads. */
  endless: socket => {
    socket.write(head('200 OK', 'Transfer-Encoding: chunked\r\n'));
    pour(socket, `${FILLER.length.toString(16)}\r\n${FILLER}\r\n`);
  },
  /** Header lines without end. */
  'endless-head': socket => {
    socket.write('HTTP/1.1 200 OK\r\n');
    pour(socket, `X-More: ${'y'.repeat(1000)}\r\n`);
  },
  /** 1 GiB of zeros in a megabyte of gzip. */
  bomb: socket => bomb(socket),
  /** Random bytes called text/html. */
  binary: (socket, url) => binary(socket, url),
  /** Content-Encoding: gzip, but it is not. */
  'bad-coding': socket => socket.end(head('200 OK', `Content-Encoding: gzip\r\n${length(FILLER.length)}`) + FILLER),
  /** A banner of another protocol. */
  'not-http': socket => socket.end('220 mail.invalid ESMTP ready\r\n'),
  'redirect-to-self': (socket, url) => socket.end(head('302 Found', `Location: ${url}\r\n${CLOSE}`)),
  'status-429': socket => socket.end(head('429 Too Many Requests', `Retry-After: 2\r\n${CLOSE}`)),
  'status-500': socket => socket.end(head('500 Internal Server Error', CLOSE)),
  'status-503': socket => socket.end(head('503 Service Unavailable', `Retry-After: 120\r\n${CLOSE}`)),
} satisfies Record<string, (socket: Socket, url: string) => unknown>;

export type Fault = keyof typeof acts;
export const FAULTS = Object.keys(acts) as readonly Fault[];

/** Answers one request with the fault. `url` is absolute. */
export function misbehave(socket: Socket, fault: Fault, url: string): void {
  // A client that leaves makes the pending write fail: that is the expected end of most faults.
  socket.on('error', () => socket.destroy());
  acts[fault](socket, url);
}

/** For the log: the status that the client could read, 0 = none. */
export function faultStatus(fault: Fault): number {
  if (fault.startsWith('status-')) return Number(fault.slice(7));
  if (fault === 'redirect-to-self') return 302;
  return ['hang', 'reset-at-once', 'close', 'not-http', 'drip-head', 'endless-head'].includes(fault) ? 0 : 200;
}

function drip(socket: Socket, text: string): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < text.length) socket.write(text[sent++]!);
    else socket.end();
  }, 50);
  socket.on('close', () => clearInterval(timer));
}

/** Writes the same bytes for as long as the other side reads them. */
function pour(socket: Socket, text: string): void {
  const block = Buffer.from(text.repeat(16));
  const more = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', more);
  more();
}

/** Sixteen megabytes of zeros; a body may be many such members, and making each anew would keep a small machine busy. */
let zeros: Buffer | undefined;

function bomb(socket: Socket): void {
  socket.write(`HTTP/1.1 200 OK\r\n${HTML}Content-Encoding: gzip\r\nConnection: close\r\n\r\n`);
  zeros ??= gzipSync(Buffer.alloc(1 << 24), { level: 9 });
  for (let member = 0; member < 64; member++) socket.write(zeros);
  socket.end();
}

function binary(socket: Socket, url: string): void {
  const body = Buffer.alloc(40_000);
  for (let i = 0; i < body.length; i += 4) body.writeUInt32LE(hashOf(url.length, i), i);
  socket.write(`HTTP/1.1 200 OK\r\n${HTML}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`);
  socket.end(body);
}
