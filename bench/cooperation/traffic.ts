/** Bytes both ways at the sockets of a server, and where they went. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a face said or was told, pages that came, "as before", anything else. */
export const trafficParts = ['faces', 'pages', 'unchanged', 'other'] as const;
export type TrafficPart = (typeof trafficParts)[number];

export interface Traffic {
  bytes: number;
  requests: number;
  readonly parts: Record<TrafficPart, { bytes: number; requests: number }>;
  /** Bytes of requests that said of which site they are. */
  readonly from: Map<string, number>;
}

export function noTraffic(): Traffic {
  const parts = Object.fromEntries(trafficParts.map(part => [part, { bytes: 0, requests: 0 }]));
  return { bytes: 0, requests: 0, parts: parts as Traffic['parts'], from: new Map() };
}

/** Counts from the first connection on. */
export class Meter {
  #sum = noTraffic();
  /** Bytes of each connection that were given to a part already. */
  readonly #counted = new WeakMap<Socket, number>();
  readonly #counters = new Set<() => void>();

  constructor(server: Server) {
    server.on('connection', socket => {
      let before = 0;
      const count = () => {
        this.#sum.bytes += passed(socket) - before;
        before = passed(socket);
      };
      this.#counters.add(count);
      socket.once('close', () => {
        count();
        this.#counters.delete(count);
      });
    });
  }

  /** A request came; `isFace`: by the answer it is one of what sites tell. `from`: the site that it is of, known when it ends. */
  note({ socket }: IncomingMessage, response: ServerResponse, isFace: boolean, from?: () => string): void {
    this.#sum.requests++;
    response.once('close', () => {
      const part = this.#sum.parts[isFace ? 'faces' : partOf(response)];
      part.requests++;
      const bytes = passed(socket) - (this.#counted.get(socket) ?? 0);
      part.bytes += bytes;
      this.#counted.set(socket, passed(socket));
      if (from) this.#sum.from.set(from(), (this.#sum.from.get(from()) ?? 0) + bytes);
    });
  }

  /** Bytes of all connections, to see whether something still goes on. */
  passed(): number {
    for (const count of this.#counters) count();
    return this.#sum.bytes;
  }

  /** Since the last call. */
  take(): Traffic {
    for (const count of this.#counters) count();
    const all = this.#sum;
    this.#sum = noTraffic();
    return all;
  }
}

function passed(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten;
}

function partOf({ statusCode }: ServerResponse): TrafficPart {
  return statusCode === 304 ? 'unchanged' : statusCode === 200 ? 'pages' : 'other';
}
