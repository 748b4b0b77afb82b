/** Visits that are news to a reader: what a page was before the visit decides. Bounded by ids, so that few are read. */
import type { DatabaseSync } from 'node:sqlite';
import { serverTroubles } from '../../errand/reasons.ts';
import { FLAG_ALIAS } from '../pages/known-row.ts';
import { globOf, roles } from '../pages/pages.ts';
import type { VisitRow, Visits } from '../visits.ts';

export interface NewsWanted {
  /** Times, milliseconds: from `since` up to, not including, `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Ids of visits, likewise. */
  readonly from?: number;
  readonly before?: number;
  /** Part of the URL; * stands for anything. */
  readonly pattern?: string;
  readonly server?: number;
  /** Also first visits; leave out changes of bytes or markup that no reader would see. */
  readonly first?: boolean;
  readonly quiet?: boolean;
  /** Also pages of which only what many pages share changed. */
  readonly template?: boolean;
  readonly limit: number;
}

export interface NewsRow {
  /** The visit that saw it. */
  readonly id: number;
  readonly page: number;
  readonly time: number;
  readonly url: string;
  readonly server: number;
  readonly title: string | null;
  readonly reason: string;
  /** The stage of the detector that saw it. */
  readonly stage: string | null;
  /** Share of the words of both versions that differ, 0–1; null where none were counted. */
  readonly amount: number | null;
  /** Words that went and came. */
  readonly removed: number | null;
  readonly added: number | null;
  readonly outcome: string;
  readonly role: number;
  /** How the visit before it ended that saw the page or knew it gone; null = there was none. */
  readonly earlier: string | null;
}

export interface ChangedSpan {
  /** Spans since 1970. */
  readonly span: number;
  readonly server: number;
  readonly origin: string;
  readonly changed: number;
  readonly gone: number;
  readonly moved: number;
}

export interface TemplateEdit {
  readonly origin: string;
  /** Milliseconds when it was last seen on a page that had not shown it before. */
  readonly time: number;
  /** On which it was seen. */
  readonly pages: number;
  /** Words that went and came, on the mean page. */
  readonly removed: number | null;
  readonly added: number | null;
}

/** Sitemaps are read for what they say of others; that they changed is nobody's news. */
const SITEMAP = roles.indexOf('sitemap');

const EARLIER = `(SELECT b.outcome FROM visits b WHERE b.page = v.page AND b.id < v.id
  AND b.outcome NOT IN ('failed', 'refused') ORDER BY b.id DESC LIMIT 1)`;
const MAY_BE_NEWS = `v.outcome IN ('fetched', 'same', 'gone', 'moved') AND p.role <> ${SITEMAP}`;
const IS_NEWS = `((outcome = 'fetched' AND earlier IS NOT NULL) OR (outcome = 'same' AND earlier = 'gone')
  OR (outcome IN ('gone', 'moved') AND earlier IN ('fetched', 'same')))`;
/** No word differs, and neither does a link or a picture. */
const A_READER_SEES_IT = `NOT (v.outcome = 'fetched' AND v.amount IS NOT NULL AND v.amount = 0
  AND v.stage IN ('raw', 'content', 'structure'))`;

interface LatestVisit
  extends Pick<VisitRow, 'id' | 'page' | 'time' | 'outcome' | 'reason' | 'stage' | 'status' | 'ms' | 'outpost'> {
  readonly url: string;
  readonly bytes: number;
  /** The page was there once: what is missing now is gone, not only not found. */
  readonly seen: boolean;
}

/** How many visits ended in the same way. */
export interface VisitTally extends Pick<VisitRow, 'outcome' | 'stage' | 'outpost'> {
  readonly visits: number;
  /** That went wrong (src/errand/reasons.ts). */
  readonly errors: number;
  readonly bytes: number;
}

export class News {
  readonly #database: DatabaseSync;
  readonly #visits: Visits;

  constructor(database: DatabaseSync, visits: Visits) {
    this.#database = database;
    this.#visits = visits;
  }

  /** The visits behind `id`, newest first. */
  latestVisits(id: number, most: number): LatestVisit[] {
    return this.#database
      .prepare(
        `SELECT v.id, v.page, v.time, p.url, v.outcome, v.reason, v.stage, v.status, v.up + v.down AS bytes, v.ms, v.outpost,
           EXISTS (SELECT 1 FROM known k WHERE k.page = v.page AND k.seen_time IS NOT NULL) AS seen
         FROM visits v JOIN pages p ON p.id = v.page WHERE v.id > ? ORDER BY v.id DESC LIMIT ?`,
      )
      .all(id, most)
      .map(row => ({ ...row, seen: row['seen'] === 1 })) as unknown as LatestVisit[];
  }

  /** Visits of each span of `ms` since 1970, from the visit `from` up to, not including, `before`. */
  visitsBySpan(from: number, before: number, ms: number): { span: number; visits: number; same: number }[] {
    return this.#database
      .prepare(
        `SELECT cast(time / ? AS INTEGER) AS span, count(*) AS visits, sum(outcome = 'same') AS same FROM visits
         WHERE id >= ? AND id < ? GROUP BY span`,
      )
      .all(ms, from, before) as unknown as { span: number; visits: number; same: number }[];
  }

  /** Counts of the visits behind `id`. */
  visitTally(id: number): VisitTally[] {
    return this.#database
      .prepare(
        `SELECT outcome, stage, outpost, count(*) AS visits, sum(up + down) AS bytes,
           sum(outcome = 'failed' OR outcome = 'refused' AND reason IN (SELECT value FROM json_each(?))) AS errors
         FROM visits WHERE id > ? GROUP BY outcome, stage, outpost`,
      )
      .all(JSON.stringify(serverTroubles), id) as unknown as VisitTally[];
  }

  /** The newest visit that was made by then; 0 = none. For times of late: it reads every visit since. */
  upTo(time: number): number {
    const row = this.#database.prepare('SELECT id FROM visits WHERE time <= ? ORDER BY id DESC LIMIT 1').get(time);
    return (row?.['id'] as number | undefined) ?? 0;
  }

  /** Newest first. */
  list(wanted: NewsWanted): NewsRow[] {
    const {
      since = 0,
      until = Number.MAX_SAFE_INTEGER,
      from = 1,
      before = Number.MAX_SAFE_INTEGER,
      server = 0,
    } = wanted;
    return this.#database
      .prepare(
        `SELECT * FROM (
           SELECT v.id, v.page, v.time, v.outcome, v.reason, v.stage, v.amount, v.removed, v.added, p.url, p.server, p.role,
             k.title, ${EARLIER} AS earlier
           FROM visits v JOIN pages p ON p.id = v.page LEFT JOIN known k ON k.page = v.page
           WHERE v.id >= ? AND v.id < ? AND v.time >= ? AND v.time < ? AND ${MAY_BE_NEWS}
             ${wanted.quiet ? `AND ${A_READER_SEES_IT}` : ''} AND p.url GLOB ? AND (? = 0 OR p.server = ?))
         WHERE ${IS_NEWS} ${wanted.first ? `OR (outcome = 'fetched' AND earlier IS NULL)` : ''}
           ${wanted.template ? `OR stage = 'template'` : ''}
         ORDER BY id DESC LIMIT ?`,
      )
      .all(
        ...[Math.max(from, this.#visits.since(since)), before, since, until],
        ...[globOf(wanted.pattern), server, server, wanted.limit],
      ) as unknown as NewsRow[];
  }

  /** Changes that a reader sees, by spans of `ms` and server, of the visits from `from` up to, not including, `before`. */
  bySpan(from: number, before: number, ms: number): ChangedSpan[] {
    return this.#database
      .prepare(
        `SELECT span, server, s.origin, sum(outcome IN ('fetched', 'same')) AS changed, sum(outcome = 'gone') AS gone,
           sum(outcome = 'moved') AS moved
         FROM (SELECT cast(v.time / ? AS INTEGER) AS span, p.server, v.outcome, ${EARLIER} AS earlier
           FROM visits v JOIN pages p ON p.id = v.page WHERE v.id >= ? AND v.id < ?
             AND ${MAY_BE_NEWS} AND ${A_READER_SEES_IT})
         JOIN servers s ON s.id = server WHERE ${IS_NEWS}
         GROUP BY span, server`,
      )
      .all(ms, from, before) as unknown as ChangedSpan[];
  }

  /** How many pages, first visits too, by what tells the kinds of news apart; of the visits from `from` on. */
  counts(from: number): (Pick<NewsRow, 'outcome' | 'stage' | 'earlier' | 'role'> & { readonly n: number })[] {
    return this.#database
      .prepare(
        `SELECT outcome, iif(stage = 'template', stage, NULL) AS stage,
           iif(earlier IS NULL OR earlier = 'gone', earlier, 'fetched') AS earlier, role, count(DISTINCT page) AS n FROM (
           SELECT v.page, v.outcome, v.stage, p.role, ${EARLIER} AS earlier FROM visits v JOIN pages p ON p.id = v.page
           WHERE v.id >= ? AND ${MAY_BE_NEWS})
         WHERE ${IS_NEWS} OR (outcome = 'fetched' AND earlier IS NULL)
         GROUP BY 1, 2, 3, role`,
      )
      .all(from) as unknown as ReturnType<News['counts']>;
  }

  /** Looks at sitemaps, and at dead links, redirects and second addresses, of the visits from `from` on. */
  looksAside(from: number): { readonly sitemaps: number; readonly aside: number } {
    const row = this.#database
      .prepare(
        `SELECT sum(p.role = ${SITEMAP}) AS sitemaps,
           sum(p.role = 0 AND (v.outcome IN ('gone', 'moved') OR k.flags & ${FLAG_ALIAS} <> 0)) AS aside
         FROM visits v JOIN pages p ON p.id = v.page JOIN known k ON k.page = v.page WHERE v.id >= ?`,
      )
      .get(from)!;
    return { sitemaps: Number(row['sitemaps'] ?? 0), aside: Number(row['aside'] ?? 0) };
  }

  /**
   * Edits that many pages of a server share, newest first. The first edit that each page showed since then is taken for
   * the same one, and so is the second.
   */
  templateEdits(since: number, pattern?: string): TemplateEdit[] {
    return this.#database
      .prepare(
        `SELECT origin, max(time) AS time, count(*) AS pages, avg(removed) AS removed, avg(added) AS added
         FROM (
           SELECT p.server, v.time, v.removed, v.added, row_number() OVER (PARTITION BY v.page ORDER BY v.id) AS edit
           FROM visits v JOIN pages p ON p.id = v.page
           WHERE v.id >= ? AND v.time >= ? AND v.stage = 'template' AND p.url GLOB ?) e
         JOIN servers s ON s.id = e.server
         GROUP BY e.server, edit ORDER BY time DESC`,
      )
      .all(this.#visits.since(since), since, globOf(pattern)) as unknown as TemplateEdit[];
  }

  /** Pages that visits after `after`, up to `upTo`, may have changed: new ones, gone ones, and ones that came back. */
  newsPages(after: number, upTo: number): Iterable<{ page: number; server: number; url: string }> {
    return this.#database
      .prepare(
        `SELECT DISTINCT v.page, p.server, p.url FROM visits v JOIN pages p ON p.id = v.page
         WHERE v.id > ? AND v.id <= ? AND p.role = 0 AND (v.outcome IN ('fetched', 'gone', 'moved') OR v.outcome = 'same'
           AND (v.segment IS NOT NULL OR EXISTS
             (SELECT 1 FROM visits b WHERE b.page = v.page AND b.id < v.id AND b.outcome IN ('gone', 'moved'))))
         ORDER BY v.page`,
      )
      .iterate(after, upTo) as Iterable<unknown> as Iterable<{ page: number; server: number; url: string }>;
  }
}
