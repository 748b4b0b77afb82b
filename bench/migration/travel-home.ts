/**
 * `travel-home.ts JSON`: reaches a machine through ssh, then sends errands of one page, one after another, and prints how
 * long the code and each errand took. What home makes once for all machines, the archive of the code, is made before.
 */
import { mkdirSync } from 'node:fs';
import type { Errand } from '../../src/errand/errand.ts';
import { startUnpacker } from '../../src/home/unpack/unpacker.ts';
import { makeBundle } from '../../src/transfer/bundle.ts';
import { greetOutpost } from '../../src/transfer/entry/greeting.ts';
import { openSsh } from '../../src/transfer/ssh/ssh.ts';
import { parseSsh } from '../../src/transfer/ssh/ssh-target.ts';
import { StreamCarrier } from '../../src/transfer/stream-carrier.ts';
import { plainErrand, plainPage } from '../../test/errand/plain-errand.ts';
import { makeSpeaker, welcomeOf } from '../../test/transfer/places.ts';

export interface Journey {
  readonly url: string;
  readonly command: readonly string[];
  /** A page of a server beside the outpost. */
  readonly page: string;
  readonly errands: number;
  /** Where home keeps its things. */
  readonly data: string;
}

export interface Travelled {
  /** Milliseconds until the outpost has greeted. */
  readonly arrival: number;
  /** Milliseconds from sending an errand to its last parcel, each. */
  readonly errands: readonly number[];
  /** Bytes of the archive of the code. */
  readonly code: number;
}

const { url, command, page, errands, data } = JSON.parse(process.argv[2]!) as Journey;
mkdirSync(data, { recursive: true });
const code = makeBundle().bytes.length;
const home = makeSpeaker('home');
const unpacker = startUnpacker({ directory: data, agentToken: 'skein' });
let ended = () => {};
const carrier = new StreamCarrier(
  { name: 'far', identity: home.identity, unpacker },
  {
    parcel: (_, parcel) => {
      if (parcel.done) ended();
    },
    gaveUp: (_, errand, why) => {
      throw new Error(`${errand} was given up: ${why}`);
    },
    changed: () => {},
    lost: () => {},
  },
);

const started = performance.now();
const stream = await openSsh(parseSsh(url), { spool: 'travel', software: '0.0.0-bench', command });
const { line, hello } = await greetOutpost(stream, home, () => welcomeOf(home));
const arrival = performance.now() - started;
carrier.attach(line, hello);

const times: number[] = [];
for (let i = 0; i < errands; i++) {
  const done = new Promise<void>(resolve => {
    ended = resolve;
  });
  const before = performance.now();
  carrier.send(errandOf(`travel-${i}`));
  await done;
  times.push(performance.now() - before);
  carrier.forget(`travel-${i}`);
}
console.log(JSON.stringify({ arrival, errands: times, code } satisfies Travelled));
await carrier.close();
await unpacker.close();
process.exit(0);

function errandOf(id: string): Errand {
  const robots = { status: 404, body: '', unreachableSince: 0, time: Date.now() };
  return plainErrand(id, new URL(page).origin, {
    server: { allowPrivate: true, robots, missing: new Uint8Array() },
    pages: [plainPage(page)],
  });
}
