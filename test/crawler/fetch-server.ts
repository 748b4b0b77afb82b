/** Servers of raw bytes on loopback for the fetcher's tests, and a fetcher whose limits only a test's own can reach. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type FetcherOptions, openFetcher } from '../../src/crawler/fetch/fetcher.ts';
import type { Answer, Ask, Failure, Fetcher, Response } from '../../src/crawler/stages.ts';

/** Milliseconds that no machine is busy for; a test that waits for a limit sets that one itself. */
const PATIENCE = 60_000;

export interface RawServer {
  readonly origin: string;
  /** Connections accepted so far. */
  connections: number;
  /** Request heads received, in order. */
  readonly requests: string[];
  /** Resolves when so many of its connections are closed. */
  closed(count: number): Promise<void>;
}

/** `reply` is called with the socket once per request head; it writes whatever the test is about. */
export async function serve(
  t: TestContext,
  reply: (socket: Socket, request: string, count: number) => void,
  host = '127.0.0.1',
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let closings = 0;
  const server = createServer({ noDelay: true }, socket => {
    raw.connections++;
    sockets.add(socket);
    socket.on('error', () => {}); // clients that leave are part of the tests
    socket.on('close', () => {
      sockets.delete(socket);
      closings++;
      server.emit('left');
    });
    let text = '';
    socket.on('data', bytes => {
      text += bytes.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        requests.push(text.slice(0, end + 4));
        text = text.slice(end + 4);
        reply(socket, requests.at(-1)!, requests.length);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    connections: 0,
    requests,
    async closed(count) {
      while (closings < count) await once(server, 'left');
    },
  };
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return raw;
}

export function fetcherFor(t: TestContext, options: Partial<FetcherOptions> = {}): Fetcher {
  const fetcher = openFetcher({
    userAgent: 'Skein/0.1 (+https://skein.example/bot)',
    ...options,
    timeouts: {
      ...{ connect: PATIENCE, tls: PATIENCE, firstByte: PATIENCE, betweenBytes: PATIENCE, body: PATIENCE },
      ...options.timeouts,
    },
  });
  t.after(() => fetcher.close());
  return fetcher;
}

export function ask(url: string, more: Partial<Ask> = {}): Ask {
  return { url, maxBytes: 1_000_000, allowPrivate: true, ...more };
}

export function response(answer: Answer): Response {
  if (answer.kind !== 'response') throw new Error(`a failure: ${answer.reason} (${answer.detail})`);
  return answer;
}

export function failure(answer: Answer): Failure {
  if (answer.kind !== 'failure') throw new Error(`a response: ${answer.status}`);
  return answer;
}

export const text = (answer: Answer): string => Buffer.from(response(answer).body).toString('latin1');
