/**
 * The leases of this peer on addresses: asks the desk of each address it wants, keeps what it uses, gives back what it
 * no longer needs. Whoever is about to make a request asks `until` first. What many addresses need of one desk goes in
 * one message.
 */
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import {
  type DeskOrigin,
  type LeaseAnswer,
  type LeaseAsk,
  LeaseDesk,
  LONG_SLICE,
  MOST_PACE,
  SLICE,
} from './lease-desk.ts';

/** Addresses in one message. */
const MOST_ASKED = 2000;
/** Prolonged when less than this is left, in milliseconds. */
const PROLONG = LONG_SLICE / 2;
/** Milliseconds between two messages about the same address. */
const ASK_AGAIN = 250;

const address = z.string().min(1).max(64);
const askForm = z.object({
  peer: z.string().max(64),
  asks: z
    .array(
      z.object({
        address,
        pace: z.number().min(0).max(MOST_PACE),
        held: z.number().min(0).max(LONG_SLICE),
        busy: z.boolean().optional(),
      }),
    )
    .max(MOST_ASKED),
  /** With what was left of each. */
  back: z.array(z.tuple([address, z.number().min(0).max(LONG_SLICE)])).max(MOST_ASKED),
});
const answerForm = z
  .array(z.union([z.object({ granted: z.number().min(0).max(LONG_SLICE) }), z.object({ wait: z.number().min(0) })]))
  .max(MOST_ASKED);

export type LeaseRequest = z.infer<typeof askForm>;

interface LeaseOptions {
  readonly me: string;
  readonly clock: Clock;
  /** The partition of an address. */
  readonly partitionOf: (address: string) => number;
  /** Who holds a partition; undefined = nobody now. */
  readonly holderOf: (partition: number) => string | undefined;
  /** Carries a request to another peer's `answer`; rejects or returns undefined when nothing came back. */
  readonly ask: (peer: string, request: LeaseRequest) => Promise<unknown>;
  /** Ticks until which the desks here may be believed: as long as their partitions are known to be this peer's. */
  readonly desksUntil?: () => number;
  /** Requests to the address are under way here. */
  readonly isBusy?: (address: string) => boolean;
}

interface WantedAddress {
  pace: number;
  /** Ticks. */
  until: number;
  askAt: number;
}

export class AddressLeases {
  readonly #options: LeaseOptions;
  readonly #desks = new Map<number, LeaseDesk>();
  readonly #wanted = new Map<string, WantedAddress>();
  /** To be given back, with the ticks until which each was held. */
  readonly #back = new Map<string, number>();
  /** Peers whose answer is awaited. */
  readonly #asking = new Set<string>();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** This peer holds the partition now. */
  openDesk(partition: number, origin: DeskOrigin): void {
    this.#desks.set(partition, new LeaseDesk(this.#options.clock.ticks(), origin));
  }

  closeDesk(partition: number): void {
    this.#desks.delete(partition);
  }

  /** Wants the address, until `done`. Requests may be made when `until` says so. */
  want(address: string, pace: number): void {
    const wanted = this.#wanted.get(address);
    if (wanted) wanted.pace = pace;
    else this.#wanted.set(address, { pace, until: 0, askAt: 0 });
    this.#back.delete(address);
  }

  done(address: string): void {
    const wanted = this.#wanted.get(address);
    if (!wanted) return;
    this.#wanted.delete(address);
    this.#back.set(address, wanted.until);
  }

  /** Ticks until which requests to the address may be made; in the past = not now. */
  until(address: string): number {
    return this.#wanted.get(address)?.until ?? 0;
  }

  /** Ticks at which `turn` should be called again. */
  nextTurn(): number {
    let soonest = Number.POSITIVE_INFINITY;
    for (const { askAt } of this.#wanted.values()) soonest = Math.min(soonest, askAt);
    return this.#back.size > 0 ? 0 : soonest;
  }

  /**
   * Sends what is to be asked, prolonged and given back, and takes the answers; `told` is called after each peer's. Called by
   * the loop, also while answers are awaited: a peer that is slow holds up its own addresses alone.
   */
  async turn(told: () => void = () => {}): Promise<void> {
    const carried = [...this.#requests()].map(([peer, request]) => this.#carry(peer, request).then(told));
    await Promise.all(carried);
  }

  /** Another peer asks the desks here. Throws what zod throws when it is no such request. */
  answer(request: unknown): LeaseAnswer[] {
    const { peer, asks, back } = askForm.parse(request);
    const { clock, desksUntil } = this.#options;
    const ticks = clock.ticks();
    for (const [address, held] of back) this.#deskOf(address)?.giveBack(peer, address, ticks, held);
    const most = desksUntil ? Math.min(LONG_SLICE, Math.max(0, desksUntil() - ticks)) : LONG_SLICE;
    return asks.map(ask => this.#deskOf(ask.address)?.ask(peer, ask, ticks, most) ?? { wait: SLICE });
  }

  #deskOf(address: string): LeaseDesk | undefined {
    return this.#desks.get(this.#options.partitionOf(address));
  }

  #requests(): Map<string, LeaseRequest> {
    const { me, clock, holderOf, partitionOf, isBusy } = this.#options;
    const now = clock.ticks();
    const requests = new Map<string, LeaseRequest>();
    const requestTo = (address: string): LeaseRequest | undefined => {
      const peer = holderOf(partitionOf(address));
      if (peer === undefined || this.#asking.has(peer)) return undefined;
      const request = requests.get(peer) ?? { peer: me, asks: [], back: [] };
      requests.set(peer, request);
      return request;
    };
    for (const [address, wanted] of this.#wanted) {
      if (wanted.askAt > now) continue;
      const { asks } = requestTo(address) ?? {};
      if (!asks) continue;
      wanted.askAt = now + ASK_AGAIN;
      const held = Math.min(LONG_SLICE, Math.max(0, wanted.until - now));
      const ask: LeaseAsk = { address, pace: wanted.pace, held, ...(isBusy?.(address) && { busy: true }) };
      if (asks.length < MOST_ASKED) asks.push(ask);
    }
    for (const [address, until] of this.#back) {
      const { back } = requestTo(address) ?? {};
      if (!back && until > now) continue;
      if (back && back.length < MOST_ASKED) back.push([address, Math.min(LONG_SLICE, Math.max(0, until - now))]);
      this.#back.delete(address);
    }
    return requests;
  }

  async #carry(peer: string, request: LeaseRequest): Promise<void> {
    const { me, clock, ask } = this.#options;
    // The desk counts from when it hears of it, which is later.
    const asked = clock.ticks();
    let answers: z.infer<typeof answerForm> | undefined;
    this.#asking.add(peer);
    try {
      answers = answerForm.safeParse(peer === me ? this.answer(request) : await ask(peer, request)).data;
    } catch {
      // Nothing came back: the addresses are asked for again.
    } finally {
      this.#asking.delete(peer);
    }
    if (answers?.length !== request.asks.length) return;
    for (const [i, { address }] of request.asks.entries()) this.#note(address, answers[i]!, asked);
  }

  #note(address: string, answer: LeaseAnswer, asked: number): void {
    const wanted = this.#wanted.get(address);
    if (!wanted) return;
    if ('wait' in answer) {
      // What it has it keeps to its end: a desk that has just moved may not know of it.
      wanted.askAt = asked + Math.max(ASK_AGAIN, Math.min(answer.wait, SLICE / 2));
      return;
    }
    wanted.until = Math.max(wanted.until, asked + answer.granted);
    wanted.askAt = asked + Math.max(ASK_AGAIN, Math.min(answer.granted / 2, PROLONG));
  }
}
