/** The servers: what each allows, and what it has asked of us. All in memory while a home runs; few and small. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RobotsCopy } from '../errand/errand.ts';
import { Account } from './account.ts';
import { Masks } from './pages/masks.ts';
import { Tallies } from './tallies.ts';

export interface Server {
  readonly id: number;
  readonly origin: string;
  address: string;
  robots: RobotsCopy | undefined;
  /** The machine that read these rules; empty = this one. */
  rulesBy: string;
  sitemaps: string[];
  /** Milliseconds. */
  crawlDelay: number;
  /** No request before this time. */
  notBefore: number;
  /** Milliseconds to first byte, smoothed. */
  latency: number;
  /** Server-wide failures in a row. */
  failures: number;
  /** URLs refused and counted only, by reason. */
  refused: Record<string, number>;
  /** A seed is on it. */
  seeded: boolean;
  paused: boolean;
  /** Milliseconds; undefined = the crawl's own. */
  pace: number | undefined;
  /** 304 answers checked with a full GET, and those found wrong. */
  audits: number;
  lies: number;
  /** Of the schedule's threshold, at least 1. */
  multiplier: number;
  /** Notices whose pages were visited since, and those that were true. */
  pings: number;
  truePings: number;
  /** Changes that visits without a notice were to find, and found. */
  pingExpected: number;
  pingMissed: number;
  /** Last-Modified headers that could be checked, and those that did not go with the content. */
  dates: number;
  wrongDates: number;
  /** Since when its pages seem to change together; 0 = they do not. */
  wave: number;
  /** Print of its not-found page, once looked for; empty = it answers 404 as it should. */
  soft404: Uint8Array | undefined;
}

const UPDATE = `UPDATE servers SET address = ?, robots_status = ?, robots_body = coalesce(?, robots_body), robots_time = ?, robots_unreachable = ?,
  sitemaps = ?,
  crawl_delay = ?, not_before = ?, latency = ?, failures = ?, refused = ?, seeded = ?, paused = ?, pace = ?,
  audits = ?, lies = ?, multiplier = ?, pings = ?, true_pings = ?, ping_expected = ?, ping_missed = ?,
  dates = ?, wrong_dates = ?, wave = ?, soft_404 = ?, rules_by = ? WHERE id = ?`;

export class Servers {
  readonly #byOrigin = new Map<string, Server>();
  readonly #byId = new Map<number, Server>();
  readonly #dirty = new Set<Server>();
  readonly #insert: StatementSync;
  /** Made by the first who writes: a ledger that is only read may lack a column. */
  readonly #update: () => StatementSync;
  readonly #get: StatementSync;
  readonly #newest: StatementSync;
  readonly #body: StatementSync;
  readonly account: Account;
  readonly tallies: Tallies;
  readonly masks: Masks;

  constructor(database: DatabaseSync) {
    this.account = new Account(database);
    this.tallies = new Tallies(database);
    this.masks = new Masks(database);
    this.#newest = database.prepare('SELECT max(id) AS id FROM servers');
    this.#get = database.prepare('SELECT * FROM servers WHERE id = ?');
    this.#body = database.prepare('SELECT robots_body FROM servers WHERE id = ?');
    this.#insert = database.prepare('INSERT INTO servers (id, origin) VALUES (?, ?)');
    let update: StatementSync | undefined;
    this.#update = () => (update ??= database.prepare(UPDATE));
    for (const row of database.prepare('SELECT * FROM servers').iterate()) this.#takeIn(fromRow(row));
  }

  #takeIn(server: Server): Server {
    this.#shelve(server);
    this.#remember(server);
    return server;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Id of the newest in the table, also when another process is writing it; 0 = there is none. */
  newest(): number {
    return (this.#newest.get()!['id'] as number | null) ?? 0;
  }

  all(): IterableIterator<Server> {
    return this.#byId.values();
  }

  /** One that a running home has recorded since this ledger was opened is read now. */
  byId(id: number): Server {
    return this.#byId.get(id) ?? this.#takeIn(this.read(id)!);
  }

  find(origin: string): Server | undefined {
    return this.#byOrigin.get(origin);
  }

  /** As the database has it now; for those who read beside a running home. */
  read(id: number): Server | undefined {
    const row = this.#get.get(id);
    return row && fromRow(row);
  }

  /** The server of an origin, recorded when it is new (inside the caller's transaction). */
  of(origin: string): Server {
    const known = this.#byOrigin.get(origin);
    if (known) return known;
    const server = blank(this.#byId.size + 1, origin);
    this.#insert.run(server.id, origin);
    this.#remember(server);
    return server;
  }

  /** Marks a server whose fields were changed, to be written with the batch. */
  touch(server: Server): void {
    this.#dirty.add(server);
  }

  /** Writes what changed of servers, and the sums about them. Inside the caller's transaction. */
  save(): void {
    this.account.save();
    this.tallies.save();
    for (const s of this.#dirty) {
      this.#update().run(
        s.address,
        s.robots?.status ?? -1,
        s.robots && !(s.robots instanceof ShelvedRobots) ? s.robots.body : null,
        s.robots?.time ?? 0,
        s.robots?.unreachableSince ?? 0,
        JSON.stringify(s.sitemaps),
        s.crawlDelay,
        s.notBefore,
        s.latency,
        s.failures,
        JSON.stringify(s.refused),
        s.seeded ? 1 : 0,
        s.paused ? 1 : 0,
        s.pace ?? null,
        s.audits,
        s.lies,
        s.multiplier,
        s.pings,
        s.truePings,
        s.pingExpected,
        s.pingMissed,
        s.dates,
        s.wrongDates,
        s.wave,
        s.soft404 ?? null,
        s.rulesBy,
        s.id,
      );
      this.#shelve(s);
    }
    this.#dirty.clear();
  }

  #shelve(server: Server): void {
    if (!server.robots || server.robots instanceof ShelvedRobots) return;
    server.robots = new ShelvedRobots(server.robots, server.id, this.#body);
  }

  #remember(server: Server): void {
    this.#byOrigin.set(server.origin, server);
    this.#byId.set(server.id, server);
  }
}

/** A robots.txt of up to half a megabyte, read again when an errand takes it along: there may be a million servers. */
class ShelvedRobots implements RobotsCopy {
  readonly status: number;
  readonly time: number;
  readonly unreachableSince: number;
  readonly #server: number;
  readonly #read: StatementSync;

  constructor({ status, time, unreachableSince }: RobotsCopy, server: number, read: StatementSync) {
    this.status = status;
    this.time = time;
    this.unreachableSince = unreachableSince;
    this.#server = server;
    this.#read = read;
  }

  get body(): string {
    return this.#read.get(this.#server)!['robots_body'] as string;
  }
}

function blank(id: number, origin: string): Server {
  return {
    id,
    origin,
    address: '',
    robots: undefined,
    rulesBy: '',
    sitemaps: [],
    crawlDelay: 0,
    notBefore: 0,
    latency: 0,
    failures: 0,
    refused: {},
    seeded: false,
    paused: false,
    pace: undefined,
    audits: 0,
    lies: 0,
    multiplier: 1,
    pings: 0,
    truePings: 0,
    pingExpected: 0,
    pingMissed: 0,
    dates: 0,
    wrongDates: 0,
    wave: 0,
    soft404: undefined,
  };
}

function fromRow(row: Record<string, unknown>): Server {
  const status = row['robots_status'] as number;
  return {
    id: row['id'] as number,
    origin: row['origin'] as string,
    address: row['address'] as string,
    robots: status < 0 ? undefined : robotsOf(row, status),
    rulesBy: (row['rules_by'] as string | undefined) ?? '',
    sitemaps: JSON.parse(row['sitemaps'] as string),
    crawlDelay: row['crawl_delay'] as number,
    notBefore: row['not_before'] as number,
    latency: row['latency'] as number,
    failures: row['failures'] as number,
    refused: JSON.parse(row['refused'] as string),
    seeded: row['seeded'] === 1,
    paused: row['paused'] === 1,
    pace: (row['pace'] as number | null) ?? undefined,
    audits: row['audits'] as number,
    lies: row['lies'] as number,
    multiplier: row['multiplier'] as number,
    pings: row['pings'] as number,
    truePings: row['true_pings'] as number,
    pingExpected: row['ping_expected'] as number,
    pingMissed: row['ping_missed'] as number,
    dates: row['dates'] as number,
    wrongDates: row['wrong_dates'] as number,
    wave: row['wave'] as number,
    soft404: (row['soft_404'] as Uint8Array | null) ?? undefined,
  };
}

function robotsOf(row: Record<string, unknown>, status: number): RobotsCopy {
  return {
    status,
    body: row['robots_body'] as string,
    time: row['robots_time'] as number,
    unreachableSince: row['robots_unreachable'] as number,
  };
}
