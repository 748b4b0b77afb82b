/** A home that sends single errands to a standing outpost, and the outpost, both in this process with sockets between. */
import { join } from 'node:path';
import { DAY, systemClock } from '../../src/base/clock.ts';
import type { Errand } from '../../src/errand/errand.ts';
import type { Identity } from '../../src/errand/keys.ts';
import type { Parcel } from '../../src/errand/parcel.ts';
import { startUnpacker } from '../../src/home/unpack/unpacker.ts';
import { StandingOutpost } from '../../src/outpost/standing-outpost.ts';
import type { Receiver } from '../../src/transfer/carrier.ts';
import { greetOutpost } from '../../src/transfer/entry/greeting.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { StreamCarrier } from '../../src/transfer/stream-carrier.ts';
import { openDoor } from '../../src/transfer/websocket.ts';
import { makeSpeaker, welcomeOf } from '../transfer/places.ts';

export interface Parent extends AsyncDisposable {
  readonly identity: Identity;
  /** Names of those who did the work, by errand. */
  readonly by: Map<string, string>;
  /** What an outpost gets that asks for code. */
  code: (digest: string) => { terms: Uint8Array; bytes: Uint8Array } | undefined;
  token(): string;
  /** Sends an errand: its visits, or why it was given up. */
  run(errand: Errand): Promise<Parcel['visits'] | string>;
}

export async function openParent(path: string): Promise<Parent> {
  const members = new Members(join(path, 'door'));
  const home = makeSpeaker('home', { identity: members.identity() });
  const { identity } = home;
  const unpacker = startUnpacker({ directory: path, agentToken: 'skein' });
  const ends = new Map<string, (end: Parcel['visits'] | string) => void>();
  const by = new Map<string, string>();
  const code = (digest: string) => parent.code(digest);
  const carrier = new StreamCarrier({ name: 'near', identity, unpacker, code }, receiverOf(ends, by));
  const here = Promise.withResolvers<void>();
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, members.certificate(), async stream => {
    const admit = (hello: Parameters<Members['admit']>[0]) => {
      members.admit(hello, Date.now());
      return welcomeOf(home);
    };
    const { line, hello } = await greetOutpost(stream, home, admit);
    carrier.attach(line, hello);
    here.resolve();
  });
  const parent: Parent = {
    identity,
    by,
    code: () => undefined,
    token: () => members.invite({ ...invitation, port: door.port }),
    async run(errand) {
      await here.promise;
      const end = new Promise<Parcel['visits'] | string>(resolve => ends.set(errand.id, resolve));
      carrier.send(errand);
      return end;
    },
    async [Symbol.asyncDispose]() {
      await carrier.close();
      await door.close();
      await unpacker.close();
    },
  };
  return parent;
}

const invitation = { host: '127.0.0.1', expires: Date.now() + DAY, uses: 1, servers: [], quotas: {} };

function receiverOf(
  ends: ReadonlyMap<string, (end: Parcel['visits'] | string) => void>,
  done: Map<string, string>,
): Receiver {
  const visits = new Map<string, Parcel['visits'][number][]>();
  return {
    parcel(from, parcel, by = from.name) {
      const all = [...(visits.get(parcel.errand) ?? []), ...parcel.visits];
      visits.set(parcel.errand, all);
      done.set(parcel.errand, by);
      if (!parcel.done) return;
      from.forget(parcel.errand);
      ends.get(parcel.errand)?.(all);
    },
    gaveUp(from, errand, why) {
      from.forget(errand);
      ends.get(errand)?.(why);
    },
    changed: () => {},
    lost: () => {},
  };
}

/** The outpost that joined in this directory, with a door of its own. */
export function startOutpost(directory: string): AsyncDisposable & { readonly outpost: StandingOutpost } {
  const outpost = new StandingOutpost({
    ...{ directory, software: '0.0.0-test', threads: 1, spoolBytes: 1 << 30, clock: systemClock, say: () => {} },
    backOff: { first: 50, longest: 200 },
    listen: { host: '127.0.0.1', port: 0 },
  });
  const running = outpost.run();
  return {
    outpost,
    async [Symbol.asyncDispose]() {
      await outpost.stop();
      await running;
    },
  };
}
