/** What is believed of a page that was never looked at twice: that it is like its server's other pages. */
import { serverPrior } from '../revisit/estimators/gamma.ts';
import { type ChangeState, newState, type Prior, unpackState } from '../revisit/state.ts';

export class Priors {
  /** By server: pages that were observed, and the sums of their beliefs. */
  readonly #sums = new Map<number, { pages: number; a: number; b: number }>();

  /** One more page of the server has been observed. */
  add(server: number, { a, b }: ChangeState): void {
    const sums = this.#sums.get(server) ?? { pages: 0, a: 0, b: 0 };
    this.#sums.set(server, { pages: sums.pages + 1, a: sums.a + a, b: sums.b + b });
  }

  of(server: number): Prior {
    const sums = this.#sums.get(server);
    return serverPrior(sums?.pages ?? 0, sums?.a ?? 0, sums?.b ?? 0);
  }
}

/** The state of a page; where nothing was observed yet, the prior as it is by now. */
export function believed(change: Uint8Array | null | undefined, prior: Prior): ChangeState {
  const state = change ? unpackState(change) : newState(prior);
  return state.visits === 0 ? { ...state, ...prior } : state;
}
