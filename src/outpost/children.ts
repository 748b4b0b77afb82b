/**
 * The outposts below this one. It may pass an errand with levels left on to them, with one more signature. Their parcels go up
 * unopened, and without the spool of this outpost: each parcel stays on the disk of the outpost that made it until home
 * acknowledges it, and the acknowledgement travels down the same way. Outposts that may deliver to home directly get their
 * passes through here.
 */
import type { Clock } from '../base/clock.ts';
import type { Identity } from '../errand/keys.ts';
import { compileScope } from '../errand/scope/scope.ts';
import { encodeWarrant, extendWarrant, type Warrant } from '../errand/warrant.ts';
import type { Line } from '../transfer/line.ts';
import { Link } from '../transfer/link.ts';
import type { ErrandFrame, ParcelFrame, PassFrame, WantPassFrame } from '../transfer/wire/frames.ts';
import type { Hello, OutpostStatus } from '../transfer/wire/messages.ts';
import { Quota, type QuotaTerms } from './owner/quota.ts';

interface ChildEvents {
  /** Sends a parcel upward; if there is no line now, the child must send it again later. */
  relay(frame: ParcelFrame): void;
  gaveUp(errand: string, why: string): void;
  wantsCode(link: Link, code: string): void;
  /** Sends the request upward. */
  wantsPass(frame: WantPassFrame): void;
}

interface ChildrenOptions {
  /** Files about children begin with this. */
  readonly directory: string;
  readonly identity: Identity;
  readonly clock: Clock;
  /** Milliseconds that one may be away before its errands are given up. */
  readonly lease?: number;
}

/** Milliseconds that a child may take to restart, after its line was closed without a goodbye. */
const STARTS_AGAIN = 10_000;

export class Children {
  readonly #options: ChildrenOptions;
  readonly #events: ChildEvents;
  /** What invitations allow, by name; pages are counted here, bytes only by the child itself and by home. */
  readonly #quotas = new Map<string, Quota>();
  /** Those that were invited for their servers. */
  readonly #standing = new Set<string>();
  readonly #links = new Map<string, Link>();
  readonly #where = new Map<string, Link>();

  constructor(options: ChildrenOptions, events: ChildEvents) {
    this.#options = options;
    this.#events = events;
  }

  get statuses(): OutpostStatus[] {
    return [...this.#links.values()].map(link => link.outpost.status);
  }

  get room(): number {
    return this.all().reduce((sum, link) => sum + link.outpost.room, 0);
  }

  all(): Link[] {
    return [...this.#links.values()];
  }

  has(errand: string): boolean {
    return this.#where.has(errand);
  }

  /** A child was greeted. `quota`: what its invitation allows; `stands`: it was invited for its servers. */
  attach(line: Line, hello: Hello, quota: QuotaTerms, stands = false): void {
    const { name } = hello;
    if (stands) this.#standing.add(name);
    else this.#standing.delete(name);
    this.#quotas.set(name, new Quota(`${this.#options.directory}-quota-${name}.json`, quota));
    this.#linkOf(hello.name).attach(line, hello);
  }

  /** An errand that was passed on before this process started. */
  expect(name: string, frame: ErrandFrame): void {
    const link = this.#linkOf(name);
    link.expect([frame]);
    this.#where.set(frame.errand, link);
  }

  /**
   * Chooses the child for an errand: one that was invited for the server, otherwise the one with the least load for its room
   * (and that of all below it), if that is less than the load of this machine; undefined = none. The child is connected, has
   * room and is within its quota. `own`: load of this machine for its room; `loads`: load of each child, by name.
   */
  choose(own: number, loads: ReadonlyMap<string, number>, origin: () => string): Link | undefined {
    const open = [...this.#links.values()].filter(link => link.outpost.room > 0 && !this.#spent(link.name));
    const bound = open.filter(({ outpost }) => (outpost.hello?.servers.length ?? 0) > 0);
    const load = (link: Link) => (loads.get(link.name) ?? 0) / link.outpost.room;
    // The errand is opened only if its server matters.
    const url = bound.length > 0 ? `${origin()}/` : '';
    const allowed = bound.filter(link => mayVisit(link, url));
    const standing = allowed.filter(({ name }) => this.#standing.has(name));
    const others = open.filter(
      link => !bound.includes(link) || (allowed.includes(link) && !this.#standing.has(link.name)),
    );
    const candidates = standing.length > 0 ? standing : others.filter(link => load(link) < own);
    return candidates.reduce<Link | undefined>(
      (best, link) => (best && load(best) <= load(link) ? best : link),
      undefined,
    );
  }

  #spent(name: string): boolean {
    return (this.#quotas.get(name)?.exhausted(this.#options.clock.now()) ?? '') !== '';
  }

  #count(link: Link, { errand, visits }: ParcelFrame): void {
    const over = this.#quotas.get(link.name)?.spend(errand, { pages: visits, bytes: 0 }, this.#options.clock.now());
    if (over) link.recall();
  }

  /** The frame with the warrant that the child needs; undefined = no levels left. */
  extend(link: Link, frame: ErrandFrame, warrant: Warrant): ErrandFrame | undefined {
    const longer = extendWarrant(warrant, this.#options.identity, link.outpost.hello!.key);
    return longer && { ...frame, warrant: encodeWarrant(longer) };
  }

  send(link: Link, frame: ErrandFrame): void {
    this.#where.set(frame.errand, link);
    link.send(frame);
  }

  acknowledge(errand: string, sequence: number): void {
    this.#where.get(errand)?.acknowledge(errand, sequence);
  }

  forget(errand: string): void {
    this.#where.get(errand)?.forget(errand);
    this.#where.delete(errand);
  }

  /** Members may have been revoked, in another process. */
  dismiss(names: Iterable<string>): void {
    for (const name of names) this.#links.get(name)?.dismiss('it was revoked');
  }

  /** Hands a pass on to the outpost below that asked for it. */
  pass({ by, pass }: PassFrame): void {
    const [name, ...further] = by.split('/');
    this.#links.get(name!)?.answer({ kind: 'pass', by: further.join('/'), pass });
  }

  /** `later`: they keep what was not acknowledged for whoever comes next. */
  async close(code: 'done' | 'later' = 'done'): Promise<void> {
    await Promise.all(this.all().map(link => link.close('its parent is stopping', code)));
  }

  #linkOf(name: string): Link {
    const known = this.#links.get(name);
    if (known) return known;
    const link = new Link(
      name,
      {
        parcel: (from, frame) => {
          if (!this.#where.has(frame.errand)) return from.forget(frame.errand);
          this.#count(from, frame);
          this.#events.relay({ ...frame, by: below(name, frame.by) });
        },
        gaveUp: (_, errand, why) => {
          if (this.#where.has(errand)) this.#events.gaveUp(errand, why);
        },
        wantsCode: (from, code) => this.#events.wantsCode(from, code),
        wantsPass: (from, frame) => this.#askFor(from, frame),
        changed: () => {},
        lost: (from, why) => this.#lost(from, why),
      },
      { away: this.#options.lease, closed: STARTS_AGAIN },
    );
    this.#links.set(name, link);
    return link;
  }

  /** A child with a limit must deliver through here, where its pages are counted. It has proved its own key, no others. */
  #askFor({ name, outpost: { hello } }: Link, { by, key }: WantPassFrame): void {
    if (this.#quotas.get(name)?.limited || !hello) return;
    this.#events.wantsPass({ kind: 'want-pass', by: below(name, by), key: by === '' ? hello.key : key });
  }

  #lost(link: Link, why: string): void {
    if (!link.outpost.connected) this.#links.delete(link.name);
    for (const [errand, at] of this.#where) {
      if (at !== link) continue;
      this.#where.delete(errand);
      this.#events.gaveUp(errand, `${link.name} is gone: ${why}`);
    }
  }
}

function below(name: string, by: string): string {
  return by === '' ? name : `${name}/${by}`;
}

function mayVisit({ outpost: { hello } }: Link, url: string): boolean {
  return compileScope({ domains: hello!.servers, include: [], exclude: [] })(url) === undefined;
}
