/**
 * An outpost receives errands and runs the crawler on them, many at once, and lets their parcels out as they fill. The
 * machine's owner is sovereign here: pace, addresses and quotas are the outpost's own, whatever an errand asks.
 *
 * It never touches the ledger, the frontier or the archive: those are home's.
 */
import { SkeinError } from '../base/errors.ts';
import { crawl } from '../crawler/crawl.ts';
import { type OutpostTools, toolsFor } from '../crawler/tools.ts';
import type { Errand } from '../errand/errand.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Deciders } from './cages/deciders.ts';

interface OutpostEvents {
  parcel(parcel: Parcel): void;
  /** The errand cannot be run here: the code that it names does not. */
  gaveUp(errand: string, why: string): void;
}

export class Outpost {
  readonly #tools: OutpostTools;
  readonly #deciders: Deciders;
  readonly #events: OutpostEvents;
  readonly #running = new Map<string, { readonly ended: Promise<void>; readonly recalled: AbortController }>();

  constructor(tools: OutpostTools, deciders: Deciders, events: OutpostEvents) {
    this.#tools = tools;
    this.#deciders = deciders;
    this.#events = events;
  }

  /** Starts an errand; its last parcel says done, or it is given up. */
  receive(errand: Errand): void {
    const recalled = new AbortController();
    const ended = this.#run(errand, recalled.signal).finally(() => this.#running.delete(errand.id));
    this.#running.set(errand.id, { ended, recalled });
  }

  /** The one place where an errand becomes work. */
  async #run(errand: Errand, signal: AbortSignal): Promise<void> {
    const { code, id } = errand;
    let tools = toolsFor(this.#tools, errand.server.origin);
    try {
      if (code !== undefined) tools = { ...tools, decider: await this.#deciders.get(code) };
      const over = this.#tools.requests?.over || this.#tools.decider?.over;
      if (over) throw new SkeinError('refused', over);
    } catch (error) {
      return this.#events.gaveUp(id, (error as Error).message);
    }
    await crawl(errand, tools, parcel => this.#events.parcel(parcel), signal);
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
    await this.#deciders.close();
    await this.#tools.fetchers.close();
  }
}
