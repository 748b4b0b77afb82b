/**
 * Who lives, by silence alone. A peer is suspect after 3 s without a heartbeat (it keeps what it has and gets nothing
 * new), dead after 10 s (others take what it had). 10 s covers a frozen server of the engine (7 s) and an election.
 *
 * Its clock is this peer's own contact with the engine: the moment at which it sent the last heartbeat that came back to
 * it. (Not the moment at which it came: a process that was frozen finds old ones in its socket.) So a peer that is cut
 * off, frozen or asleep does not declare the others dead; when contact returns after a gap, each of them has 10 s again.
 * Monotonic ticks only: nobody's wall clock matters.
 */
/** Milliseconds of silence. */
const SUSPECT = 3000;
export const DEAD = 10_000;
/** Without contact for so long, this peer stops fetching: 2 s before others take its partitions. */
const CUT_OFF = 8000;
/**
 * Without a word of the engine for so long, nothing more is asked: what is fetched then is not known to the engine, and would be
 * fetched again by an heir. As long as changes are on their way there anyway, and longer than a busy machine is late.
 */
const ASKS = 2000;
/** A gap in own heartbeats beyond which the silence of others says nothing. */
const LAPSE = 2500;

export type Liveness = 'living' | 'suspect' | 'dead';

export class Detector {
  /** Ticks at which each was heard last, and from which its silence counts. */
  readonly #heard = new Map<string, { at: number; from: number }>();
  readonly #gone = new Set<string>();
  /** Ticks at which the last heartbeat that came back was sent, and at which it came. */
  #contact: number;
  #came: number;
  /** Ticks at which the last question was sent that the engine answered. */
  #answered: number;
  #lapses = 0;

  constructor(ticks: number) {
    this.#contact = ticks;
    this.#came = ticks;
    this.#answered = ticks;
  }

  /**
   * How often contact was lost for so long that others may have taken what this peer holds: after each time it asks the
   * engine what is still its own, before it fetches.
   */
  get lapses(): number {
    return this.#lapses;
  }

  /** A heartbeat of this peer's own came back. */
  echoed(sent: number, now: number = sent): void {
    const lapsed = now - this.#came > LAPSE || sent - this.#contact > LAPSE;
    const dead = lapsed ? [...this.#heard.values()].filter(peer => this.#isDead(peer)) : [];
    // Either alone says it: heartbeats that wait for a lost line keep their times, and come back all at once.
    if (sent - this.#contact > CUT_OFF || now - this.#came > CUT_OFF) this.#lapses++;
    this.#contact = Math.max(sent, this.#contact);
    this.#came = now;
    if (!lapsed) return;
    for (const peer of this.#heard.values()) peer.from = Math.max(now, peer.from);
    // One that was dead before may be back, and is heard by then; else whoever is busy taking over begins to wait again and again.
    for (const peer of dead) peer.from = now - DEAD + SUSPECT;
  }

  /** The engine answered what was sent then, which says nothing of what others heard. */
  answered(sent: number): void {
    this.#answered = Math.max(sent, this.#answered);
  }

  heard(name: string, ticks: number): void {
    this.#gone.delete(name);
    this.#heard.set(name, { at: ticks, from: ticks });
  }

  /** One who holds something and was not heard yet: suspect, and dead if it stays silent. */
  expect(name: string, ticks: number): void {
    if (!this.#heard.has(name) && !this.#gone.has(name))
      this.#heard.set(name, { at: Number.NEGATIVE_INFINITY, from: Math.max(ticks, this.#contact) });
  }

  /** It said goodbye: others may take what it had at once. */
  left(name: string): void {
    this.#gone.add(name);
    this.#heard.delete(name);
  }

  of(name: string): Liveness {
    const peer = this.#heard.get(name);
    // Gone, or never heard of and not expected either.
    if (!peer) return 'dead';
    if (this.#isDead(peer)) return 'dead';
    return this.#contact - peer.at > SUSPECT ? 'suspect' : 'living';
  }

  #isDead({ from }: { readonly from: number }): boolean {
    return this.#contact - from > DEAD;
  }

  /** Ticks until which nobody takes what this peer holds, as far as contact tells. */
  get safeUntil(): number {
    return this.#contact + CUT_OFF;
  }

  /** Ticks until which more may be fetched. */
  get asksUntil(): number {
    return Math.min(this.#answered + ASKS, this.safeUntil);
  }

  cutOff(ticks: number): boolean {
    return ticks > this.safeUntil;
  }
}
