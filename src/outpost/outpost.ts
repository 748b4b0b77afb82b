/**
 * An outpost receives errands and runs the crawler on them, many at once, and lets their parcels out as they fill. The
 * machine's owner is sovereign here: pace, addresses and quotas are the outpost's own, whatever an errand asks.
 *
 * It never touches the ledger, the frontier or the archive: those are home's.
 */
import { crawl } from '../crawler/crawl.ts';
import type { Tools } from '../crawler/tools.ts';
import type { Errand } from '../errand/errand.ts';
import type { Parcel } from '../errand/parcel.ts';

export class Outpost {
  readonly #tools: Tools;
  readonly #deliver: (parcel: Parcel) => void;
  readonly #running = new Set<Promise<void>>();
  #recalled = new AbortController();

  constructor(tools: Tools, deliver: (parcel: Parcel) => void) {
    this.#tools = tools;
    this.#deliver = deliver;
  }

  /** Starts an errand; its last parcel says done, whatever happens. */
  receive(errand: Errand): void {
    const running = this.#run(errand, this.#deliver).finally(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** The one place where an errand becomes work. */
  #run(errand: Errand, deliver: (parcel: Parcel) => void): Promise<void> {
    return crawl(errand, this.#tools, deliver, this.#recalled.signal);
  }

  /** Ends the errands under way after the requests already sent. */
  async recall(): Promise<void> {
    this.#recalled.abort();
    this.#recalled = new AbortController();
    await Promise.allSettled(this.#running);
  }

  async close(): Promise<void> {
    await this.recall();
    await this.#tools.fetcher.close();
  }
}
