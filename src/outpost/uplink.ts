/**
 * The outpost's end of the line to its parent. What the spool holds leaves in order, as fast as the line takes it and
 * no faster; after a new line everything that was not acknowledged leaves again, before anything new.
 */
import type { Line } from '../transfer/line.ts';
import type { Spool, Spooled } from './spool.ts';

type Item = Spooled | { readonly errand: string; readonly why: string };

export class Uplink {
  readonly #spool: Spool;
  /** Errands that will not be finished here, until the parent forgets them. */
  readonly #givenUp = new Map<string, string>();
  #line: Line | undefined;
  #waiting: Item[] = [];
  #pumping = false;
  /** Bytes sent in all. */
  bytes = 0;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

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

  /** Starts again with the oldest parcel that was not acknowledged. */
  resend(): void {
    this.#waiting = [...this.#spool.parcels()];
    for (const [errand, why] of this.#givenUp) this.#waiting.push({ errand, why });
    void this.#pump();
  }

  /** A parcel is durable and may leave. */
  parcel(parcel: Spooled): void {
    if (!this.line) return; // the next line begins with it
    this.#waiting.push(parcel);
    void this.#pump();
  }

  giveUp(errand: string, why: string): void {
    this.#givenUp.set(errand, why);
    if (!this.line) return;
    this.#waiting.push({ errand, why });
    void this.#pump();
  }

  forget(errand: string): void {
    this.#givenUp.delete(errand);
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let line = this.line; line && this.#waiting.length > 0; line = this.line) {
      this.#send(line, this.#waiting.shift()!);
      await line.drained();
    }
    this.#pumping = false;
  }

  #send(line: Line, item: Item): void {
    if ('why' in item) {
      if (this.#givenUp.has(item.errand)) line.send({ kind: 'give-up', errand: item.errand, why: item.why });
      return;
    }
    const bytes = this.#spool.read(item);
    if (!bytes) return;
    this.bytes += bytes.length;
    line.write(bytes);
  }
}
