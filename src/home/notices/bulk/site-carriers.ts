/**
 * Sites that give their pages in bulk, as outposts of their own server: their errands go there before anyone else. A site
 * is trusted no more than a machine: of the pages that it gives, a share is looked at with a plain GET, and one that is
 * contradicted gives no more pages in this collection until its owner has mended it and a user forgives it.
 */
import type { Visit } from '../../../errand/visit.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { ThreadCarrier } from '../../../transfer/thread.ts';
import { issuedAt } from '../../../transfer/wire/wire-visit-checks.ts';
import { Audit } from '../../audit/audit.ts';
import { type AuditFetcher, makeSecondLook } from '../../audit/audit-fetcher.ts';
import type { Home } from '../../home.ts';
import type { SiteThreadData } from './site-thread.ts';

interface SiteParts {
  readonly home: Home;
  readonly ledger: Ledger;
  readonly now: () => number;
  /** A page by its URL, 0 = not known. */
  readonly find: (url: string) => number;
  readonly say: (text: string) => void;
  readonly data: Omit<SiteThreadData, 'origin' | 'pagesAt'>;
  /** Share of the pages given in bulk that are looked at with a plain GET. */
  readonly auditShare: number;
}

/** Pages that a site may have under way; sites whose pages are asked for in bulk at once. */
const ROOM = 1000;
const MOST_SITES = 16;
/** Milliseconds between two looks at a page that differs. */
const AUDIT_PAUSE = 10_000;
/** Milliseconds that the end of a run waits for audits. */
const DOUBT = 30_000;

/** How visits name who brought them. */
function siteName(origin: string): string {
  return `site ${origin}`;
}

export class SiteCarriers {
  readonly #parts: SiteParts;
  readonly #carriers = new Map<string, ThreadCarrier>();
  readonly #secondLook: AuditFetcher;
  readonly audit: Audit;
  #doubtful: number | undefined;
  /** Its partition is another machine's, which looks for itself. */
  #gone = false;

  constructor(parts: SiteParts) {
    this.#parts = parts;
    this.#secondLook = makeSecondLook(parts.data);
    this.audit = new Audit({
      share: parts.auditShare,
      pause: AUDIT_PAUSE,
      random: Math.random,
      now: parts.now,
      look: errand => this.#secondLook.look(errand),
      quarantine: (name, since, why) => this.#distrust(name, since, why),
    });
  }

  /** A site says that it gives its pages in bulk; an empty address: it no longer does. */
  readonly offers = (origin: string, pagesAt: string): void => {
    if (pagesAt !== '' && distrusted(this.#parts.ledger)[origin] === undefined) this.#open(origin, pagesAt);
  };

  /** A server sends pages as differences from our copies, which are read where its errands are run. */
  readonly differences = (origin: string): void => this.#open(origin, undefined);

  #open(origin: string, pagesAt: string | undefined): void {
    if (this.#carriers.has(origin) || this.#carriers.size >= MOST_SITES) return;
    const { home } = this.#parts;
    const carrier = new ThreadCarrier(
      {
        name: siteName(origin),
        room: ROOM,
        module: new URL(`./site-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
        data: { ...this.#parts.data, origin, pagesAt } satisfies SiteThreadData,
        servers: [hostOf(origin)],
      },
      {
        parcel: (from, parcel) => {
          const errand = home.dispatch.posts.sent(from, parcel.errand)?.errand;
          const since = Math.min(...home.dispatch.posts.errandsOf(from.name).map(issuedAt)) - 1;
          if (errand && !this.#gone) this.audit.offer(from.name, errand, this.#visible(parcel.visits), since);
          home.reception.parcel(from, parcel);
        },
        gaveUp: (from, errand) => home.reception.gaveUp(from, errand),
        trouble: (_, text) => this.#parts.say(text),
        changed: from => home.reception.changed(from),
        lost: (from, why) => {
          this.#carriers.delete(origin);
          this.#parts.say(`The thread for ${origin} ended: ${why}.`);
          home.reception.lost(from, why);
        },
      },
    );
    this.#carriers.set(origin, carrier);
    home.dispatch.join(carrier);
  }

  /** Pages that anybody can ask for, and that the site itself gave. */
  #visible(visits: readonly Visit[]): Visit[] {
    const { ledger, find } = this.#parts;
    const seen = visits.filter(
      ({ url, cost }) => cost.cause === 'delta' && ledger.links.hidden.of(find(url)) === undefined,
    );
    // The memory of a parcel is filled again before an audit has ended.
    return seen.map(({ links, facts, ...visit }) => ({ ...visit, ...(facts && { facts: facts.slice() }) }));
  }

  /** The last pages that sites gave are being checked: a run waits for that, but not for ever. */
  doubts(): boolean {
    if (this.audit.open === 0) this.#doubtful = undefined;
    else this.#doubtful ??= this.#parts.now();
    return this.#doubtful !== undefined && this.#parts.now() - this.#doubtful < DOUBT;
  }

  /** Their partition has gone to another machine. */
  async leave(): Promise<void> {
    this.#gone = true;
    for (const carrier of this.#carriers.values()) {
      this.#parts.home.reception.lost(carrier, 'its partition is on another machine');
      void carrier.close();
    }
    this.#carriers.clear();
    await this.close();
  }

  /** Carriers are closed by dispatch. */
  async close(): Promise<void> {
    await this.#secondLook.close();
  }

  #distrust(name: string, since: number, why: string): void {
    if (this.#gone) return;
    const { home, ledger, say } = this.#parts;
    const origin = name.slice(siteName('').length);
    const carrier = this.#carriers.get(origin);
    void home
      .order(() => ledger.settings.set('sites distrusted', { ...distrusted(ledger), [origin]: why }))
      .then(
        () => home.disown(name, since),
        () => 0, // the run has ended: what it said is in the message below
      )
      .then(pages => say(`Skein takes no more bulk pages from ${origin}: ${why}. It visits ${pages} pages again.`));
    if (!carrier) return;
    this.#carriers.delete(origin);
    home.reception.lost(carrier, why);
    void carrier.close();
  }
}

/** Sites whose pages turned out to be others than their servers show, each with the reason. */
export function distrusted(ledger: Ledger): Record<string, string> {
  return ledger.settings.get<Record<string, string>>('sites distrusted') ?? {};
}

/** With its port, so that another server of that host is none of it. */
function hostOf(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
