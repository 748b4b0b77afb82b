/**
 * What a peer may do as long as it is in contact with the engine, and what it does without: it finishes what is under way,
 * keeps it, stops fetching, and goes on with what is still its own when the engine is back.
 *
 * Its threads have leave to ask until some moment (leave.ts), which is moved on here while contact holds. It is over two seconds
 * after the engine's last word, long before anybody takes what this peer holds: what it fetches without the engine nobody
 * else learns of, and an heir fetches it again. A peer that was
 * frozen or cut off for so long that others may have taken its partitions asks the engine what is still its own before it
 * moves on again. So nothing goes out between waking up and knowing.
 */
import type { Claims } from '../../cluster/claims.ts';
import type { PeerMembers } from '../../cluster/members/members.ts';
import type { Custody } from '../../cluster/peer/custody.ts';
import type { Home } from '../../home/home.ts';
import type { PeerLeave } from './leave.ts';

interface ContactParts {
  readonly members: PeerMembers;
  readonly claims: Claims;
  readonly custody: Custody;
  readonly leave: PeerLeave;
  /** Looks anew at everything that is followed in the engine, and gives it what it has forgotten. */
  readonly lookAgain: () => Promise<void>;
  readonly say: (text: string) => void;
}

/** Milliseconds for which the engine may lack something of a partition while this peer fetches more for it. */
const BEHIND = 30_000;

export class Contact {
  readonly #parts: ContactParts;
  /** Losses of contact after which this peer has asked what is still its own. */
  #lapses = 0;
  #stopped = false;
  /** It was this that paused home, not a user. */
  #paused = false;
  #looking = false;

  constructor(parts: ContactParts) {
    this.#parts = parts;
  }

  /** Ticks until which what this peer holds is its own, as it knows; 0 = it does not know. */
  get safeUntil(): number {
    return this.#knows ? this.#parts.members.contact.safeUntil : 0;
  }

  /** Ticks until which servers may be asked. */
  get asksUntil(): number {
    return this.#knows ? this.#parts.members.contact.asksUntil : 0;
  }

  get #knows(): boolean {
    return !this.#stopped && this.#parts.members.contact.lapses === this.#lapses;
  }

  /** Called several times a second. */
  turn(home: Home | undefined): void {
    if (this.#looking) return;
    const { members, leave } = this.#parts;
    const may = members.mayFetch() && this.#trouble() === undefined;
    if (may && this.#knows) {
      leave.renew(members.contact);
      return;
    }
    if (!this.#stopped) this.#stop(home);
    if (may) void this.#goOn(home);
  }

  #stop(home: Home | undefined): void {
    this.#stopped = true;
    this.#paused = home?.state === 'working';
    if (this.#paused) home!.pause();
    const why = this.#trouble();
    const what = why === undefined ? 'does not answer' : `takes no changes (${why})`;
    this.#parts.say(`The engine ${what}. Skein keeps what it has and fetches nothing more until the engine is back.`);
  }

  /** Why the engine has not taken what was committed, if it has not for long: back-pressure. */
  #trouble(): string | undefined {
    for (const { keeper } of this.#parts.custody.held.values())
      if (keeper.lag > BEHIND) return keeper.trouble instanceof Error ? keeper.trouble.message : 'it is slow';
    return undefined;
  }

  async #goOn(home: Home | undefined): Promise<void> {
    const { members, claims, custody, leave, lookAgain, say } = this.#parts;
    this.#looking = true;
    const { lapses } = members.contact;
    try {
      await lookAgain();
      const held = [...custody.held.keys()];
      const mine = await Promise.all(held.map(partition => claims.isStillMine(partition)));
      await Promise.all(held.map((partition, i) => (mine[i] ? undefined : custody.lost(partition))));
      // It may have been away again meanwhile: then all of this is asked anew.
      if (members.contact.lapses !== lapses || !members.mayFetch()) return;
      this.#stopped = false;
      this.#lapses = lapses;
      leave.renew(members.contact);
      if (this.#paused && home?.state === 'paused') home.resume();
      say('The engine answers again.');
    } catch {
      // It is away again.
    } finally {
      this.#looking = false;
    }
  }
}
