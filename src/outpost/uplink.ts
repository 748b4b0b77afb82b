/**
 * The outpost's end of the lines on which its work leaves: one to its parent and, where home has let it, one straight
 * home. What the spool holds leaves in order, as fast as the line takes it and no faster. The outpost's own parcels go
 * straight while they can; what concerns outposts below goes to the parent.
 *
 * Invariant: whichever way begins, it begins with the oldest parcel that was not acknowledged and leaves none out. So
 * parcels of one errand may arrive by two ways and twice, but none arrives before the one that it follows.
 */
import { hash } from 'node:crypto';
import type { Line } from '../transfer/line.ts';
import type { Spool, Spooled } from './spool.ts';

type UplinkItem = Spooled | { readonly errand: string; readonly why: string };

/** Milliseconds that a small parcel may wait for those of other errands; what was looked at was filled for longer. */
const PATIENCE = 3000;

export class Uplink {
  readonly #spool: Spool;
  /** More small parcels will come soon. */
  readonly #moreToCome: () => boolean;
  /** Errands that will not be finished here, until the parent forgets them. */
  readonly #givenUp = new Map<string, string>();
  #line: Line | undefined;
  #direct: Line | undefined;
  /** Errands that the direct line has heard of. */
  readonly #claimed = new Set<string>();
  #waiting: UplinkItem[] = [];
  /** Counts the ways taken, and tells which of them is being served: a line that is full holds up no other. */
  #way = 0;
  #pumping = -1;
  /** Bytes sent in all. */
  bytes = 0;

  constructor(spool: Spool, moreToCome: () => boolean) {
    this.#spool = spool;
    this.#moreToCome = moreToCome;
  }

  /** To the parent. */
  get line(): Line | undefined {
    return this.#line?.over ? undefined : this.#line;
  }

  attach(line: Line): void {
    this.#line = line;
    this.resend();
  }

  detach(line: Line): void {
    if (this.#line === line) this.#line = undefined;
  }

  /** Own parcels go this way from now on; undefined = to the parent again. */
  goStraight(line: Line | undefined): void {
    this.#direct = line;
    this.#claimed.clear();
    this.#way++;
    this.#waiting = [];
    this.#restart();
  }

  calm(calm: boolean): void {
    this.line?.calm(calm);
    this.#direct?.calm(calm);
  }

  /** The way to home through the parent is new: whatever took it before is sent again. */
  resend(): void {
    if (this.#direct) this.#repeatGivenUp();
    else this.#restart();
  }

  /** A parcel is durable and may leave. */
  parcel(parcel: Spooled): void {
    if (!this.#lineOf(parcel.errand)) return; // the next line begins with it
    this.#waiting.push(parcel);
    void this.#pump();
  }

  giveUp(errand: string, why: string): void {
    this.#givenUp.set(errand, why);
    if (!this.#lineOf(errand)) return;
    this.#waiting.push({ errand, why });
    void this.#pump();
  }

  forget(errand: string): void {
    this.#givenUp.delete(errand);
    this.#claimed.delete(errand);
  }

  #restart(): void {
    this.#waiting = [...this.#spool.parcels()];
    this.#repeatGivenUp();
  }

  #repeatGivenUp(): void {
    for (const [errand, why] of this.#givenUp) this.#waiting.push({ errand, why });
    void this.#pump();
  }

  /** Errands that were passed on are claimed by those who have them. */
  #lineOf(errand: string): Line | undefined {
    const own = this.#spool.errands.get(errand)?.to === '';
    return own && this.#direct ? this.#direct : this.line;
  }

  async #pump(): Promise<void> {
    const way = this.#way;
    if (this.#pumping === way) return;
    this.#pumping = way;
    while (way === this.#way && this.#waiting.length > 0) {
      const item = this.#waiting.shift()!;
      const line = this.#lineOf(item.errand);
      if (!line) continue; // the next line begins with it
      this.#send(line, item);
      await line.drained();
    }
    if (this.#pumping === way) this.#pumping = -1;
  }

  #send(line: Line, item: UplinkItem): void {
    if (line === this.#direct) this.#claim(line, item.errand);
    if ('why' in item) {
      if (this.#givenUp.has(item.errand)) line.send({ kind: 'give-up', errand: item.errand, why: item.why });
      return;
    }
    const bytes = this.#spool.read(item);
    if (!bytes) return;
    this.bytes += bytes.length;
    line.write(bytes, this.#moreToCome() ? PATIENCE : 0);
  }

  #claim(line: Line, errand: string): void {
    if (this.#claimed.has(errand)) return;
    this.#claimed.add(errand);
    const { warrant, bytes } = this.#spool.errands.get(errand)!.frame;
    line.send({ kind: 'claim', errand, digest: hash('sha256', bytes), warrant });
  }
}
