/**
 * Who stands at the door and has not proved who they are. They are few, and none for long: where there are too many, or
 * too many from one address, the one who has stood there longest of those that came from the busiest address leaves. So
 * sockets that say nothing keep nobody out but one another.
 */
interface Stranger {
  destroy(): void;
}

/** At once, in all and from one address. */
const MOST = 64;
const MOST_ALIKE = 16;
/** Milliseconds that one may take, from the first byte of TCP to the end of the greeting. */
const PATIENCE = 15_000;

export class Strangers {
  /** By address, longest there first. */
  readonly #here = new Map<string, Map<Stranger, NodeJS.Timeout>>();
  #count = 0;

  come(stranger: Stranger, address: string): void {
    const alike = this.#here.get(address) ?? new Map<Stranger, NodeJS.Timeout>();
    this.#here.set(address, alike);
    alike.set(stranger, setTimeout(() => this.#send(stranger, address), PATIENCE).unref());
    this.#count++;
    if (alike.size > MOST_ALIKE) this.#sendFirst(address);
    else if (this.#count > MOST) this.#sendFirst(this.#busiest());
  }

  /** It is no stranger any more, or has gone. */
  leave(stranger: Stranger, address: string): void {
    const alike = this.#here.get(address);
    const timer = alike?.get(stranger);
    if (!alike || timer === undefined) return;
    clearTimeout(timer);
    alike.delete(stranger);
    this.#count--;
    if (alike.size === 0) this.#here.delete(address);
  }

  #busiest(): string {
    let [busiest, most] = ['', 0];
    for (const [address, { size }] of this.#here) if (size > most) [busiest, most] = [address, size];
    return busiest;
  }

  #sendFirst(address: string): void {
    const [first] = this.#here.get(address)?.keys() ?? [];
    if (first) this.#send(first, address);
  }

  #send(stranger: Stranger, address: string): void {
    this.leave(stranger, address);
    stranger.destroy();
  }
}
