/**
 * A collection whose visits are read off the recordings: the ledger, the schedule and the supply of rounds are the
 * product's own, only the way to the servers and the detector are left out. A visit finds what the labels say.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY, HOUR } from '../../src/base/clock.ts';
import { fingerprint } from '../../src/base/url.ts';
import type { Visit } from '../../src/errand/visit.ts';
import type { Backlog } from '../../src/frontier/backlog.ts';
import type { Frontier } from '../../src/frontier/frontier.ts';
import type { Fresh } from '../../src/frontier/schedule/freshness-forecast.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Pool } from '../../src/home/partitions/pool.ts';
import { RefreshSupply } from '../../src/home/refresh/refresh-supply.ts';
import { WatchSupply } from '../../src/home/refresh/watch-supply.ts';
import { beginRound, endRound } from '../../src/home/round.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { FLAG_CHANGED, type KnownRow } from '../../src/ledger/pages/known-row.ts';
import type { Body, Page } from './sites.ts';

export type Aim = { readonly share: number } | { readonly freshness: number };

/** Bytes of a request and an answer without body. */
export const BARE = 600;
/** Milliseconds between two looks of a watch at its budget. */
const WATCH_STEP = 10 * 60_000;
const START = Date.UTC(2025, 0, 6);
export const timeOf = (day: number): number => START + (day + 1) * DAY + HOUR;

export interface Day {
  /** By site: pages, and those whose copy is that of the day, with edits that many pages share and without. */
  readonly sites: ReadonlyMap<string, { readonly pages: number; readonly all: number; readonly own: number }>;
  readonly visits: ReadonlyMap<string, number>;
  readonly bytes: ReadonlyMap<string, number>;
  readonly said: Fresh & {
    readonly origins: ReadonlyMap<string, { readonly low: number; readonly expected: number; readonly high: number }>;
  };
}

/** How the servers behave. */
export interface Served {
  readonly sitemaps: boolean;
  /**
   * `deploy`: they move on every page whenever one of the site has changed. `lm-now`: a date that is always now. `half`: none on
   * every other site.
   */
  readonly validators: Validators | 'half';
}

type Validators = 'correct' | 'deploy' | 'none' | 'lm-now';

/** What the servers of a page's site send. */
export function validatorsOf(page: Page, { validators }: Served): Validators {
  if (validators !== 'half') return validators;
  return page.odd ? 'none' : 'correct';
}

/** A server says that nothing is new since an earlier body. */
export function honours(validators: Validators, held: Body | undefined, now: Body): boolean {
  if (validators === 'none' || validators === 'lm-now') return false;
  return validators === 'deploy' ? held?.deployed === now.deployed : held?.blob === now.blob;
}

const EMPTY = Object.fromEntries(
  `title media_type charset language canonical bytes ascii_sum urls keywords facts moved_to same_as near segment place
   length request_length etag last_modified retry_at`
    .split(/\s+/)
    .map(name => [name, null]),
);

export class Collection {
  readonly #directory = mkdtempSync(join(tmpdir(), 'skein-rounds-'));
  readonly ledger: Ledger = new Ledger(this.#directory, 'write');
  readonly #pages: readonly Page[];
  readonly #byId = new Map<number, Page>();
  /** Day of the copy, by page. */
  readonly #copies = new Map<Page, number>();
  readonly #served: Served;
  readonly #sizes: ReadonlyMap<string, number>;
  #visits = new Map<string, number>();
  #bytes = new Map<string, number>();

  constructor(pages: readonly Page[], served: Served) {
    this.#pages = pages;
    this.#served = served;
    this.#sizes = new Map([...Map.groupBy(pages, page => page.site)].map(([site, own]) => [site, own.length]));
  }

  close(): void {
    this.ledger.close();
    rmSync(this.#directory, { recursive: true });
  }

  /** Everything of day 0. */
  crawl(): void {
    this.ledger.begin();
    const schedule = new Schedule(this.ledger);
    this.#admit(schedule, 0, timeOf(0));
    this.ledger.settings.set('refreshed', timeOf(0));
    this.ledger.commit();
  }

  /** One round of refresh at the end of a day. */
  round(day: number, aim: Aim): Day {
    const now = timeOf(day);
    this.#visits = new Map();
    this.#bytes = new Map();
    const schedule = new Schedule(this.ledger);
    this.ledger.begin();
    schedule.aim(aim, now);
    this.ledger.commit();
    const round = beginRound([this], now);
    this.ledger.begin();
    this.#admit(schedule, day, now);
    if (this.#served.sitemaps) this.#notice(schedule, day, now);
    this.#run(schedule, day, now, round);
    endRound([this]);
    schedule.noteFreshness(now);
    this.ledger.commit();
    return this.#report(schedule, day, now);
  }

  /** A watch over so many days after the crawl; `found` is told of each change, when it came and when it was seen. */
  watch(days: number, share: number, found: (page: Page, changed: number, seen: number) => void): void {
    const schedule = new Schedule(this.ledger, {}, { continuous: true });
    this.ledger.begin();
    let now = timeOf(0);
    schedule.aim({ share }, now);
    const queue: number[] = [];
    const clock = { now: () => now, ticks: () => now } as never;
    const frontier = frontierOf(schedule, queue, () => 0);
    const pages = () => ({ pages: share * this.ledger.schedule.due.countLive(), bytes: Number.POSITIVE_INFINITY });
    const supply = new WatchSupply(
      { pool: new Pool([{ id: 0, ledger: this.ledger, frontier }]), clock },
      pages,
      () => 0,
    );
    for (; now < timeOf(days); now += WATCH_STEP) {
      const day = Math.floor((now - timeOf(0)) / DAY) + 1;
      if (now % DAY < WATCH_STEP) this.#admit(schedule, day, now);
      supply.fill();
      for (const id of queue.splice(0)) {
        const page = this.#byId.get(id)!;
        const copy = this.#copies.get(page)!;
        for (const change of page.changes) {
          if (change.day > copy && change.day <= day) found(page, timeOf(change.day - 1), now);
        }
        this.#visit(schedule, id, { day, now });
      }
    }
    this.ledger.commit();
  }

  /** The product's own supply, with a frontier that asks the recordings. */
  #run(schedule: Schedule, day: number, now: number, round: ReturnType<typeof beginRound>): void {
    const queue: number[] = [];
    let settled = 0;
    const frontier = frontierOf(schedule, queue, () => settled);
    const clock = { now: () => now, ticks: () => now } as never;
    const live = this.ledger.schedule.due.countLive();
    const pages =
      'share' in schedule.settings && schedule.settings.share !== undefined
        ? schedule.settings.share * live
        : Number.POSITIVE_INFINITY;
    const allowance = { pages, bytes: Number.POSITIVE_INFINITY };
    const supply = new RefreshSupply(
      { pool: new Pool([{ id: 0, ledger: this.ledger, frontier }]), clock },
      round,
      allowance,
      () => 0,
    );
    do {
      supply.fill();
      for (let page = queue.shift(); page !== undefined; page = queue.shift()) {
        this.#visit(schedule, page, { day, now: now + settled++ });
        if (queue.length === 0) supply.fill();
      }
    } while (supply.worthWaiting());
  }

  #admit(schedule: Schedule, day: number, now: number): void {
    for (const page of this.#pages) {
      if (page.born !== day) continue;
      const url = `http://${page.site}${page.path}`;
      const server = this.ledger.servers.of(`http://${page.site}`).id;
      const place = {
        ...fingerprint(url, { high: 0, low: 0 }),
        server,
        url,
        parent: 0,
        depth: 1,
        hops: 0,
        relevance: 0,
        found: now,
      };
      const id = this.ledger.pages.add({ ...place, refused: null, role: 0, lastmod: null });
      this.#byId.set(id, page);
      this.#visit(schedule, id, { day, now });
    }
  }

  /** What the sitemaps tell. */
  #notice(schedule: Schedule, day: number, now: number): void {
    for (const [id, page] of this.#byId) {
      const today = page.days[day - page.born];
      const before = page.days[day - 1 - page.born];
      const held = page.days[this.#copies.get(page)! - page.born];
      if (today && before && today.modified > before.modified && held && today.modified > held.modified)
        schedule.ping(id, now, 'sitemap');
    }
  }

  #visit(schedule: Schedule, id: number, { day, now }: { day: number; now: number }): void {
    const page = this.#byId.get(id)!;
    const server = this.ledger.servers.of(`http://${page.site}`);
    const before = this.ledger.pages.known(id);
    const body = page.days[day - page.born];
    const copy = this.#copies.get(page);
    const validators = validatorsOf(page, this.#served);
    const visit = visitOf(page, { day, copy, time: now, validators });
    if (body) this.#copies.set(page, day);
    const changed = before !== undefined && (visit.outcome === 'fetched' || visit.stage === 'template');
    const planned = schedule.after({ id, visit, before, server, pages: this.#sizes.get(page.site) ?? 1 });
    const seen = visit.outcome === 'gone' ? (before?.seen_time ?? now) : now;
    const row = {
      ...EMPTY,
      ...{ page: id, time: now, seen_time: seen, first_time: before?.first_time ?? now },
      changed_time: visit.outcome === 'fetched' || !before ? now : before.changed_time,
      ...{
        outcome: visit.outcome,
        reason: visit.reason,
        status: visit.status,
        tries: 0,
        pings: 0,
        flags: changed || (before?.flags ?? 0) ? FLAG_CHANGED : 0,
        etag: validators === 'none' ? null : '"a"',
      },
      ...{ wire: body ? BARE + body.bytes : before?.wire, change: planned.change, due: planned.due },
    } as unknown as KnownRow;
    if (before) this.ledger.pages.putKnown(row, before);
    else this.ledger.pages.addKnown(row);
    const spent = visit.cost.up + visit.cost.down;
    this.ledger.servers.account.add(now, server.id, visit.cost.cause, { spent });
    this.#visits.set(page.site, (this.#visits.get(page.site) ?? 0) + 1);
    this.#bytes.set(page.site, (this.#bytes.get(page.site) ?? 0) + spent);
  }

  #report(schedule: Schedule, day: number, now: number): Day {
    const sites = new Map<string, { pages: number; all: number; own: number }>();
    for (const page of this.#pages) {
      if (page.born > day || page.died <= day) continue;
      const site = sites.get(page.site) ?? { pages: 0, all: 0, own: 0 };
      sites.set(page.site, site);
      const copy = this.#copies.get(page)!;
      const missed = page.changes.filter(change => change.day > copy && change.day <= day);
      site.pages++;
      if (missed.length === 0) site.all++;
      if (missed.every(({ shared }) => shared)) site.own++;
    }
    const said = schedule.freshness(now, 100);
    const origins = new Map(
      said.servers.map(each => [this.ledger.servers.byId(each.server).origin.replace('http://', ''), each]),
    );
    return { sites, visits: this.#visits, bytes: this.#bytes, said: { ...said, origins } };
  }
}

/** As much of a frontier as the supplies ask for. */
type AskedFrontier = Pick<Frontier, 'schedule' | 'again' | 'admit'> & {
  readonly options: object;
  readonly errands: Pick<Frontier['errands'], 'full' | 'settled'>;
  readonly backlog: Pick<Backlog, 'newcomers' | 'pages' | 'outstanding' | 'quiet' | 'waiting'>;
};

function frontierOf(schedule: Schedule, queue: number[], settled: () => number): Frontier {
  const asked: AskedFrontier = {
    schedule,
    options: {},
    backlog: {
      newcomers: 0,
      get quiet() {
        return queue.length === 0;
      },
      get outstanding() {
        return queue.length;
      },
      get pages() {
        return queue.length;
      },
      waiting: () => ({ pages: queue.length, servers: 0, wake: Number.POSITIVE_INFINITY }),
    },
    errands: {
      full: false,
      get settled() {
        return settled();
      },
    },
    again: list => queue.push(...list.map(({ page }) => page)),
    admit: () => [],
  };
  return asked as unknown as Frontier;
}

/** What a look at a page brings, by the labels, held against the copy of an earlier day. */
function visitOf(page: Page, look: Look): Visit {
  const { day, copy, time, validators } = look;
  const body = page.days[day - page.born];
  const base = { url: `http://${page.site}${page.path}`, time, depth: 1, retryAfter: 0 };
  const cost = (bytes: number, cause: string) => ({ up: BARE, down: bytes, cause, ms: 0 });
  if (!body)
    return { ...base, outcome: 'gone', reason: 'http-404', status: 404, cost: cost(0, 'gone') } as unknown as Visit;
  const sent = { ...base, status: 200, ...(validators !== 'none' && { etag: '"a"' }) };
  if (copy === undefined) {
    const first = { outcome: 'fetched', reason: 'ok', stage: 'first', cost: cost(body.bytes, 'first') };
    return { ...sent, ...first } as unknown as Visit;
  }
  const held = page.days[copy - page.born];
  if (honours(validators, held, body)) {
    const bare = { outcome: 'same', reason: 'not-modified', stage: 'validator', cost: cost(0, 'not-modified') };
    return { ...sent, ...bare, status: 304 } as unknown as Visit;
  }
  const missed = page.changes.filter(change => change.day > copy && change.day <= day);
  const own = missed.some(({ shared }) => !shared);
  const stage = own ? 'content' : missed.length > 0 ? 'template' : 'noise';
  const seen = own
    ? { outcome: 'fetched', reason: 'ok', cause: 'changed' }
    : { outcome: 'same', reason: 'same', cause: 'same' };
  return { ...sent, ...seen, stage, cost: cost(body.bytes, seen.cause) } as unknown as Visit;
}

interface Look {
  readonly day: number;
  /** Day of the copy that we hold. */
  readonly copy: number | undefined;
  readonly time: number;
  readonly validators: Validators;
}
