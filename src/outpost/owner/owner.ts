/**
 * What the owner of this machine allows, whatever an errand says: which servers, whether private addresses, how much a
 * day, and how much at once. The parent may narrow it and never widen it.
 */
import type { Clock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { normalise } from '../../base/url.ts';
import type { Errand } from '../../errand/errand.ts';
import { commonDomains, compileScope } from '../../errand/scope/scope.ts';
import type { Welcome } from '../../transfer/wire/messages.ts';
import { below, CEILINGS, type Ceilings } from './ceilings.ts';
import { Meter } from './meter.ts';
import { Quota, type QuotaTerms } from './quota.ts';

/** What the owner may change while the outpost runs. */
export interface ChangeableTerms {
  /** What the owner lets it use in a day. */
  readonly quota?: QuotaTerms;
  /** What errands may use at most; absent = CEILINGS. */
  readonly ceilings?: Partial<Ceilings>;
}

export interface OwnerTerms extends ChangeableTerms {
  /** Of the outpost, as refusals name it. */
  readonly name: string;
  /** Hosts or domains that the owner allows; empty = any. */
  readonly servers: readonly string[];
  /** The owner lets errands open private addresses. */
  readonly allowPrivate: boolean;
  readonly clock: Clock;
}

export class Owner {
  readonly meter = new Meter();
  readonly #terms: OwnerTerms;
  readonly #quota: Quota;
  #ceilings: Ceilings;
  #outside: (url: string) => unknown = () => undefined;

  /** `file`: where the counts of the day are kept. */
  constructor(terms: OwnerTerms, file: string) {
    this.#terms = terms;
    this.#quota = new Quota(file, terms.quota ?? {});
    this.#ceilings = { ...CEILINGS, ...terms.ceilings };
    this.collect();
  }

  get ceilings(): Ceilings {
    return this.#ceilings;
  }

  change({ quota = {}, ceilings }: ChangeableTerms): void {
    this.#ceilings = { ...CEILINGS, ...ceilings };
    this.#quota.change(quota);
    this.collect();
  }

  /** What the parent allows besides. */
  narrow({ servers, pagesADay, bytesADay }: Pick<Welcome, 'servers' | 'pagesADay' | 'bytesADay'>): void {
    const domains = commonDomains(this.#terms.servers, servers);
    const outside = domains && compileScope({ domains, include: [], exclude: [] });
    this.#outside = outside ?? (() => 'out-of-scope');
    this.#quota.narrow({ ...(pagesADay > 0 && { pages: pagesADay }), ...(bytesADay > 0 && { bytes: bytesADay }) });
    this.collect();
  }

  /** A sentence when nothing more may be begun today; empty = it may. */
  get spent(): string {
    const why = this.#quota.exhausted(this.#terms.clock.now());
    return why === '' ? '' : `${this.#terms.name} has reached its limit for today: ${why}.`;
  }

  /** The errand within what is allowed; throws 'refused'. `running`: errands that run here now. */
  admit(errand: Errand, running = 0): Errand {
    const { server } = errand;
    const url = `${server.origin}/`;
    // One that is spelled in another way might mean another host to whoever fetches than to whoever allows.
    if (normalise(url) !== url)
      throw new SkeinError('refused', 'The errand is refused: the origin of its server is not normalised.');
    if (this.#outside(url) !== undefined) {
      throw new SkeinError('refused', `The rules of ${this.#terms.name} exclude ${server.origin}.`);
    }
    if (running >= this.#ceilings.errands) {
      throw new SkeinError('refused', `${this.#terms.name} already runs ${running} errands, its limit.`);
    }
    this.collect();
    const allowPrivate = server.allowPrivate && this.#terms.allowPrivate;
    const bounded = below({ ...errand, server: { ...server, allowPrivate } }, this.#ceilings);
    return this.#quota.admit(bounded, this.#terms.clock.now());
  }

  /** Counts what the threads have used by now. True = there is nothing left, and what is under way has to end. */
  collect(): boolean {
    const now = this.#terms.clock.now();
    const over = this.#quota.count(this.meter.take(), now);
    this.meter.refill(this.#quota.left(now));
    return over;
  }

  /** So many pages of those promised to an errand were visited. */
  delivered(errand: string, pages: number): void {
    this.#quota.keep(errand, pages);
  }

  end(errand: string): void {
    this.#quota.end(errand);
  }
}
