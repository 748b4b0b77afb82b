/** A line between a peer and the engine that can be cut and slowed down: bytes wait, and no end of it hears why. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Line extends AsyncDisposable {
  readonly port: number;
  /** Nothing passes any more, in either direction. */
  cut(): void;
  /** What waited goes on. */
  mend(): void;
  /** Milliseconds that everything takes from now on. */
  slow(ms: number): void;
}

export async function openLine(to: number): Promise<Line> {
  const sockets = new Set<Socket>();
  let delay = 0;
  let whole = Promise.withResolvers<void>();
  whole.resolve();
  const server = createServer(near => {
    const far = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      let last = Promise.resolve();
      from.on('data', bytes => {
        // In order, and each as late as any: what comes meanwhile is on its way, too.
        const due = performance.now() + delay;
        last = last.then(async () => {
          await whole.promise;
          if (delay > 0) await new Promise(resolve => setTimeout(resolve, Math.max(0, due - performance.now())));
          into.write(bytes);
        });
      });
      from.on('error', () => {}); // either end may be killed
      from.on('close', () => {
        sockets.delete(from);
        // On a line that is cut nobody hears that the other end is gone.
        void whole.promise.then(() => into.destroy());
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      whole = Promise.withResolvers<void>();
    },
    mend: () => whole.resolve(),
    slow: ms => {
      delay = ms;
    },
    async [Symbol.asyncDispose]() {
      whole.resolve();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
