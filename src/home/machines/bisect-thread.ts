/** The thread in which pages on trial are visited: started with the first trial, closed after the last, given nothing else. */
import type { Errand } from '../../errand/errand.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import type { Dispatch } from './dispatch.ts';

export class BisectThread {
  readonly #dispatch: Dispatch;
  readonly #start: () => Carrier;
  #carrier: Carrier | undefined;

  /** `start` makes a thread that gets nothing but what is sent to it on purpose. */
  constructor(dispatch: Dispatch, start: () => Carrier) {
    this.#dispatch = dispatch;
    this.#start = start;
  }

  is(carrier: Carrier): boolean {
    return carrier === this.#carrier;
  }

  send(errand: Errand): void {
    if (!this.#carrier) {
      this.#carrier = this.#start();
      this.#dispatch.join(this.#carrier);
    }
    this.#dispatch.send(errand, this.#carrier);
    this.#carrier.send(errand);
  }

  /** It died; the next errand starts another. */
  died(): void {
    this.#carrier = undefined;
  }

  close(): void {
    if (!this.#carrier) return;
    this.#dispatch.leave(this.#carrier);
    void this.#carrier.close();
    this.#carrier = undefined;
  }
}
