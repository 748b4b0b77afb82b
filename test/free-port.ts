/**
 * Ports for what can only be told a number: a door that is named in a token before it is open, a program of the system.
 * Whoever can listen on port 0 does that instead.
 */
import { createServer } from 'node:net';

/** Below those that the system gives to others, which it may do before whoever asked for this one listens. */
const FIRST = 15_000;
const PORTS = 17_000;
/** Test files run at the same time: each process has a stretch of its own, as long as pids are near each other. */
const STRETCH = 61;

let given = 0;

/** A port of loopback that was free a moment ago, and is given once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((process.pid * STRETCH + given++) % PORTS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
