/**
 * A budget (pages, or bytes) that all peers spend from together. Each has a slice of it, takes more by need every few
 * seconds, and spends its slice without asking anybody. What was spent and what is handed out never exceed the limit, so
 * the cluster overspends only where a peer dies between spending and settling: by that peer's slice at most.
 */
import { z } from 'zod';
import { DAY } from '../../base/clock.ts';
import { PEER_NAME } from '../topology/layout.ts';

/** Pages or bytes: two of them can be added. */
const amount = z
  .number()
  .min(0)
  .max(2 ** 52);

const sliceForm = z.object({
  /** In the peer's hands, and not known to be spent. */
  left: amount,
  /** Names its last settlement: one whose answer was lost is not booked twice. */
  settled: z.string().max(64),
});

export const budgetForm = z.object({
  limit: amount,
  /** Settled. */
  spent: amount,
  slices: z.record(z.string().regex(PEER_NAME), sliceForm),
  /** Of one that grows: until when it has; milliseconds since 1970. */
  time: z.number().min(0).max(8.64e15).optional(),
});
export type BudgetRecord = Readonly<z.infer<typeof budgetForm>>;

interface Settlement {
  readonly peer: string;
  readonly id: string;
  readonly limit: number;
  /** Spent since it settled last. */
  readonly used: number;
  /** Still in its hands, and it may be spending it meanwhile. */
  readonly keep: number;
  /** What it would like to have until it settles next. */
  readonly want: number;
  /** Peers whose slices stand; what others had comes back. */
  readonly living: readonly string[];
  /** It grows by so much a day, instead of having a limit; an hour of it may be saved up. */
  readonly growth?: { readonly perDay: number; readonly now: number };
}

const HOURS = 24;

/** The record after one peer has settled: its use is booked, and its slice is what it may spend from now on. */
export function settle(record: BudgetRecord | undefined, settlement: Settlement): BudgetRecord {
  const { peer, id, used, keep, want, living, growth } = settlement;
  if (record?.slices[peer]?.settled === id) return record;
  const spent = (record?.spent ?? 0) + used;
  const slices: Record<string, z.infer<typeof sliceForm>> = {};
  let out = 0;
  for (const [other, slice] of Object.entries(record?.slices ?? {})) {
    if (other === peer || !living.includes(other)) continue;
    slices[other] = slice;
    out += slice.left;
  }
  const limit = growth ? grownLimit(record, spent + out, growth) : settlement.limit;
  const free = Math.max(0, limit - spent - out);
  // The last of a budget is not all one peer's, however fast it is.
  const share = Math.ceil(free / Math.max(1, living.length));
  const left = Math.floor(Math.min(free, Math.max(keep, Math.min(want, share))));
  const time = growth && { time: Math.max(record?.time ?? 0, growth.now) };
  return { limit, spent, slices: { ...slices, [peer]: { left, settled: id } }, ...time };
}

/** Time only goes on, whoever's clock is ahead: a clock that is minutes off adds those minutes once. */
function grownLimit(
  record: BudgetRecord | undefined,
  taken: number,
  { perDay, now }: NonNullable<Settlement['growth']>,
): number {
  const days = Math.max(0, now - (record?.time ?? now)) / DAY;
  return Math.min((record?.limit ?? 0) + perDay * days, taken + Math.max(1, perDay / HOURS));
}

/** A record that is changed by compare-and-set: `SharedRecord`. */
interface ChangeBudget {
  change(change: (record: BudgetRecord | undefined) => BudgetRecord): Promise<BudgetRecord>;
}

export interface Spender {
  readonly name: string;
  readonly session: string;
}

/** A slice lasts for so many settlements, at the speed of the last one. */
const AHEAD = 2;
/** The first slice, as a part of the limit: how fast this peer spends is not known yet. */
const FIRST = 0.02;

export class SharedBudget {
  readonly #record: ChangeBudget;
  readonly #me: Spender;
  readonly #living: () => readonly string[];
  #limit: number;
  /** What it grows by a day; undefined = it has its limit from the beginning. */
  #growth: (() => { readonly perDay: number; readonly now: number }) | undefined;
  #slice = 0;
  #used = 0;
  /** Somebody was refused since the last settlement. */
  #short = true;
  #settlements = 0;
  #closed = false;
  #last: BudgetRecord | undefined;

  constructor(record: ChangeBudget, me: Spender, limit: number, living: () => readonly string[]) {
    this.#record = record;
    this.#me = me;
    this.#limit = limit;
    this.#living = living;
  }

  /** What may be spent now, until the next settlement. */
  get left(): number {
    return Math.max(0, this.#slice - this.#used);
  }

  /** True when all is spent, as the whole cluster saw it last: nothing more will come. */
  get isSpent(): boolean {
    return this.#growth === undefined && this.#last !== undefined && this.#last.spent >= this.#last.limit;
  }

  set limit(limit: number) {
    this.#limit = limit;
  }

  /** From now on it grows, instead of having a limit. */
  set growth(growth: () => { readonly perDay: number; readonly now: number }) {
    this.#growth = growth;
  }

  /** Takes from the slice if there is enough; the caller does what it wanted to only then. */
  spend(amount: number): boolean {
    if (amount > this.left) {
      this.#short = true;
      return false;
    }
    this.#used += amount;
    return true;
  }

  /** Books what happened anyway: the bytes of a page are known when it has come. */
  book(amount: number): void {
    this.#used += amount;
  }

  /** Spent, and then not needed. */
  giveBack(amount: number): void {
    this.#used = Math.max(0, this.#used - amount);
  }

  /** Called every few seconds, and when the slice is used up. Keeps what it has when the engine does not answer. */
  async settle(): Promise<void> {
    if (this.#closed) return;
    const first = Math.max(1, Math.ceil(this.#limit * FIRST));
    // Who needs nothing gives half of it back each time.
    const idle = this.#used === 0 ? this.left / 2 : AHEAD * this.#used;
    await this.#settle(this.#short ? Math.max(idle, first) : idle);
  }

  /** Books what was spent, and gives the rest to the others. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#settle(0);
  }

  async #settle(want: number): Promise<void> {
    const used = this.#used;
    // Given up here before anybody hears of it.
    const keep = Math.floor(Math.min(this.left, want));
    this.#slice = used + keep;
    const { name: peer, session } = this.#me;
    const id = `${session}-${this.#settlements++}`;
    const living = [...new Set([...this.#living(), peer])];
    const record = await this.#record.change(before =>
      settle(before, {
        ...{ peer, id, limit: this.#limit, used, keep, want, living },
        ...(this.#growth && { growth: this.#growth() }),
      }),
    );
    // What was spent while the engine answered counts against the new slice.
    this.#used -= used;
    this.#slice = record.slices[peer]?.left ?? 0;
    this.#short = false;
    this.#last = record;
  }
}
