/**
 * Dispatch chooses the outpost for each errand, and knows which outpost has which. It prefers, in this order: the outpost that
 * was invited for the server; the place from which the server answers fastest, as visits have measured; the least loaded one.
 * A server stays where it is unless another place is clearly better, because its connections and its pace are kept there.
 * Servers that share an address stay together, so that one keeper paces the address; where other machines take part, the
 * address is looked up before the first errand leaves. Only servers without a pace are spread over several outposts.
 *
 * It never decides what is visited. Invariant: an errand is with exactly one post from send() until it ended.
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { fingerprint } from '../../base/url.ts';
import type { Errand } from '../../errand/errand.ts';
import { compileScope } from '../../errand/scope/scope.ts';
import type { Delegation, ServerPlace } from '../../frontier/errands/delegation.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import { Moves, moveFor } from './balance.ts';
import { LatencyByPlace } from './latency-by-place.ts';
import { loadOf } from './load.ts';
import { type Placement, Placements } from './placement.ts';
import { blank, isDeserted, leastLoaded, machineOf, type Post } from './post.ts';
import { Posts } from './posts.ts';
import { Addresses } from './server-addresses.ts';

interface Choice extends Delegation {
  readonly to: Carrier;
}

type PlacementReason = Pick<Placement, 'reason' | 'because'>;
const OWN: PlacementReason = { reason: 'own', because: 'it stands for this server' };
const SHARED: PlacementReason = { reason: 'shared', because: 'nothing paces it, so it is shared' };
const TOGETHER: PlacementReason = { reason: 'address', because: 'it has others of the same address' };
const IDLE: PlacementReason = { reason: 'least-loaded', because: 'it had the least to do' };
const ALONE: PlacementReason = { reason: 'home', because: 'no other machine takes part' };

/** Milliseconds. */
const REST = 1000;
const LONGEST_REST = 60_000;
/** Milliseconds that home waits for a remote errand after its deadline. */
const LATE = 120_000;
/** Milliseconds without a parcel after which a machine counts as idle, and for how long it then gets no errands. */
const SILENCE = 180_000;
const LONG_REST = 600_000;
/** So many servers are remembered with their place. */
const REMEMBERED = 100_000;

export class Dispatch {
  readonly latencies = new LatencyByPlace();
  /** Levels of outposts that an errand may travel. */
  readonly #levels: number;
  readonly posts = new Posts();
  readonly #homes = new Map<string, Post>();
  /** Who has the servers of an address. `origin` came first; as soon as it shares the address, none of them moves alone. */
  readonly #owners = new Map<string, { readonly post: Post; readonly origin: string; shared: boolean }>();
  readonly #addresses: Pick<Addresses, 'of'>;
  readonly placements = new Placements();
  readonly #moves = new Moves();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock, addresses: Pick<Addresses, 'of'> = new Addresses(), levels = 1) {
    this.#clock = clock;
    this.#levels = levels;
    this.#addresses = addresses;
  }

  join(carrier: Carrier): void {
    const waiting = this.posts.all.find(post => post.name === carrier.name && !post.carrier);
    const post = waiting ?? this.posts.add(blank(carrier.name, this.#clock.ticks()));
    post.carrier = carrier;
    this.serves(carrier, post);
  }

  /** Notes for which servers the outpost was invited, which may be known only after it has connected. */
  serves(carrier: Carrier, post = this.posts.of(carrier)): void {
    if (!post) return;
    const { servers: domains, stands } = carrier.terms;
    const outside = compileScope({ domains, include: [], exclude: [] });
    post.may = url => outside(url) === undefined;
    post.stands = stands;
  }

  /** Errands that an earlier run gave to an outpost which is not here yet. */
  expect(name: string, errand: Errand, sequence: number): void {
    const post = this.posts.named(name) ?? this.posts.add(blank(name, this.#clock.ticks()));
    this.#give(post, errand, sequence, true);
  }

  #give(post: Post, errand: Errand, sequence: number, remote: boolean): void {
    const { load, each } = loadOf(errand, remote);
    if (post.errands.size === 0) post.heard = this.#clock.ticks();
    post.errands.set(errand.id, { errand, load, each, sequence, pages: errand.pages.length });
    post.load += load;
    post.waitsForShare = false;
  }

  /** Removes a lost outpost, undefined = all that have not come back; returns the errands that it did not finish. */
  leave(carrier: Carrier | undefined): Errand[] {
    const errands: Errand[] = [];
    for (const post of this.posts.remove(each => each.carrier === carrier)) {
      this.#forgetHomesAt(post);
      for (const [key, { post: at }] of this.#owners) if (at === post) this.#owners.delete(key);
      for (const { errand } of post.errands.values()) errands.push(errand);
    }
    return errands;
  }

  /** Errands on other machines that are long past their deadline, or that have brought nothing for long. */
  overdue(now: number): { from: Carrier; errand: string }[] {
    const late: { from: Carrier; errand: string }[] = [];
    for (const post of this.posts.all) {
      const { carrier, errands } = post;
      if (!carrier?.remote || errands.size === 0) continue;
      const ticks = this.#clock.ticks();
      const silent = ticks - post.heard > SILENCE;
      const deserted = isDeserted(post);
      for (const { errand } of errands.values()) {
        const lost = deserted && this.#othersCan(post, errand);
        if (lost) this.#moves.begin([errand], ticks);
        if (lost || silent || errand.deadline + LATE < now) late.push({ from: carrier, errand: errand.id });
      }
      // It blocks servers without visiting them, so it gets no more for a while.
      if (silent) post.restsUntil = ticks + LONG_REST;
    }
    return late;
  }

  /** If no other machine can take over, we wait: the outpost may come back within its lease, with what is on its disk. */
  #othersCan(than: Post, { server }: Errand): boolean {
    return this.posts.all.some(post => post !== than && this.#hasRoom(post) && post.may(`${server.origin}/`));
  }

  /** Gives an idle machine some of the paced servers of a busy one. Called now and then. */
  rebalance(): void {
    const now = this.#clock.ticks();
    if (!this.#moves.due(now)) return;
    const able = this.posts.all.filter(post => this.#hasRoom(post));
    const move = moveFor(able, this.posts.all, now);
    if (!move) return;
    const { from, to, errands } = move;
    to.waitsForShare = true;
    this.#moves.begin(errands, now);
    this.#forgetHomesAt(from);
    from.carrier?.recall();
  }

  /** Whether a machine that is none of these could visit a server, now or later. */
  readonly anyone = (origin: string, not: ReadonlySet<string>): boolean => {
    const able = ({ carrier }: Post) => carrier && carrier.status?.state !== 'quarantined';
    return this.posts.all.some(post => able(post) && !not.has(machineOf(post)) && post.may(`${origin}/`));
  };

  /** Some outpost can take more. */
  readonly hasRoom = (): boolean => this.posts.all.some(post => this.#hasRoom(post));

  /** Where an errand of this server would go now; undefined = nowhere. */
  choose(place: ServerPlace): Choice | undefined {
    const url = `${place.origin}/`;
    const now = this.#clock.ticks();
    if (this.#moves.waits(place.origin, now)) return undefined;
    // An outpost that rests after failures must not block its servers.
    const able = (post: Post) => post.carrier && post.carrier.room > 0 && post.restsUntil <= now;
    const posts = welcome(
      this.posts.all.filter(post => post.may(url) && !place.not?.has(machineOf(post))),
      place,
      able,
    );
    const own = posts.filter(post => post.stands && able(post));
    if (own.length > 0) {
      const post = leastLoaded(own.filter(post => this.#hasRoom(post)));
      return post && this.#chosen(post, place.origin, OWN);
    }
    const open = posts.filter(post => this.#hasRoom(post) && !post.stands);
    if (open.length === 0) return undefined;
    if (place.spread > 1 && !place.not && !place.away) return this.#share(place);
    if (!place.paced) return this.#stay(place, open);
    const address = this.#addressOf(place);
    return address === undefined ? undefined : this.#together({ ...place, address }, open);
  }

  /** Undefined = not known yet, wait. Not needed where only threads of this machine work: they keep the pace together. */
  #addressOf({ origin, address }: ServerPlace): string | undefined {
    return address !== '' || !this.posts.carriers.some(each => each.remote) ? address : this.#addresses.of(origin);
  }

  /** Sends it to the outpost that has the other servers of its address, and waits for room there if necessary. */
  #together(place: ServerPlace, open: readonly Post[]): Choice | undefined {
    const { origin, address } = place;
    const owner = this.#owners.get(address);
    if (owner && owner.origin !== origin) owner.shared = true;
    if (owner?.shared && !place.not?.has(machineOf(owner.post)) && this.#mayWaitFor(owner.post, origin)) {
      if (!open.includes(owner.post)) return undefined;
      this.#homes.set(origin, owner.post);
      return this.#chosen(owner.post, origin, TOGETHER);
    }
    const choice = this.#stay(place, open);
    if (this.#owners.size > REMEMBERED) this.#owners.clear();
    if (address !== '') this.#owners.set(address, { post: this.posts.of(choice.to)!, origin, shared: false });
    return choice;
  }

  /** An outpost that is gone, has failed or may not visit the server must not block it. */
  #mayWaitFor(post: Post, origin: string): boolean {
    const { carrier, stands, may, restsUntil } = post;
    const isThere = carrier !== undefined && !isDeserted(post);
    return isThere && !stands && may(`${origin}/`) && restsUntil <= this.#clock.ticks();
  }

  send(errand: Errand, to: Carrier): void {
    this.#give(this.posts.of(to)!, errand, -1, to.remote);
  }

  /**
   * Notes that a parcel came back, which shows that all is well there; without `parcel` the errand ends. False = this outpost
   * never got that errand, or has ended it already.
   */
  returned(carrier: Carrier, errand: string, parcel?: { readonly visits: number; readonly done: boolean }): boolean {
    const { visits, done } = parcel ?? { visits: 0, done: true };
    const post = this.posts.of(carrier);
    const sent = post?.errands.get(errand);
    if (!post || !sent) return false;
    const back = done ? sent.load : Math.min(visits * sent.each, sent.load);
    sent.sequence++;
    sent.load -= back;
    sent.pages = Math.max(0, sent.pages - visits);
    post.load -= back;
    if (done) this.#ended(post, sent.errand);
    if (parcel && carrier.remote) this.#succeeded(post);
    return true;
  }

  #ended(post: Post, errand: Errand): void {
    const now = this.#clock.ticks();
    post.errands.delete(errand.id);
    if (post.errands.size === 0) post.idleSince = now;
    this.#moves.ended(errand, now);
  }

  /** An outpost gave up an errand. It rests, twice as long with each failure in a row. */
  failed(carrier: Carrier): void {
    const post = this.posts.of(carrier);
    const now = this.#clock.ticks();
    if (!post || post.restsUntil > now) return; // all that it had was given up at once: one failure
    post.failures++;
    post.restsUntil = now + Math.min(LONGEST_REST, REST * 2 ** (post.failures - 1));
  }

  #succeeded(post: Post): void {
    post.failures = 0;
    post.heard = this.#clock.ticks();
  }

  #hasRoom({ carrier, load, restsUntil }: Post): boolean {
    return carrier !== undefined && load < carrier.room && restsUntil <= this.#clock.ticks();
  }

  #forgetHomesAt(post: Post): void {
    for (const [key, at] of this.#homes) if (at === post) this.#homes.delete(key);
  }

  /** Spreads a server over as many posts as it may have connections, and always over the same ones. */
  #share({ origin, spread }: ServerPlace): Choice | undefined {
    const posts = this.posts.all.filter(post => post.carrier && !post.stands && post.may(`${origin}/`));
    const first = posts.length <= spread ? 0 : fingerprint(origin, { high: 0, low: 0 }).low % posts.length;
    const sharing = [...posts, ...posts].slice(first, first + Math.min(spread, posts.length));
    const post = leastLoaded(sharing.filter(each => this.#hasRoom(each)));
    return post && { ...this.#chosen(post, origin, SHARED), among: sharing.length };
  }

  /** The post that has the server, unless another is clearly faster or has not been tried yet. */
  #stay({ origin, address }: ServerPlace, open: readonly Post[]): Choice {
    const known = this.#homes.get(origin) ?? (address === '' ? undefined : this.#homes.get(address));
    const current = known && open.includes(known) ? known : undefined;
    const places = [...new Set(open.map(machineOf))];
    const better = this.latencies.better(origin, places, current && machineOf(current));
    const post =
      current && (!better || machineOf(current) === better.place)
        ? current
        : leastLoaded(better ? open.filter(each => machineOf(each) === better.place) : open)!;
    if (this.#homes.size > REMEMBERED) this.#homes.clear();
    this.#homes.set(origin, post);
    if (address !== '' && !this.#homes.has(address)) this.#homes.set(address, post);
    return this.#chosen(post, origin, better ?? IDLE, current !== undefined && !better);
  }

  /** `stays`: the server was there before, so the reason that brought it there remains. */
  #chosen(post: Post, origin: string, why: PlacementReason, stays = false): Choice {
    const { remote } = post.carrier!;
    const { reason, because } = this.posts.carriers.some(each => each.remote) ? why : ALONE;
    this.placements.note(origin, { machine: remote ? post.name : 'home', reason, because }, stays);
    return {
      to: post.carrier!,
      remote,
      machine: machineOf(post),
      follow: remote,
      levels: remote ? this.#levels - 1 : 0,
    };
  }
}

/** The posts that the server does not keep away, if one of them is able to work. */
function welcome(posts: Post[], { away }: ServerPlace, able: (post: Post) => unknown): Post[] {
  const others = away ? posts.filter(post => !away.has(machineOf(post))) : posts;
  return others.some(able) ? others : posts;
}
