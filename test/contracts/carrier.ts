/**
 * What every carrier must do, whatever lies between home and the outpost: the same lines are run by a thread, by ssh and
 * by a WebSocket. The outposts are real, and so are the servers that they visit.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Errand } from '../../src/errand/errand.ts';
import type { Parcel } from '../../src/errand/parcel.ts';
import type { Carrier, Receiver } from '../../src/transfer/carrier.ts';
import { plainErrand, plainPage } from '../errand/plain-errand.ts';
import { openWeb, type Web } from '../web/web.ts';

export interface Reached {
  readonly carrier: Carrier;
  close(): Promise<void>;
}

/** Reaches an outpost that answers to this receiver. */
export type Reach = (receiver: Receiver) => Promise<Reached>;

export function checkCarrier(kind: string, reach: Reach): void {
  test(`${kind}: parcels of an errand come in order, and the last says done`, async () => {
    await using web = await openWeb({ seed: 2, servers: 1, pagesPerServer: 30 });
    await using inbox = await openInbox(reach);
    inbox.carrier.send(errandOf('one', web));
    const parcels = await inbox.done('one');
    inbox.carrier.forget('one');
    assert.deepEqual(
      parcels.map(parcel => parcel.sequence),
      parcels.map((_, i) => i),
    );
    assert.deepEqual(
      parcels.map(parcel => parcel.done),
      parcels.map((_, i) => i === parcels.length - 1),
    );
    const urls = parcels.flatMap(parcel => parcel.visits.map(visit => visit.url)).sort();
    assert.deepEqual(urls, web.mustFind());
    for (const { visits, members } of parcels) {
      for (const { record } of visits) assert.equal(members[record!.offset], 0x1f, 'a member is gzip');
    }
  });

  test(`${kind}: errands run side by side, and what is acknowledged is not sent again`, async () => {
    await using web = await openWeb({ seed: 3, servers: 2, pagesPerServer: 12 });
    await using inbox = await openInbox(reach);
    inbox.carrier.send(errandOf('first', web, 0));
    inbox.carrier.send(errandOf('second', web, 1));
    for (const id of ['first', 'second']) {
      for (const { sequence } of await inbox.done(id)) inbox.carrier.acknowledge(id, sequence);
      inbox.carrier.forget(id);
    }
    assert.equal(inbox.parcels.filter(parcel => parcel.done).length, 2);
    assert.equal(inbox.parcels.flatMap(parcel => parcel.visits).length, 24);
  });

  test(`${kind}: what a parcel lay in may be filled again as soon as it was read`, async () => {
    await using web = await openWeb({ seed: 5, servers: 1, pagesPerServer: 20 });
    await using inbox = await openInbox(reach);
    const urls: string[][] = [];
    for (const id of ['first', 'second', 'third']) {
      inbox.carrier.send(errandOf(id, web));
      const parcels = await inbox.done(id);
      inbox.carrier.forget(id);
      urls.push(parcels.flatMap(parcel => parcel.visits.map(visit => visit.url)).sort());
      for (const { visits, members } of parcels) {
        for (const { record } of visits) assert.equal(members[record!.offset], 0x1f, 'a member is gzip');
      }
      for (const parcel of parcels) inbox.carrier.reuse?.(parcel);
    }
    assert.deepEqual(urls, [web.mustFind(), web.mustFind(), web.mustFind()]);
  });

  test(`${kind}: recalled errands end early, with what they have`, async () => {
    await using web = await openWeb({ seed: 4, servers: 1, pagesPerServer: 40 });
    await using inbox = await openInbox(reach);
    inbox.carrier.send({ ...errandOf('slow', web), server: { ...errandOf('slow', web).server, pace: 100 } });
    while (web.requests() < 5) await new Promise(resolve => setTimeout(resolve, 20));
    inbox.carrier.recall();
    const visits = (await inbox.done('slow')).flatMap(parcel => parcel.visits);
    inbox.carrier.forget('slow');
    assert.ok(visits.length >= 3 && visits.length < 40, `${visits.length} visits`);
  });
}

interface Inbox extends AsyncDisposable {
  readonly carrier: Carrier;
  readonly parcels: readonly Parcel[];
  /** The errand's parcels, when the last has come. */
  done(errand: string): Promise<Parcel[]>;
}

async function openInbox(reach: Reach): Promise<Inbox> {
  const parcels: Parcel[] = [];
  let wake = () => {};
  let failure: Error | undefined;
  const fail = (why: string) => {
    failure = new Error(why);
    wake();
  };
  const receiver: Receiver = {
    parcel: (_, parcel) => {
      parcels.push(parcel);
      wake();
    },
    gaveUp: (_, errand, why) => fail(`${errand} was given up: ${why}`),
    changed: () => {},
    lost: (_, why) => fail(`the outpost is lost: ${why}`),
  };
  const { carrier, close } = await reach(receiver);
  return {
    carrier,
    parcels,
    async done(errand) {
      for (;;) {
        if (failure) throw failure;
        const own = parcels.filter(parcel => parcel.errand === errand);
        if (own.at(-1)?.done) return own;
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

/** All pages of a server of the web, named; nothing known of them. */
export function errandOf(id: string, web: Web, server = 0): Errand {
  const origin = web.origins[server]!;
  const urls = web.mustFind().filter(url => url.startsWith(`${origin}/`));
  return plainErrand(id, origin, {
    kind: 'explore',
    server: { connections: 2, allowPrivate: true, missing: new Uint8Array() },
    pages: urls.map(plainPage),
  });
}
