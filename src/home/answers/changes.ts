/**
 * What changed across the collection: pages that changed, went, moved or came back, newest first, and how many of them
 * by day and server. One rule for the command line and the workbench; what a visit is to a reader depends on the one
 * before it, so that "gone" and "still gone" are told apart.
 */
import { DAY } from '../../base/clock.ts';
import { meaningOf } from '../../errand/reasons.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_ALIAS } from '../../ledger/pages/known-row.ts';
import { globOf, roles } from '../../ledger/pages/pages.ts';

export interface Change {
  /** The visit that saw it. */
  readonly id: number;
  readonly page: number;
  readonly time: number;
  readonly url: string;
  readonly server: number;
  readonly title: string | null;
  /** back: a page that had been gone; template: it is the same but for an edit that many pages share. */
  readonly kind: 'changed' | 'new' | 'gone' | 'moved' | 'back' | 'template';
  readonly reason: string;
  readonly means: string;
  /** The stage of the detector that saw it. */
  readonly stage: string | null;
  /** Of a change of structure: the levels of the tree (root 1) on which the number of elements is another. */
  readonly levels?: readonly number[];
  /** Share of the words of both versions that differ, 0–1; null where none were counted. */
  readonly amount: number | null;
  /** Words that went and came. */
  readonly removed: number | null;
  readonly added: number | null;
  /** Of an image: some of the pages that show it. */
  readonly shownBy?: readonly string[];
}

export interface ChangesWanted {
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

/** Pages named of those that show a changed image, and pages looked through for them from the first that did. */
const SHOWN_BY = 3;
const NEAR = 2000;
/** Sitemaps are read for what they say of others; that they changed is nobody's news. */
const SITEMAP = roles.indexOf('sitemap');
const IMAGE = roles.indexOf('image');

const EARLIER = `(SELECT b.outcome FROM visits b WHERE b.page = v.page AND b.id < v.id
  AND b.outcome NOT IN ('failed', 'refused') ORDER BY b.id DESC LIMIT 1)`;
const MAY_BE_NEWS = `v.outcome IN ('fetched', 'same', 'gone', 'moved') AND p.role <> ${SITEMAP}`;
const IS_NEWS = `((outcome = 'fetched' AND earlier IS NOT NULL) OR (outcome = 'same' AND earlier = 'gone')
  OR (outcome IN ('gone', 'moved') AND earlier IN ('fetched', 'same')))`;
/** No word differs, and neither does a link or a picture. */
const A_READER_SEES_IT = `NOT (v.outcome = 'fetched' AND v.amount IS NOT NULL AND v.amount = 0
  AND v.stage IN ('raw', 'content', 'structure'))`;

interface Row extends Omit<Change, 'kind' | 'means' | 'shownBy'> {
  readonly outcome: string;
  readonly role: number;
  readonly earlier: string | null;
}

export function changesIn(ledger: Ledger, wanted: ChangesWanted): Change[] {
  const { since = 0, until = Number.MAX_SAFE_INTEGER, from = 1, before = Number.MAX_SAFE_INTEGER, server = 0 } = wanted;
  const rows = ledger.database
    .prepare(
      `SELECT * FROM (
         SELECT v.id, v.page, v.time, v.outcome, v.reason, v.stage, v.amount, v.removed, v.added, p.url, p.server, p.role, k.title,
           ${EARLIER} AS earlier
         FROM visits v JOIN pages p ON p.id = v.page LEFT JOIN known k ON k.page = v.page
         WHERE v.id >= ? AND v.id < ? AND v.time >= ? AND v.time < ? AND ${MAY_BE_NEWS}
           ${wanted.quiet ? `AND ${A_READER_SEES_IT}` : ''} AND p.url GLOB ? AND (? = 0 OR p.server = ?))
       WHERE ${IS_NEWS} ${wanted.first ? `OR (outcome = 'fetched' AND earlier IS NULL)` : ''}
         ${wanted.template ? `OR stage = 'template'` : ''}
       ORDER BY id DESC LIMIT ?`,
    )
    .all(
      ...[Math.max(from, ledger.visits.since(since)), before, since, until],
      ...[globOf(wanted.pattern), server, server, wanted.limit],
    ) as unknown as Row[];
  return rows.map(row => changeOf(ledger, row));
}

function changeOf(ledger: Ledger, { outcome, role, earlier, ...row }: Row): Change {
  const levels = row.stage === 'structure' ? ledger.visits.levels(row.id) : undefined;
  return {
    ...row,
    kind: kindOf(outcome, row.stage, earlier),
    means: meaningOf(row.reason),
    ...(levels && { levels }),
    ...(role === IMAGE && { shownBy: shownBy(ledger, row.page) }),
  };
}

function shownBy({ links, pages }: Ledger, image: number): string[] {
  const after = Math.max(0, (pages.get(image)?.parent ?? 0) - 1);
  const found = links.in(image, { after, upTo: after + NEAR, most: SHOWN_BY });
  return found.map(({ source }) => pages.get(source)?.url ?? '');
}

function kindOf(outcome: string, stage: string | null, earlier: string | null): Change['kind'] {
  if (outcome === 'gone' || outcome === 'moved') return outcome;
  if (earlier === 'gone') return 'back';
  if (stage === 'template') return 'template';
  return earlier === null ? 'new' : 'changed';
}

export interface ChangedDay {
  /** Days since 1970. */
  readonly day: number;
  readonly server: number;
  readonly origin: string;
  readonly changed: number;
  readonly gone: number;
  readonly moved: number;
}

/** Changes that a reader sees, by day and server, of the visits from `from` up to, not including, `before`. */
export function changedDays(ledger: Ledger, from: number, before: number): ChangedDay[] {
  return ledger.database
    .prepare(
      `SELECT day, server, s.origin, sum(outcome IN ('fetched', 'same')) AS changed, sum(outcome = 'gone') AS gone,
         sum(outcome = 'moved') AS moved
       FROM (SELECT cast(v.time / ${DAY} AS INTEGER) AS day, p.server, v.outcome, ${EARLIER} AS earlier
         FROM visits v JOIN pages p ON p.id = v.page WHERE v.id >= ? AND v.id < ?
           AND ${MAY_BE_NEWS} AND ${A_READER_SEES_IT})
       JOIN servers s ON s.id = server WHERE ${IS_NEWS}
       GROUP BY day, server`,
    )
    .all(from, before) as unknown as ChangedDay[];
}

/** What a run brought, as `changes` would list it, and the looks that no budget of pages pays for. */
export interface Tally {
  /** Pages that changed, or came back; images that changed; pages that were seen for the first time. */
  readonly changed: number;
  readonly back: number;
  readonly images: number;
  readonly new: number;
  /** Looks at dead links, redirects and second addresses, and at sitemaps. */
  readonly aside: number;
  readonly sitemaps: number;
}

/** Of the visits from `from` on. */
export function tallyOf(ledger: Ledger, from: number): Tally {
  const rows = ledger.database
    .prepare(
      `SELECT outcome, stage, earlier, role, count(*) AS n FROM (
         SELECT v.outcome, v.stage, p.role, ${EARLIER} AS earlier FROM visits v JOIN pages p ON p.id = v.page
         WHERE v.id >= ? AND ${MAY_BE_NEWS})
       WHERE ${IS_NEWS} OR (outcome = 'fetched' AND earlier IS NULL)
       GROUP BY outcome, stage, earlier, role`,
    )
    .all(from) as unknown as (Pick<Row, 'outcome' | 'stage' | 'earlier' | 'role'> & { n: number })[];
  const sum = (role: number, kind: Change['kind']) =>
    rows
      .filter(row => row.role === role && kindOf(row.outcome, row.stage, row.earlier) === kind)
      .reduce((total, { n }) => total + n, 0);
  const looks = ledger.database
    .prepare(
      `SELECT sum(p.role = ${SITEMAP}) AS sitemaps,
         sum(p.role = 0 AND (v.outcome IN ('gone', 'moved') OR k.flags & ${FLAG_ALIAS} <> 0)) AS aside
       FROM visits v JOIN pages p ON p.id = v.page JOIN known k ON k.page = v.page WHERE v.id >= ?`,
    )
    .get(from) as { sitemaps: number | null; aside: number | null };
  return {
    changed: sum(0, 'changed'),
    back: sum(0, 'back'),
    images: sum(IMAGE, 'changed'),
    new: sum(0, 'new'),
    aside: looks.aside ?? 0,
    sitemaps: looks.sitemaps ?? 0,
  };
}
