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
  readonly #running = new Map<string, { readonly ended: Promise<void>; readonly recalled: AbortController }>();

  constructor(tools: Tools, deliver: (parcel: Parcel) => void) {
    this.#tools = tools;
    this.#deliver = deliver;
  }

  /** Starts an errand; its last parcel says done, whatever happens. */
  receive(errand: Errand): void {
    const recalled = new AbortController();
    const ended = this.#run(errand, this.#deliver, recalled.signal).finally(() => this.#running.delete(errand.id));
    this.#running.set(errand.id, { ended, recalled });
  }

  /** The one place where an errand becomes work. */
  #run(errand: Errand, deliver: (parcel: Parcel) => void, signal: AbortSignal): Promise<void> {
    return crawl(errand, this.#tools, deliver, signal);
  }

  /** Ends one errand after the requests already sent. */
  cancel(errand: string): void {
    this.#running.get(errand)?.recalled.abort();
  }

  /** Ends the errands under way after the requests already sent. */
  async recall(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { recalled } of all) recalled.abort();
    await Promise.allSettled(all.map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    await this.recall();
    await this.#tools.fetcher.close();
  }
}
