/** Pages: lists that are paged by key and never count, and everything about one page. */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { differenceOf, pageOf } from '../../home/difference.ts';
import { type Found, findPage } from '../../home/lookup.ts';
import { meaningOf, stateOf, whyOf } from '../../home/why.ts';
import { hasTarget, unpackLinks } from '../../ledger/packed-links.ts';
import { FLAG_NOARCHIVE, globOf, roles } from '../../ledger/pages.ts';
import type { Reader, Value } from '../reader.ts';
import { route } from './route.ts';

export const id = z.coerce.number().int().min(1);
export const limit = z.coerce.number().int().min(1).max(200).default(50);
/** Rows looked at in one request when a filter matches few of them; the answer then says where to go on. */
const SCANNED = 150_000;
/** Links that one answer holds, and pages whose links are read at once to find those that lead to one. */
const MOST_LINKS = 500;
const SLICE = 10_000;

/** How a list is ordered: where its rows come from, and the key that it is paged by, which only ever falls or rises. */
const orders = {
  found: {
    from: 'pages p LEFT JOIN known k ON k.page = p.id',
    key: 'p.id',
    up: true,
    last: 'SELECT max(id) AS n FROM pages',
  },
  newest: {
    from: 'pages p LEFT JOIN known k ON k.page = p.id',
    key: 'p.id',
    up: false,
    last: 'SELECT max(id) AS n FROM pages',
  },
  visited: {
    from: 'visits v JOIN known k ON k.page = v.page AND k.time = v.time JOIN pages p ON p.id = v.page',
    key: 'v.id',
    up: false,
    last: 'SELECT max(id) AS n FROM visits',
  },
  changed: {
    from: 'visits v JOIN known k ON k.page = v.page AND k.changed_time = v.time JOIN pages p ON p.id = v.page',
    key: 'v.id',
    up: false,
    last: 'SELECT max(id) AS n FROM visits',
  },
} as const;

interface ListedPage {
  readonly key: number;
  readonly id: number;
  readonly url: string;
  readonly outcome: string;
  readonly reason: string | null;
}

const listInput = z.object({
  find: z.string().max(500).default('').describe('part of the URL; * stands for anything'),
  outcome: z.enum(['', 'fetched', 'same', 'moved', 'gone', 'refused', 'failed', 'waiting']).default(''),
  server: z.coerce.number().int().min(0).default(0).describe('id of a server; 0 = all'),
  order: z.enum(['found', 'newest', 'visited', 'changed']).default('found'),
  after: z.coerce.number().min(0).optional().describe('`next` of the answer before'),
  limit,
});

export function listPages(reader: Reader, input: z.infer<typeof listInput>) {
  const { from, key, up, last } = orders[input.order];
  const end = reader.row<{ n: number | null }>(last)?.n ?? 0;
  const start = input.after ?? (up ? 0 : end + 1);
  const stop = up ? start + SCANNED : start - SCANNED;
  const where = [up ? `${key} > ? AND ${key} <= ?` : `${key} < ? AND ${key} >= ?`];
  const values: Value[] = [start, stop];
  if (input.find !== '') {
    where.push('p.url GLOB ?');
    values.push(globOf(input.find));
  }
  if (input.server !== 0) {
    where.push('p.server = ?');
    values.push(input.server);
  }
  if (input.outcome === 'waiting') where.push('k.page IS NULL AND p.refused IS NULL');
  else if (input.outcome === 'refused') where.push(`(k.outcome = 'refused' OR p.refused IS NOT NULL)`);
  else if (input.outcome !== '') {
    where.push('k.outcome = ?');
    values.push(input.outcome);
  }
  const rows = reader.rows<ListedPage>(
    `SELECT ${key} AS key, p.id, p.url, p.depth, p.server, k.title, k.status, k.media_type AS type, k.bytes, k.time,
       k.changed_time AS changed, k.due, coalesce(p.refused, k.reason) AS reason,
       coalesce(k.outcome, CASE WHEN p.refused IS NULL THEN 'waiting' ELSE 'refused' END) AS outcome
     FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${key} ${up ? 'ASC' : 'DESC'} LIMIT ?`,
    ...values,
    input.limit,
  );
  // Without a full page there may still be more beyond what was looked at.
  const more = rows.length === input.limit ? rows.at(-1)!.key : (up ? stop < end : stop > 1) ? stop : null;
  return { pages: rows.map(row => ({ ...row, means: row.reason === null ? '' : meaningOf(row.reason) })), next: more };
}

function onePage(reader: Reader, found: Found) {
  const { page, known } = found;
  const urlOf = (other: number | null | undefined) => (other ? (reader.ledger.pages.get(other)?.url ?? null) : null);
  const server = page.server === 0 ? undefined : reader.ledger.servers.read(page.server);
  const { facts: _facts, change: _change, mask: _mask, ...rest } = known ?? { facts: null, change: null, mask: null };
  return {
    id: page.id,
    url: page.url,
    state: stateOf(found, server, Date.now()),
    role: roles[page.role],
    depth: page.depth,
    found: page.found,
    lastmod: page.lastmod,
    refused: page.refused,
    refusedMeans: page.refused === null ? '' : meaningOf(page.refused),
    parent: page.parent === 0 ? null : { id: page.parent, url: urlOf(page.parent) },
    server: server && { id: server.id, origin: server.origin, paused: server.paused, notBefore: server.notBefore },
    linksIn: reader.ledger.backward.saved(page.id),
    known: known && {
      ...rest,
      means: meaningOf(known.reason),
      movedTo: known.moved_to && { id: known.moved_to, url: urlOf(known.moved_to) },
      sameAs: known.same_as && { id: known.same_as, url: urlOf(known.same_as) },
      near: known.near && { id: known.near, url: urlOf(known.near) },
      mayShow: (known.flags & FLAG_NOARCHIVE) === 0,
    },
  };
}

/** Newest first; a version is a visit that stored a copy. */
function visitsOf(reader: Reader, input: { id: number; after?: number | undefined; limit: number }) {
  const rows = reader.rows<{ id: number; reason: string; stored: number }>(
    `SELECT id, time, outcome, reason, status, stage, amount, up + down AS bytes, ms, cause, outpost,
       segment IS NOT NULL AS stored
     FROM visits WHERE page = ? AND id < ? ORDER BY id DESC LIMIT ?`,
    input.id,
    input.after ?? Number.MAX_SAFE_INTEGER,
    input.limit,
  );
  return {
    visits: rows.map(row => ({ ...row, means: meaningOf(row.reason), stored: row.stored === 1 })),
    next: rows.length === input.limit ? rows.at(-1)!.id : null,
  };
}

async function linksOf(reader: Reader, page: number, direction: 'in' | 'out') {
  const { links, pages } = reader.ledger;
  const urlOf = (other: number) => pages.get(other)?.url ?? '';
  if (direction === 'in') {
    const found = await linksTo(reader, page);
    return { links: found.map(link => ({ ...link, url: urlOf(link.id) })), capped: found.length >= MOST_LINKS };
  }
  const found = links.out(page).filter(link => link.target !== 0);
  return {
    links: found.slice(0, MOST_LINKS).map(({ target, ...link }) => ({ id: target, url: urlOf(target), ...link })),
    capped: found.length > MOST_LINKS,
  };
}

/** Reads the links of all pages through, in slices between which other questions are answered. */
async function linksTo(reader: Reader, page: number) {
  const found: { id: number; anchor: string; nofollow: boolean }[] = [];
  const last = reader.row<{ n: number | null }>('SELECT max(page) AS n FROM links')?.n ?? 0;
  for (let from = 0; from < last && found.length < MOST_LINKS; from += SLICE) {
    const rows = reader.rows<{ page: number; targets: Uint8Array }>(
      'SELECT page, targets FROM links WHERE page > ? AND page <= ?',
      from,
      from + SLICE,
    );
    for (const { page: source, targets } of rows) {
      if (!hasTarget(targets, page)) continue;
      const link = unpackLinks(targets).find(each => each.target === page)!;
      found.push({ id: source, anchor: link.anchor, nofollow: link.nofollow });
    }
    await new Promise(resolve => setImmediate(resolve));
  }
  return found.slice(0, MOST_LINKS);
}

function difference(reader: Reader, page: number, from: number, to: number) {
  const sides = [from, to].map(visitId => {
    const visit = reader.visit(visitId);
    const stored = visit.page === page ? reader.copies.of(visit) : undefined;
    if (!stored) throw new SkeinError('not-found', 'One of the two versions is not stored.');
    return { visit: visit.id, time: visit.time, page: pageOf(stored) };
  });
  const [before, after] = sides as [(typeof sides)[0], (typeof sides)[0]];
  return {
    from: { visit: before.visit, time: before.time },
    to: { visit: after.visit, time: after.time },
    ...differenceOf(before.page, after.page),
  };
}

function copyOf(reader: Reader, visitId: number) {
  const visit = reader.visit(visitId);
  const stored = reader.copies.of(visit);
  if (!stored) throw new SkeinError('not-found', 'That visit stored no copy.');
  return {
    visit: visit.id,
    time: visit.time,
    status: stored.status,
    headers: [...stored.headers],
    bytes: stored.body.length,
  };
}

export const pageRoutes = [
  route({
    method: 'get',
    path: '/pages',
    summary: 'A part of the pages, by URL, outcome or server. Ask again with `after` = `next` until that is null.',
    input: listInput,
    answer: (input, { reader }) => listPages(reader, input),
  }),
  route({
    method: 'get',
    path: '/find',
    summary: 'The page with this URL.',
    input: z.object({ url: z.string().max(4000) }),
    answer: ({ url }, { reader }) => onePage(reader, findPage(reader.ledger, url)),
  }),
  route({
    method: 'get',
    path: '/pages/{id}',
    summary: 'Everything known of one page.',
    input: z.object({ id }),
    answer: (input, { reader }) => onePage(reader, reader.page(input.id)),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/visits',
    summary: 'Its visits, newest first; those with `stored` are versions.',
    input: z.object({ id, after: id.optional(), limit }),
    answer: (input, { reader }) => visitsOf(reader, input),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/links',
    summary: 'Links of a page with their anchor text. At most 500; `capped` says that there are more.',
    input: z.object({ id, direction: z.enum(['in', 'out']).default('out') }),
    answer: (input, { reader }) => linksOf(reader, input.id, input.direction),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/why',
    summary: 'Why it is or is not due: history, rate, probability, importance, and one sentence.',
    input: z.object({ id }),
    answer: (input, { reader }) => whyOf(reader.ledger, reader.page(input.id), Date.now()),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/difference',
    summary: 'What differs between two stored versions, named by their visits: words, links, images.',
    input: z.object({ id, from: id, to: id }),
    answer: (input, { reader }) => difference(reader, input.id, input.from, input.to),
  }),
  route({
    method: 'get',
    path: '/copies/{visit}',
    summary: 'Status and headers of a stored copy. The copy itself, made harmless, is at /copy/{visit}.',
    input: z.object({ visit: id }),
    answer: (input, { reader }) => copyOf(reader, input.visit),
  }),
];
