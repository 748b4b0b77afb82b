/** What the tests of lines share: places on disk, homes that greet, a relay that can be cut. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeIdentity } from '../../src/errand/keys.ts';
import type { Speaker } from '../../src/transfer/entry/greeting.ts';
import type { Welcome } from '../../src/transfer/wire/messages.ts';

export function makePlace(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'skein-line-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export function makeSpeaker(name: string, more: Partial<Speaker> = {}): Speaker {
  return { name, software: '0.0.0-test', identity: makeIdentity(), now: () => Date.now(), ...more };
}

export function welcomeOf(home: Speaker): Welcome {
  const { key } = home.identity;
  return {
    home: key,
    contact: 'https://skein.example/test',
    servers: [],
    pagesADay: 0,
    bytesADay: 0,
    level: 1,
  };
}

/** A user-space relay: what a cable does when it is cut, and when it falls silent. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Connections that were made through it. */
  readonly count: number;
  /** Bytes from those who dialled. */
  readonly bytes: number;
  /** Ends all connections at once; new ones are taken again. */
  cut(): void;
  /** Takes bytes and passes none on, as a machine does that lost its power. */
  silence(silent: boolean): void;
}

export async function openRelay(target: number): Promise<Relay> {
  const pairs = new Set<[Socket, Socket]>();
  let silent = false;
  let count = 0;
  let bytes = 0;
  const server: Server = createServer(near => {
    count++;
    const far = connect(target, '127.0.0.1');
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.on('data', chunk => {
      bytes += chunk.length;
    });
    const pass = (from: Socket, to: Socket) => {
      from.on('data', chunk => {
        if (!silent) to.write(chunk);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    };
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    port: (server.address() as { port: number }).port,
    get count() {
      return count;
    },
    get bytes() {
      return bytes;
    },
    cut,
    silence: value => {
      silent = value;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
