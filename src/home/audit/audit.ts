/**
 * Home trusts no outpost. A share of the pages that outposts on other machines report is looked at from elsewhere, with
 * what the outpost said as what is known: the crawler's own detector then says whether both saw the same. A difference
 * is looked at twice, some time apart, because pages change; only where both looks agree with each other and not with
 * the outpost does it count. An outpost that is contradicted twice in its last fifty audits, or once about a page that
 * by the server's own date had not changed since, has lied: it gets no more errands, and what it brought since it was
 * last found honest is to be visited again. So has one that sends parcels which no honest outpost makes.
 *
 * What is compared is what home stored: facts are read from the stored body. Only where no body is stored (the filter
 * leaves a page out, a page forbids it) title and links are the outpost's word, and are held against the look as well.
 *
 * It never fetches by itself and never writes: `look` and `quarantine` are given.
 */
import type { Errand } from '../../errand/errand.ts';
import { unpackFacts } from '../../errand/facts.ts';
import type { Known } from '../../errand/known.ts';
import type { Visit } from '../../errand/visit.ts';

interface AuditOptions {
  /** Share of the pages brought that are looked at again, 0–1. Of those said to be the same it is a twentieth. */
  readonly share: number;
  /** Milliseconds between the two looks at a page that differs. */
  readonly pause: number;
  readonly random: () => number;
  readonly now: () => number;
  /** Visits the pages of the errand from another place; rejects when there is none. */
  look(errand: Errand): Promise<readonly Visit[]>;
  /** Nothing that the outpost brought after `since` can be relied on. */
  quarantine(outpost: string, since: number, why: string): void;
}

interface OutpostStanding {
  /** Verdicts of the last audits, newest last. */
  readonly verdicts: boolean[];
  /** What was brought before this time was found true. */
  honest: number;
  /** Parcels that no honest outpost makes. */
  broken: number;
}

/** Audits that count, and contradictions among them that are too many. */
const REMEMBERED = 50;
const TOO_MANY = 2;
const TOO_MANY_BROKEN = 3;
/** Audits that may wait; beyond that pages are let pass: an audit is a sample. */
const MOST_WAITING = 200;
/** A look costs a whole page on home's link; nearly all pages are the same, and saying so is what spares that link. */
const SAME_LESS = 20;
/** Milliseconds by which a server's date and ours may differ. */
const CLOCKS = 60_000;

export class Audit {
  readonly #options: AuditOptions;
  readonly #standings = new Map<string, OutpostStanding>();
  readonly #quarantined = new Set<string>();
  /** Pages that were chosen and have no verdict yet. */
  readonly #open = new Set<Promise<void>>();
  #turn: Promise<unknown> = Promise.resolve();
  /** Pages looked at, and those where the outpost was contradicted. */
  done = 0;
  contradicted = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** It sent a parcel that no honest outpost makes. */
  broken(outpost: string, why: string): void {
    const standing = this.#standing(outpost);
    standing.broken++;
    if (standing.broken < TOO_MANY_BROKEN || this.#quarantined.has(outpost)) return;
    this.#condemn(outpost, `it sent a malformed parcel (${why.replace(/\.$/, '')})`);
  }

  /** Visits that `outpost` reported for an errand; some are chosen. `since`: when the oldest errand it has was issued. */
  offer(outpost: string, errand: Errand, visits: readonly Visit[], since: number): void {
    if (this.#quarantined.has(outpost)) return;
    for (const visit of visits) {
      const claim = claimOf(errand, visit);
      const share = visit.outcome === 'same' ? this.#options.share / SAME_LESS : this.#options.share;
      if (!claim || this.#open.size >= MOST_WAITING || this.#options.random() >= share) continue;
      const check = this.#check(outpost, errand, { claim, visit, since }).finally(() => this.#open.delete(check));
      this.#open.add(check);
    }
  }

  /** Pages that may yet turn out to be lies. */
  get open(): number {
    return this.#open.size;
  }

  /** Resolves when everything that was chosen has been looked at. */
  async settle(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** It begins anew, with no verdicts. */
  forgive(outpost: string): void {
    this.#quarantined.delete(outpost);
    this.#standings.delete(outpost);
  }

  async #check(outpost: string, errand: Errand, chosen: AuditedClaim): Promise<void> {
    const { claim, visit } = chosen;
    try {
      const first = await this.#inTurn(outpost, () => this.#look(errand, claim));
      // What only a clock moves is as it was.
      const alike = first?.outcome === 'same' || first?.stage === 'stamp';
      if (first && alike) this.#verdict(outpost, chosen, saysSame(visit, first), first);
      if (first?.outcome === 'gone' && visit.outcome === 'gone') this.#verdict(outpost, chosen, true);
      if (alike || first?.outcome !== 'fetched') return; // it could not be looked at: no verdict
      await new Promise(resolve => setTimeout(resolve, this.#options.pause));
      const second = await this.#inTurn(outpost, () => this.#look(errand, claimOf(errand, first)!));
      // A page that differs from look to look says nothing about who looked.
      if (second?.outcome === 'same') this.#verdict(outpost, chosen, false, first);
    } catch {
      // Nobody could look: an audit is a sample, the next one will do.
    }
  }

  /** One look at a time, so that home's line is not filled with them; the pause between two is nobody's turn. */
  #inTurn<T>(outpost: string, look: () => Promise<T>): Promise<T | undefined> {
    const turn = async () => (this.#quarantined.has(outpost) ? undefined : look());
    const mine = this.#turn.then(turn, turn);
    this.#turn = mine;
    return mine;
  }

  async #look(errand: Errand, claim: Known): Promise<Visit | undefined> {
    const { etag, lastModified, ...bare } = claim; // with validators a server may say 304 and show nothing
    const { seen, code, ...rest } = errand;
    const limits = { ...errand.limits, pages: 1, follow: 0 };
    const server = { ...errand.server, trustValidators: false, auditShare: 0 };
    const deadline = this.#options.now() + errand.limits.time;
    const visits = await this.#options.look({
      ...rest,
      kind: 'refresh',
      server,
      pages: [bare],
      limits,
      levels: 0,
      deadline,
    });
    return visits[0];
  }

  #standing(outpost: string): OutpostStanding {
    const standing = this.#standings.get(outpost) ?? { verdicts: [], honest: 0, broken: 0 };
    this.#standings.set(outpost, standing);
    return standing;
  }

  #verdict(outpost: string, { visit, since }: AuditedClaim, honest: boolean, truth?: Visit): void {
    this.done++;
    const standing = this.#standing(outpost);
    standing.verdicts.push(honest);
    if (standing.verdicts.length > REMEMBERED) standing.verdicts.shift();
    if (honest) {
      standing.honest = Math.max(standing.honest, since);
      return;
    }
    this.contradicted++;
    const changed = Date.parse(truth?.lastModified ?? '');
    const dated = changed < visit.time - CLOCKS;
    const against = standing.verdicts.filter(each => !each).length;
    if (dated || against >= TOO_MANY) {
      this.#condemn(outpost, `its copy of ${visit.url} differs from the page on the server`);
    }
  }

  #condemn(outpost: string, why: string): void {
    this.#quarantined.add(outpost);
    this.#options.quarantine(outpost, this.#standing(outpost).honest, why);
  }
}

/** Where no body is stored, title and links are the outpost's word: whoever reads the same page finds the same ones. */
function saysSame(visit: Visit, seen: Visit): boolean {
  if (visit.record || !visit.page || !visit.links || !seen.page || !seen.links) return true;
  if (visit.page.title !== seen.page.title || visit.page.noarchive !== seen.page.noarchive) return false;
  const [said, found] = [visit.facts, seen.facts].map(facts => facts && unpackFacts(facts)?.linkHash);
  return said !== found || Buffer.compare(visit.links.urls, seen.links.urls) === 0;
}

interface AuditedClaim {
  readonly claim: Known;
  readonly visit: Visit;
  /** When the oldest errand was issued that the outpost had then. No visit it brings later can be of an earlier time. */
  readonly since: number;
}

/** What the outpost says that the page is; undefined = nothing that could be held against it. */
function claimOf(errand: Errand, visit: Visit): Known | undefined {
  const known = errand.pages.find(({ url }) => url === visit.url);
  if (known && known.role !== 'page') return undefined;
  const bare = { url: visit.url, role: 'page', depth: visit.depth, hops: 0, tries: 0 } as const;
  if (visit.outcome === 'gone') return bare;
  if (visit.outcome !== 'fetched' && visit.outcome !== 'same') return undefined;
  const facts = visit.facts ?? known?.facts;
  return facts && { ...bare, facts };
}
