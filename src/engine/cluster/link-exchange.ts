/**
 * Links between partitions, wherever they are. What one found for another waits in its own ledger, and so in its changelog,
 * until the other has it durably: that is the only store on the way, and a peer that dies on either side loses nothing.
 *
 * Order: the finder's commit has reached the engine; the batch goes to whoever holds the other partition; that one takes it
 * in and commits; its commit has reached the engine; only then is the batch dropped. A batch that comes again is known by
 * its number.
 */
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { decodeLinks, encodeLinks, MOST_BATCHES, MOST_MESSAGE } from '../../cluster/exchange/link-message.ts';
import type { Keeper } from '../../cluster/peer/keeper.ts';
import { linksSubject } from '../../cluster/topology/layout.ts';
import type { Home } from '../../home/home.ts';
import type { BorderBatch } from '../../ledger/outbox/border.ts';

interface ExchangeParts {
  readonly connection: NatsConnection;
  readonly home: Home;
  readonly partitions: number;
  /** Of a partition that is here. */
  readonly keeperOf: (partition: number) => Keeper | undefined;
  /** For people: whose a partition is. */
  readonly holderOf: (partition: number) => string | undefined;
}

/** Milliseconds for which an answer is waited for: the other side writes, and the engine has to have it. */
const PATIENCE = 10_000;
/** Before a partition that nobody answers for is asked again. */
const PAUSE = 500;
/** For which what may leave, and what the others have, is gathered, to be looked at and dropped together. */
const GATHER = 50;

/** Peers that a heartbeat tells of. */
const MOST_PEERS = 500;

/** Batches of one partition that are on their way to another. */
interface LinkWay {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly batches: readonly BorderBatch[];
}

/** The number of the last batch that was taken in, by sending partition. */
type TakenBatches = ReadonlyMap<number, number>;

export class LinkExchange {
  readonly #parts: ExchangeParts;
  readonly #subscriptions = new Map<number, Subscription>();
  /** Ways on which a batch is, as "from to". */
  readonly #busy = new Set<string>();
  readonly #notBefore = new Map<string, number>();
  /** What is to be dropped: partition, and up to which number, by sending partition. */
  readonly #drops = new Map<number, [to: number, taken: number][]>();
  #dropping: Promise<void> | undefined;
  #soon: NodeJS.Timeout | undefined;
  #closed = false;
  /** Batches by peer: sent to, and received from. */
  readonly sent = new Map<string, number>();
  readonly received = new Map<string, number>();
  /** Batches that were taken in. */
  taken = 0;
  bytes = 0;
  messages = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** Nothing waits here, and nothing is on its way from here. */
  get empty(): boolean {
    const waits = this.#parts.home.partitions.sum(
      ({ ledger }) => ledger.outbox.border.waiting.length + Number(ledger.outbox.border.pending),
    );
    return waits === 0 && this.#busy.size === 0;
  }

  /** Ways on which something waits. */
  get lag(): number {
    return this.#parts.home.partitions.sum(({ ledger }) => ledger.outbox.border.waiting.length);
  }

  /** Batches by peer, sent to it and received from it, but those that stayed with `me`. */
  sums(me: string): [peer: string, sent: number, received: number][] {
    const names = [...new Set([...this.sent.keys(), ...this.received.keys()])].filter(
      each => each !== '' && each !== me,
    );
    return names.slice(0, MOST_PEERS).map(name => [name, this.sent.get(name) ?? 0, this.received.get(name) ?? 0]);
  }

  /** Something may leave that could not before: what comes about at the same time is looked at together. */
  soon(): void {
    if (!this.#closed) this.#soon ??= setTimeout(() => this.turn(), GATHER);
  }

  /** Listens for the partitions that are here, and lets go what may. Called by the peer's clock. */
  turn(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#listen();
    const now = performance.now();
    const here = new Map<number, LinkWay[]>();
    for (const { id, ledger } of this.#parts.home.partitions) {
      const keeper = this.#parts.keeperOf(id);
      if (!keeper) continue;
      for (const to of ledger.outbox.border.waiting) {
        const key = `${id} ${to}`;
        const upTo = keeper.sentTo(to);
        if (upTo <= ledger.outbox.border.dropped(to) || this.#busy.has(key) || (this.#notBefore.get(key) ?? 0) > now)
          continue;
        const batches = this.#ready(id, to, upTo);
        if (batches.length === 0) continue;
        this.#busy.add(key);
        const way = { key, from: id, to, batches };
        if (!this.#parts.home.partitions.of(to))
          this.#ended(
            [way],
            this.#carry([way], () => this.#send(way)),
          );
        else if (!here.get(to)?.push(way)) here.set(to, [way]);
      }
    }
    // What several partitions here have for another one here is taken in by one commit.
    for (const [to, ways] of here) {
      const all = ways.flatMap(({ batches }) => batches);
      this.#ended(
        ways,
        this.#carry(ways, () => this.#take(to, all)),
      );
    }
  }

  #ended(ways: readonly LinkWay[], carried: Promise<boolean>): void {
    void carried.then(well => {
      for (const { key } of ways) {
        this.#busy.delete(key);
        if (!well) this.#notBefore.set(key, performance.now() + PAUSE);
      }
      if (well) this.soon();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#soon);
    for (const subscription of this.#subscriptions.values()) subscription.unsubscribe();
    this.#subscriptions.clear();
  }

  #listen(): void {
    const { home, connection } = this.#parts;
    for (const [id, subscription] of this.#subscriptions) {
      if (home.partitions.of(id)) continue;
      subscription.unsubscribe();
      this.#subscriptions.delete(id);
    }
    for (const { id } of home.partitions) {
      if (this.#subscriptions.has(id)) continue;
      const callback = (error: Error | null, message: Msg) => {
        // One who asks and gets no answer asks again.
        if (!error) void this.#answer(id, message).catch(() => undefined);
      };
      this.#subscriptions.set(id, connection.subscribe(linksSubject(id), { callback }));
    }
  }

  /** As many as fit into a message, up to the last one that the engine knows of. */
  #ready(from: number, to: number, upTo: number): BorderBatch[] {
    const { border } = this.#parts.home.partitions.of(from)!.ledger.outbox;
    const ready: BorderBatch[] = [];
    let size = 0;
    for (const batch of border.batches(from, to, border.dropped(to))) {
      size += batch.crossings.length;
      if (batch.number > upTo || (ready.length > 0 && size > MOST_BATCHES)) break;
      ready.push(batch);
    }
    return ready;
  }

  /** True when the other side has something of each durably, and that is dropped here. */
  async #carry(ways: readonly LinkWay[], send: () => Promise<TakenBatches | undefined>): Promise<boolean> {
    try {
      const taken = await send();
      if (taken === undefined) return false;
      await Promise.all(ways.map(way => this.#drop(way, taken.get(way.from) ?? 0)));
      return ways.every(({ from, batches }) => (taken.get(from) ?? 0) >= batches[0]!.number);
    } catch {
      return false; // nobody answers for it now, or it has just gone: tried again
    }
  }

  /** What is to be dropped of a partition is dropped together. */
  #drop({ from, to, batches }: LinkWay, taken: number): Promise<void> {
    const peer = this.#parts.holderOf(to) ?? '';
    this.sent.set(peer, (this.sent.get(peer) ?? 0) + batches.length);
    const drops = this.#drops.get(from) ?? [];
    drops.push([to, taken]);
    this.#drops.set(from, drops);
    this.#dropping ??= new Promise(resolve => setTimeout(resolve, GATHER)).then(async () => {
      const all = [...this.#drops];
      this.#drops.clear();
      this.#dropping = undefined;
      const { home } = this.#parts;
      await Promise.allSettled(
        all.map(([id, of]) => {
          const drop = () => {
            for (const [other, number] of of) home.partitions.of(id)?.ledger.outbox.border.drop(other, number);
          };
          return home.order(drop, id, true);
        }),
      );
    });
    return this.#dropping;
  }

  async #send({ from, to, batches }: LinkWay): Promise<TakenBatches | undefined> {
    let some = batches;
    let message = await encodeLinks({ from, first: some[0]!.number, batches: some.map(({ crossings }) => crossings) });
    for (; message.length > MOST_MESSAGE && some.length > 1; ) {
      some = some.slice(0, Math.ceil(some.length / 2));
      message = await encodeLinks({ from, first: some[0]!.number, batches: some.map(({ crossings }) => crossings) });
    }
    this.messages++;
    this.bytes += message.length;
    const { data } = await this.#parts.connection.request(linksSubject(to), message, { timeout: PATIENCE });
    const taken = data.length === 8 ? new DataView(data.buffer, data.byteOffset).getFloat64(0) : Number.NaN;
    if (!Number.isSafeInteger(taken) || taken < 0) return undefined;
    // What it was not sent it cannot have taken, whatever it says: that stays here.
    return new Map([[from, Math.min(taken, some.at(-1)!.number)]]);
  }

  async #answer(to: number, message: Msg): Promise<void> {
    const { from, first, batches } = await decodeLinks(message.data, this.#parts.partitions);
    const holder = this.#parts.holderOf(from) ?? '';
    this.received.set(holder, (this.received.get(holder) ?? 0) + batches.length);
    const taken = await this.#take(
      to,
      batches.map((crossings, i) => ({ from, to, number: first + i, crossings })),
    );
    if (taken?.get(from) === undefined) return;
    const answer = Buffer.alloc(8);
    answer.writeDoubleBE(taken.get(from)!);
    message.respond(answer);
  }

  /** Takes batches in; resolves with the number of the last one of each partition when it is durable. */
  async #take(to: number, batches: readonly BorderBatch[]): Promise<TakenBatches | undefined> {
    const { home, keeperOf } = this.#parts;
    const { taken, durable } = await home.order(
      () => {
        const partition = home.partitions.of(to);
        const last = new Map<number, number>();
        for (const batch of partition ? batches : []) last.set(batch.from, partition!.take(batch));
        // Asked for here: the batch may be committed, and another one begun, before anybody else has a turn.
        return { taken: last, durable: last.size > 0 ? keeperOf(to)?.durable() : undefined };
      },
      to,
      true,
    );
    if (!durable) return undefined;
    this.taken += batches.length;
    await durable;
    return taken;
  }
}
