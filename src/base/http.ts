import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * What is used of node:http. Importing that module as one reads all of its exports, one of which loads a whole HTTP
 * client that Skein does not use: 70 to 90 milliseconds of CPU in every thread (profiled).
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Who asks, as far as an address tells: one person has a whole /64 of the newer addresses, so those count as one. IPv4 is
 * the same however it is written.
 */
export function askerOf(address: string): string {
  const old = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (old !== undefined || !address.includes(':')) return old ?? address;
  const [before = '', after] = address.split('%', 1)[0]!.toLowerCase().split('::');
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const gap = Math.max(0, 8 - left.length - right.length);
  const groups = after === undefined ? left : [...left, ...Array<string>(gap).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

export const isLoopback = (address: string): boolean => /^(?:::ffff:)?127\.|^::1$/.test(address);

/** How many connections a public port holds, in all and for one asker; `isProxy` = it speaks for many. */
interface ConnectionRoom {
  readonly most: number;
  readonly alike: number;
  readonly isProxy: (address: string) => boolean;
}

/**
 * Keeps a public port usable for all: beyond its share an asker gets no more connections, and where all places are taken, the
 * asker with most of them loses its oldest.
 */
export function shareConnections(server: Pick<Server, 'on'>, { most, alike, isProxy }: ConnectionRoom): void {
  const here = new Map<string, Set<Socket>>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const asker = askerOf(address);
    const own = here.get(asker) ?? new Set();
    if (own.size >= alike && !isProxy(address)) return void socket.destroy();
    here.set(asker, own.add(socket));
    count++;
    socket.once('close', () => {
      own.delete(socket);
      count--;
      if (own.size === 0 && here.get(asker) === own) here.delete(asker);
    });
    if (count <= most) return;
    const [busiest] = [...here.values()].sort((a, b) => b.size - a.size);
    const [oldest] = busiest!;
    oldest?.destroy();
  });
}

/**
 * Answers of a public port that are under way, by asker, each until its last byte has gone or its line has broken: whoever
 * sends hundreds of questions in one breath, or takes nothing of the answers, gets no more of them for now.
 */
export class AnswersUnderWay {
  readonly #most: number;
  readonly #count = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** False = this asker has as many as it may have. */
  begin(asker: string, response: Pick<EventEmitter, 'once'>): boolean {
    const now = this.#count.get(asker) ?? 0;
    if (now >= this.#most) return false;
    this.#count.set(asker, now + 1);
    response.once('close', () => {
      const left = this.#count.get(asker)! - 1;
      if (left > 0) this.#count.set(asker, left);
      else this.#count.delete(asker);
    });
    return true;
  }
}
