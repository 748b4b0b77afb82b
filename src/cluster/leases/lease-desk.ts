/**
 * Turns at addresses. Servers of several peers may share one address, and its pace holds for all of them together: so one
 * peer at a time may use it. An address belongs to a partition as a host does, and the peer that holds the partition
 * keeps its desk: it grants the address for a while, to one peer after the other.
 *
 * Time slices, no messages to take one back: a lease ends by itself, by the monotonic clock of each side (the holder
 * counts from before it asked, the desk from after), so that neither a cut line nor a wrong clock lets two in.
 *
 * A desk grants for no longer than its peer knows the partition to be its own: when others take it from a dead peer, its
 * leases have run out. A desk that is handed over begins empty, and for as long as a lease may run it grants nothing but what
 * the holder before says it has, or gives back: a lease is one peer's, so that nobody else can have the address then.
 *
 * A holder whose lease is over while it waits for answers says so: their connections count, and the next one waits for them.
 */
/** Milliseconds: of a lease when others wait for the address, and when nobody does. */
export const SLICE = 3000;
export const LONG_SLICE = 10_000;
/** A peer that has not asked for so long no longer waits. */
const PATIENCE = 4000;
/** Addresses that a desk keeps; beyond, whoever asks waits. A holder costs about 200 bytes. */
const MOST_ADDRESSES = 500_000;
const MOST_WAITING = 1024;
/** Milliseconds for which a holder that waits for answers is believed: longer than it is silent. */
const BUSY = 2000;
/** Milliseconds; longest pace that a peer may ask a desk to keep between two holders. */
export const MOST_PACE = 3_600_000;

export interface LeaseAsk {
  readonly address: string;
  /** Milliseconds between two requests to the address: kept between the last of one peer and the first of the next. */
  readonly pace: number;
  /** Milliseconds of a lease that the peer has still. */
  readonly held: number;
  /** It has requests under way there. */
  readonly busy?: boolean | undefined;
}

/** Milliseconds: how long the peer may use the address, or after how long it should ask again. */
export type LeaseAnswer = { readonly granted: number } | { readonly wait: number };

export type DeskOrigin = 'new' | 'handed-over' | 'inherited';

interface LeaseTurn {
  holder: string;
  /** Ticks. */
  until: number;
  /** Ticks until which answers to its requests are awaited, as far as it said. */
  busy: number;
  pace: number;
  /** Who waits, in order, with the ticks at which each asked last. */
  readonly waiting: Map<string, number>;
}

export class LeaseDesk {
  readonly #turns = new Map<string, LeaseTurn>();
  /** Ticks before which nothing new is granted. */
  readonly #opens: number;
  readonly #fresh: boolean;

  /**
   * new: the partition was nobody's before, no lease can be running; handed-over: by a peer that lives; inherited: of a
   * dead one, whose leases are over, but for the pace after them.
   */
  constructor(ticks: number, origin: DeskOrigin) {
    this.#fresh = origin === 'new';
    this.#opens = origin === 'handed-over' ? ticks + LONG_SLICE : ticks;
  }

  get size(): number {
    return this.#turns.size;
  }

  /** `most`: milliseconds for which it may be granted at all. */
  ask(peer: string, { address, pace, held, busy = false }: LeaseAsk, ticks: number, most = LONG_SLICE): LeaseAnswer {
    const turn = this.#turnOf(address, ticks);
    if (!turn || most <= 0) return { wait: SLICE };
    turn.pace = Math.min(MOST_PACE, Math.max(turn.pace, pace));
    // Granted by the desk before this one.
    if (held > 0 && turn.until <= ticks && ticks < this.#opens)
      this.#give(turn, peer, ticks + Math.min(held, LONG_SLICE));
    if (turn.holder === peer) {
      if (turn.until > ticks) return this.#prolong(turn, peer, ticks, most);
      turn.busy = busy ? ticks + BUSY : 0;
    }
    for (const [other, asked] of turn.waiting) if (ticks - asked > PATIENCE) turn.waiting.delete(other);
    const next = turn.waiting.keys().next().value ?? peer;
    const opens = this.#opensFor(turn, peer);
    if (next === peer && turn.until <= ticks && opens <= ticks) return this.#grant(turn, peer, ticks, most);
    if (turn.waiting.has(peer) || turn.waiting.size < MOST_WAITING) turn.waiting.set(peer, ticks);
    const before = [...turn.waiting.keys()].indexOf(peer);
    return { wait: Math.max(1, Math.max(opens, turn.until) - ticks, 0) + Math.max(0, before) * SLICE };
  }

  /** Given back before its end; its last request was at most now, and all are answered. `held`: what it had left of it. */
  giveBack(peer: string, address: string, ticks: number, held = 0): void {
    const turn = held > 0 && ticks < this.#opens ? this.#turnOf(address, ticks) : this.#turns.get(address);
    if (!turn) return;
    turn.waiting.delete(peer);
    if (turn.holder === '' && held > 0) this.#give(turn, peer, ticks);
    if (turn.holder === peer) {
      turn.until = Math.min(turn.until, ticks);
      turn.busy = 0;
    }
  }

  /** The last request of another holder may have been made at the very end of its lease, also of one whom an earlier desk let in. */
  #opensFor({ holder, until, pace, busy }: LeaseTurn, peer: string): number {
    // Whoever has it, or had it last, is known: nobody else can have it of an earlier desk.
    if (holder === peer) return until;
    if (holder === '') return this.#fresh ? this.#opens : this.#opens + pace;
    return Math.max(until + pace, busy);
  }

  #turnOf(address: string, ticks: number): LeaseTurn | undefined {
    let turn = this.#turns.get(address);
    if (turn) return turn;
    if (this.#turns.size >= MOST_ADDRESSES) this.#sweep(ticks);
    if (this.#turns.size >= MOST_ADDRESSES) return undefined;
    turn = { holder: '', until: 0, busy: 0, pace: 0, waiting: new Map() };
    this.#turns.set(address, turn);
    return turn;
  }

  #prolong(turn: LeaseTurn, peer: string, ticks: number, most: number): LeaseAnswer {
    turn.waiting.delete(peer);
    const awaited = [...turn.waiting.values()].some(asked => ticks - asked <= PATIENCE);
    if (!awaited) turn.until = Math.max(turn.until, ticks + Math.min(LONG_SLICE, most));
    return { granted: turn.until - ticks };
  }

  #grant(turn: LeaseTurn, peer: string, ticks: number, most: number): LeaseAnswer {
    turn.waiting.delete(peer);
    const granted = Math.min(most, turn.waiting.size > 0 ? SLICE : LONG_SLICE);
    this.#give(turn, peer, ticks + granted);
    return { granted };
  }

  #give(turn: LeaseTurn, peer: string, until: number): void {
    turn.holder = peer;
    turn.until = until;
    turn.busy = 0;
  }

  /** Forgets addresses that nobody has or wants, once their pace has passed. */
  #sweep(ticks: number): void {
    for (const [address, { until, pace, waiting }] of this.#turns)
      if (until + pace < ticks && [...waiting.values()].every(asked => ticks - asked > PATIENCE))
        this.#turns.delete(address);
  }
}
