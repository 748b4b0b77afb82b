/**
 * Lists that people page through: pages, servers, visits. Every question is bounded: it starts behind a key, looks at a
 * fixed number of rows and says where to go on, so that it costs the same however large the collection is.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Outcome } from '../../errand/visit.ts';
import { ELSEWHERE } from '../outbox/border.ts';
import { globOf } from '../pages/pages.ts';

type SqlValue = string | number | null;

/** A part of a list, and the key to go on from; null = the list ends here. */
export interface ListingPart<T> {
  readonly rows: readonly T[];
  readonly next: number | null;
}

interface ListingRow {
  readonly id: number;
  readonly url: string;
  readonly server: number;
  readonly depth: number;
  /** When it was found. */
  readonly found: number;
  readonly outcome: Outcome | 'waiting';
  readonly reason: string | null;
  readonly title: string | null;
  readonly status: number | null;
  /** Media type. */
  readonly type: string | null;
  readonly bytes: number | null;
  readonly time: number | null;
  readonly changed: number | null;
  readonly due: number | null;
}

/** With the key that the list is paged by. */
export interface KeyedPage extends ListingRow {
  readonly key: number;
}

interface PagesWanted {
  /** Part of the URL; * stands for anything. */
  readonly find: string;
  readonly outcome: Outcome | 'waiting' | '';
  /** 0 = all. */
  readonly server: number;
  /** Beginning of the media type; empty = all. */
  readonly type?: string;
  /** Statuses of HTTP, both included; absent = all. */
  readonly status?: readonly [from: number, to: number] | undefined;
  readonly order: keyof typeof pageOrders;
  readonly after?: number | undefined;
  readonly limit: number;
}

/** Rows looked at in one question when a filter matches few of them. */
const SCANNED = 60_000;

/** Pages that are looked at to count those of a kind. */
const COUNTED = 200_000;

const LAST_PAGE = 'SELECT max(id) AS n FROM pages';
const LAST_VISIT = 'SELECT max(id) AS n FROM visits';
const PAGES = 'pages p LEFT JOIN known k ON k.page = p.id';

/** Where the rows of a list come from, and the key that it is paged by, which only ever falls or rises. */
const pageOrders = {
  found: { from: PAGES, key: 'p.id', up: true, last: LAST_PAGE },
  newest: { from: PAGES, key: 'p.id', up: false, last: LAST_PAGE },
  visited: {
    from: 'visits v JOIN known k ON k.page = v.page AND k.time = v.time JOIN pages p ON p.id = v.page',
    key: 'v.id',
    up: false,
    last: LAST_VISIT,
  },
  changed: {
    from: `visits v JOIN known k ON k.page = v.page AND k.changed_time = v.time AND k.seen_time IS NOT NULL
      JOIN pages p ON p.id = v.page`,
    key: 'v.id',
    up: false,
    last: LAST_VISIT,
  },
} as const;

type PagesFilter = Omit<PagesWanted, 'order' | 'after' | 'limit'>;

interface ListedServer {
  readonly id: number;
  readonly origin: string;
  readonly address: string;
  /** Status of its robots.txt; 0 = unreachable, -1 = not read yet. */
  readonly robots: number;
  readonly crawlDelay: number;
  readonly notBefore: number;
  readonly latency: number;
  readonly failures: number;
  readonly seeded: boolean;
  readonly paused: boolean;
  readonly pace: number | null;
  readonly visits: number;
  readonly spent: number;
  readonly avoided: number;
}

interface ServersWanted {
  readonly find: string;
  readonly state: keyof typeof serverStates;
  readonly order?: ServerOrder;
  /** Id of the last one in the order in which they were found; in others, how many came before. */
  readonly after: number;
  readonly limit: number;
  /** Milliseconds; a server waits when it may not be asked before a later time. */
  readonly now: number;
  /** The account is summed from this day on. */
  readonly since: number;
}

/** Most first, but for names. */
const serverOrders = {
  found: 's.id',
  origin: 's.origin',
  visits: 'visits DESC',
  spent: 'spent DESC',
  latency: 's.latency DESC',
  failures: 's.failures + (s.robots_status = 0) DESC',
} as const;

export type ServerOrder = keyof typeof serverOrders;

/** Its last visits failed, or not even robots.txt could be read. */
const FAILING = '(failures > 0 OR robots_status = 0)';

const serverStates = { '': '1', paused: 'paused = 1', waiting: 'not_before > ?1', failing: FAILING } as const;

interface ListedVisit {
  readonly id: number;
  readonly time: number;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly status: number;
  readonly stage: string | null;
  readonly amount: number | null;
  /** On the wire, both ways. */
  readonly bytes: number;
  readonly ms: number;
  readonly cause: string;
  readonly outpost: string;
  /** It is a version: a copy is stored. */
  readonly stored: boolean;
}

interface ServerError {
  readonly id: number;
  readonly page: number;
  readonly time: number;
  readonly reason: string;
  readonly url: string;
}

/** Visits that are searched for a server's errors, newest first. */
const ERRORS_AMONG = 200_000;

export class Listings {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  pages(wanted: PagesWanted): ListingPart<KeyedPage> {
    const { from, key, up, last } = pageOrders[wanted.order];
    const end = (this.#database.prepare(last).get()!['n'] as number | null) ?? 0;
    const start = wanted.after ?? (up ? 0 : end + 1);
    const stop = up ? start + SCANNED : start - SCANNED;
    const { where, values } = pageFilter(wanted);
    const range = up ? `${key} > ? AND ${key} <= ?` : `${key} < ? AND ${key} >= ?`;
    const rows = this.#database
      .prepare(
        `SELECT ${key} AS key, p.id, p.url, p.depth, p.server, p.found, k.title, k.status, k.media_type AS type, k.bytes, k.time,
           CASE WHEN k.seen_time IS NULL THEN NULL ELSE k.changed_time END AS changed, k.due,
           coalesce(p.refused, k.reason) AS reason,
           coalesce(k.outcome, CASE WHEN p.refused IS NULL THEN 'waiting' ELSE 'refused' END) AS outcome
         FROM ${from} WHERE ${[range, ...where].join(' AND ')} ORDER BY ${key} ${up ? 'ASC' : 'DESC'} LIMIT ?`,
      )
      .all(start, stop, ...values, wanted.limit) as unknown as KeyedPage[];
    // Without a full part there may still be more beyond what was looked at.
    const more = up ? stop < end : stop > 1;
    const next = rows.length === wanted.limit ? rows.at(-1)!.key : more ? stop : null;
    return { rows, next };
  }

  /** How many pages there are of a kind, among the newest that are looked at. */
  count(wanted: PagesFilter): { readonly pages: number; readonly whole: boolean } {
    const { where, values } = pageFilter(wanted);
    const last = (this.#database.prepare(LAST_PAGE).get()!['n'] as number | null) ?? 0;
    const row = this.#database
      .prepare(`SELECT count(*) AS n FROM ${PAGES} WHERE p.id > ? AND ${where.join(' AND ')}`)
      .get(last - COUNTED, ...values)!;
    return { pages: row['n'] as number, whole: last <= COUNTED };
  }

  /** Pages that were visited at least once. */
  visited(): number {
    return this.#database.prepare('SELECT count(*) AS n FROM known').get()!['n'] as number;
  }

  /** Each with its account. */
  servers({ find, state, order = 'found', after, limit, now, since }: ServersWanted): ListingPart<ListedServer> {
    const byId = order === 'found';
    const rows = this.#database
      .prepare(
        `SELECT s.id, s.origin, s.address, s.robots_status AS robots, s.crawl_delay AS crawlDelay,
           s.not_before AS notBefore, s.latency, s.failures, s.seeded, s.paused, s.pace, coalesce(a.visits, 0) AS visits,
           coalesce(a.spent, 0) AS spent, coalesce(a.avoided, 0) AS avoided
         FROM servers s LEFT JOIN (SELECT server, sum(visits) AS visits, sum(spent) AS spent, sum(avoided) AS avoided
           FROM account WHERE day >= ?2 GROUP BY server) a ON a.server = s.id
         WHERE s.id > ?3 AND s.origin GLOB ?4 AND s.origin NOT GLOB 'forgotten:*' AND ?1 > 0 AND ${serverStates[state]}
         ORDER BY ${serverOrders[order]}, s.id LIMIT ?5 OFFSET ?6`,
      )
      .all(now, since, byId ? after : 0, globOf(find), limit, byId ? 0 : after) as unknown as ListedServer[];
    // SQLite has no truth values.
    const servers = rows.map(row => ({ ...row, seeded: Boolean(row.seeded), paused: Boolean(row.paused) }));
    return { rows: servers, next: rows.length === limit ? (byId ? rows.at(-1)!.id : after + limit) : null };
  }

  /** Servers whose last visits failed. */
  failing(): number {
    return this.#database.prepare(`SELECT count(*) AS n FROM servers WHERE ${FAILING}`).get()!['n'] as number;
  }

  /** The visits of a page, newest first, from before the visit `before` on. */
  visitsOf(page: number, before: number, limit: number): ListingPart<ListedVisit> {
    const rows = this.#database
      .prepare(
        `SELECT id, time, outcome, reason, status, stage, amount, up + down AS bytes, ms, cause, outpost,
           segment IS NOT NULL AS stored
         FROM visits WHERE page = ? AND id < ? ORDER BY id DESC LIMIT ?`,
      )
      .all(page, before, limit) as unknown as (Omit<ListedVisit, 'stored'> & { stored: number })[];
    const visits = rows.map(row => ({ ...row, stored: row.stored === 1 }));
    return { rows: visits, next: rows.length === limit ? rows.at(-1)!.id : null };
  }

  /** The newest failures of a server. */
  errorsOf(server: number, limit: number): ServerError[] {
    return this.#database
      .prepare(
        `SELECT v.id, v.page, v.time, v.reason, p.url FROM
           (SELECT * FROM visits WHERE id > (SELECT max(id) FROM visits) - ${ERRORS_AMONG} AND outcome = 'failed') v
         JOIN pages p ON p.id = v.page AND p.server = ? ORDER BY v.id DESC LIMIT ?`,
      )
      .all(server, limit) as unknown as ServerError[];
  }
}

function pageFilter({ find, server, outcome, type = '', status }: PagesFilter): {
  where: string[];
  values: SqlValue[];
} {
  const where = [`p.refused IS NOT 'forgotten' AND p.refused IS NOT '${ELSEWHERE}'`];
  const values: SqlValue[] = [];
  if (find !== '') {
    where.push('p.url GLOB ?');
    values.push(globOf(find));
  }
  if (server !== 0) {
    where.push('p.server = ?');
    values.push(server);
  }
  if (type !== '') {
    where.push('substr(k.media_type, 1, length(?)) = ?');
    values.push(type, type);
  }
  if (status) {
    where.push('k.status BETWEEN ? AND ?');
    values.push(...status);
  }
  if (outcome === 'waiting') where.push('k.page IS NULL AND p.refused IS NULL');
  else if (outcome === 'refused') where.push(`(k.outcome = 'refused' OR p.refused IS NOT NULL)`);
  else if (outcome !== '') {
    where.push('k.outcome = ?');
    values.push(outcome);
  }
  return { where, values };
}
