/** Bytes both ways at the sockets of a server, and where they went. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a face said or was told, pages with news, pages that say what was sent before, "as before", anything else. */
export const trafficParts = ['faces', 'news', 'pages', 'unchanged', 'other'] as const;
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

  /** A request came; `of`: what it asks for. `from`: the site that it is of, known when it ends. */
  note({ socket }: IncomingMessage, response: ServerResponse, of: 'faces' | SentContents, from?: () => string): void {
    this.#sum.requests++;
    response.once('close', () => {
      const part = this.#sum.parts[of === 'faces' ? of : of.partOf(response)];
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

/** Whether an answer with a page told its reader anything: what a page says now, beside what it said when it was sent last. */
export class SentContents {
  readonly #sent = new Map<string, string>();
  readonly #contentOf: (path: string) => string | undefined;

  /** `contentOf`: what our detector makes of the page; undefined = there is none. */
  constructor(contentOf: (path: string) => string | undefined) {
    this.#contentOf = contentOf;
  }

  partOf({ statusCode, req }: ServerResponse): TrafficPart {
    if (statusCode !== 200) return statusCode === 304 ? 'unchanged' : 'other';
    const path = req.url!;
    const content = this.#contentOf(path) ?? '';
    const before = this.#sent.get(path);
    this.#sent.set(path, content);
    return before === content ? 'pages' : 'news';
  }
}
