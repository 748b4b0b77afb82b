/**
 * What the owner of this machine allows, whatever an errand says: which servers, whether private addresses, how much a
 * day. The parent may narrow it and never widen it.
 */
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { normalise } from '../base/url.ts';
import type { Errand } from '../errand/errand.ts';
import { commonDomains, compileScope } from '../errand/scope.ts';
import type { Welcome } from '../transfer/messages.ts';
import { Quota, type QuotaTerms, type Used } from './quota.ts';

export interface OwnerTerms {
  /** Of the outpost, as refusals name it. */
  readonly name: string;
  /** Hosts or domains that the owner allows; empty = any. */
  readonly servers: readonly string[];
  /** What the owner lets it use in a day. */
  readonly quota?: QuotaTerms;
  /** The owner lets errands open private addresses. */
  readonly allowPrivate: boolean;
  readonly clock: Clock;
}

export class Owner {
  readonly #terms: OwnerTerms;
  readonly #quota: Quota;
  #outside: (url: string) => unknown = () => undefined;

  /** `file`: where the counts of the day are kept. */
  constructor(terms: OwnerTerms, file: string) {
    this.#terms = terms;
    this.#quota = new Quota(file, terms.quota ?? {});
  }

  /** What the parent allows besides. */
  narrow({ servers, pagesADay, bytesADay }: Welcome): void {
    const domains = commonDomains(this.#terms.servers, servers);
    const outside = domains && compileScope({ domains, include: [], exclude: [] });
    this.#outside = outside ?? (() => 'out-of-scope');
    this.#quota.narrow({ ...(pagesADay > 0 && { pages: pagesADay }), ...(bytesADay > 0 && { bytes: bytesADay }) });
  }

  /** A sentence when nothing more may be begun today; empty = it may. */
  get spent(): string {
    const why = this.#quota.exhausted(this.#terms.clock.now());
    return why === '' ? '' : `No more may be visited from ${this.#terms.name} today: ${why}.`;
  }

  /** The errand within what is allowed; throws 'refused'. */
  admit(errand: Errand): Errand {
    const { server } = errand;
    const url = `${server.origin}/`;
    // One that is spelled in another way might mean another host to whoever fetches than to whoever allows.
    if (normalise(url) !== url)
      throw new SkeinError('refused', 'The errand is refused: its server is not spelled well.');
    if (this.#outside(url) !== undefined) {
      throw new SkeinError('refused', `${server.origin} may not be visited from ${this.#terms.name}.`);
    }
    const allowPrivate = server.allowPrivate && this.#terms.allowPrivate;
    return this.#quota.admit({ ...errand, server: { ...server, allowPrivate } }, this.#terms.clock.now());
  }

  /** Counts what visits cost. True = there is nothing left, and what is under way has to end. */
  spend(errand: string, used: Used): boolean {
    return this.#quota.spend(errand, used, this.#terms.clock.now());
  }

  end(errand: string): void {
    this.#quota.end(errand);
  }
}
