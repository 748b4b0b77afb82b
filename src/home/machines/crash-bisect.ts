/**
 * Finds the page that killed a thread. Errands that the thread had under way are run again in a thread of their own, one at a
 * time. If that thread dies as well, the pages that have not come back are halved until one is left: it gets the outcome
 * `killed`, and the crawl goes on without it. All others are visited as usual.
 *
 * Invariant: an errand on trial stays under way in the frontier until the last of its pages was tried, so that nobody
 * else visits its server out of turn.
 */
import type { Errand } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';

interface Trial {
  readonly errand: Errand;
  readonly pages: readonly Known[];
}

/** Home's side. */
interface Court {
  /** The page has not come back yet. */
  wants(errand: string, url: string): boolean;
  /** To the thread apart. */
  send(errand: Errand): void;
  convict(errand: string, page: Known): void;
  /** All pages of the errand were tried. */
  finish(errand: string): void;
}

/** Of a paced errand only so many pages can have been under way. */
const SUSPECTS_OF_PACED = 4;

export class CrashBisect {
  readonly #court: Court;
  readonly #waiting: Trial[] = [];
  #current: Trial | undefined;

  constructor(court: Court) {
    this.#court = court;
  }

  get over(): boolean {
    return this.#current === undefined && this.#waiting.length === 0;
  }

  /** The thread that had this errand died. */
  suspect(errand: Errand): void {
    const wanted = this.#left(errand, errand.pages);
    this.#waiting.push({ errand, pages: errand.server.pace > 0 ? wanted.slice(0, SUSPECTS_OF_PACED) : wanted });
  }

  /** Begins the next trial unless one is under way. */
  next(): void {
    while (this.#current === undefined) {
      const trial = this.#waiting.shift();
      if (!trial) return;
      const { errand } = trial;
      const pages = this.#left(errand, trial.pages);
      if (pages.length === 0) this.#settle(errand);
      else {
        this.#current = { errand, pages };
        this.#court.send({ ...errand, pages });
      }
    }
  }

  /** The thread survived the trial. */
  passed(): void {
    const { errand } = this.#end();
    this.#settle(errand);
  }

  /** The thread died in the trial. */
  died(): void {
    const { errand, pages } = this.#end();
    const left = this.#left(errand, pages);
    if (left.length > 1) {
      const half = Math.ceil(left.length / 2);
      this.#waiting.unshift({ errand, pages: left.slice(0, half) }, { errand, pages: left.slice(half) });
      return;
    }
    if (left[0]) this.#court.convict(errand.id, left[0]);
    this.#settle(errand);
  }

  #end(): Trial {
    const trial = this.#current!;
    this.#current = undefined;
    return trial;
  }

  #left({ id }: Errand, pages: readonly Known[]): readonly Known[] {
    return pages.filter(({ url }) => this.#court.wants(id, url));
  }

  #settle({ id }: Errand): void {
    if (!this.#waiting.some(({ errand }) => errand.id === id)) this.#court.finish(id);
  }
}

/** The parcel of a page that kills whoever reads it. */
export function lastWords(errand: string, { url, depth }: Known, time: number): Parcel {
  const cost = { up: 0, down: 0, cause: 'error', ms: 0 } as const;
  const visit: Visit = { url, depth, time, outcome: 'failed', reason: 'killed', status: 0, retryAfter: 0, cost };
  return { errand, sequence: 0, done: false, visits: [visit], members: new Uint8Array(0) };
}
