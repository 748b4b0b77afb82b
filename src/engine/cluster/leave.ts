/**
 * The leave of a peer's threads to ask: until when this peer knows that what it holds is its own, and which addresses are its
 * own at the moment. Threads count both by the clock themselves; what is said here only prolongs them. What was recalled
 * before does not see it, since a thread reads what it is told in order.
 */
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Clock } from '../../base/clock.ts';
import { partitionOf } from '../../base/partition.ts';
import { AddressLeases, type LeaseRequest } from '../../cluster/leases/address-leases.ts';
import type { EngineContact } from '../../cluster/members/members.ts';
import { leaseSubject } from '../../cluster/topology/layout.ts';
import type { ThreadCarrier, ThreadWishes } from '../../transfer/thread.ts';
import type { LeaveDesk } from '../threads/leave-desk.ts';

interface PeerLeaveParts {
  readonly connection: NatsConnection;
  readonly me: string;
  readonly clock: Clock;
  readonly partitions: number;
  readonly holderOf: (partition: number) => string | undefined;
  /** Requests to an address are under way. */
  readonly isBusy: (address: string) => boolean;
}

/** Milliseconds for which the desk of an address is waited for: four ways over slow lines, and less than a lease lasts. */
const PATIENCE = 4000;
/** Bytes of a request to a desk. */
const MOST_BYTES = 512_000;

export class PeerLeave implements LeaveDesk {
  readonly leases: AddressLeases;
  readonly #threads = new Set<ThreadCarrier>();
  /** The spacing that each thread wants at an address. */
  readonly #wishes = new Map<string, Map<ThreadCarrier, number>>();
  /** Ticks until which an address is this peer's, as the threads were told. */
  readonly #told = new Map<string, number>();
  readonly #desk: Subscription;
  /** Ticks until which what this peer holds is its own, and until which its threads may ask. */
  #safeUntil = 0;
  #asksUntil = 0;

  constructor({ connection, me, clock, partitions, holderOf, isBusy }: PeerLeaveParts) {
    this.leases = new AddressLeases({
      me,
      clock,
      // As if it were a host: any function does that all peers agree on.
      partitionOf: address => partitionOf(address, partitions),
      holderOf,
      ask: async (peer, request: LeaseRequest) =>
        (await connection.request(leaseSubject(peer), JSON.stringify(request), { timeout: PATIENCE })).json(),
      desksUntil: () => this.#safeUntil,
      isBusy,
    });
    this.#desk = connection.subscribe(leaseSubject(me), {
      callback: (error, message) => {
        if (!error) this.#answer(message);
      },
    });
  }

  started(thread: ThreadCarrier): void {
    this.#threads.add(thread);
    thread.leave({ until: this.#asksUntil, addresses: [] });
  }

  ended(thread: ThreadCarrier): void {
    this.#threads.delete(thread);
    for (const address of this.#wishes.keys()) this.#drop(address, thread);
  }

  wishes(thread: ThreadCarrier, { wanted, done }: ThreadWishes): void {
    for (const address of done) this.#drop(address, thread);
    for (const [address, spacing] of wanted) {
      const by = this.#wishes.get(address) ?? new Map<ThreadCarrier, number>();
      by.set(thread, spacing);
      this.#wishes.set(address, by);
      this.leases.want(address, Math.max(...by.values()));
    }
    const known = wanted.flatMap(([address]) => {
      const until = this.#told.get(address);
      return until === undefined ? [] : [[address, until] as const];
    });
    if (known.length > 0) thread.leave({ until: this.#asksUntil, addresses: known });
    void this.turn();
  }

  /** There is contact, as of these ticks. */
  renew({ safeUntil, asksUntil }: EngineContact): void {
    this.#safeUntil = Math.max(safeUntil, this.#safeUntil);
    if (asksUntil <= this.#asksUntil) return;
    this.#asksUntil = asksUntil;
    for (const thread of this.#threads) thread.leave({ until: asksUntil, addresses: [] });
  }

  /** Asks for what is wanted and prolongs what is used; called several times a second. */
  turn(): Promise<void> {
    return this.leases.turn(() => this.#tell());
  }

  close(): void {
    this.#desk.unsubscribe();
  }

  #drop(address: string, thread: ThreadCarrier): void {
    const by = this.#wishes.get(address);
    by?.delete(thread);
    if (!by || by.size > 0) return;
    this.#wishes.delete(address);
    this.#told.delete(address);
    this.leases.done(address);
  }

  #tell(): void {
    const news = new Map<ThreadCarrier, [string, number][]>();
    for (const [address, by] of this.#wishes) {
      const until = this.leases.until(address);
      if (until === this.#told.get(address) || until === 0) continue;
      this.#told.set(address, until);
      for (const thread of by.keys()) {
        const told = news.get(thread) ?? [];
        told.push([address, until]);
        news.set(thread, told);
      }
    }
    for (const [thread, addresses] of news) thread.leave({ until: this.#asksUntil, addresses });
  }

  #answer(message: Msg): void {
    if (message.data.length > MOST_BYTES) return;
    try {
      message.respond(JSON.stringify(this.leases.answer(message.json())));
    } catch {
      // No request to a desk: whoever sent it gets no answer.
    }
  }
}
