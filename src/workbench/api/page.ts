/** Everything about one page: what is known of it, its visits and versions, links, and why it is or is not due. */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { lookUp, urlsMeant } from '../../home/answers/lookup.ts';
import { meaningOf, stateOf, visitMeans, whyOf } from '../../home/answers/why.ts';
import { inferredOf } from '../../home/copies/copies.ts';
import { differenceOf, pageOf } from '../../home/copies/difference.ts';
import {
  FLAG_NOARCHIVE,
  FLAG_NOFOLLOW,
  FLAG_NOINDEX,
  FLAG_TRUNCATED,
  type KnownRow,
} from '../../ledger/pages/known-row.ts';
import { roles } from '../../ledger/pages/pages.ts';
import type { ListingPart } from '../../ledger/queries/listings.ts';
import type { Keyed } from '../paging.ts';
import type { FoundHere, Reader, ReadPartition } from '../reader.ts';
import { type ListShape, listHere, route } from './route.ts';
import { after, amount, bytes, duration, id, limit, list, means, next, outcome, share, stage, time } from './shared.ts';

/** Links that one answer holds, and pages whose links are read for it to find those that lead to one. */
const MOST_LINKS = 500;
const SCANNED = 100_000;

const place = z.object({ id: z.int(), url: z.string().nullable() }).meta({ id: 'Place', description: 'Another page.' });

const known = z
  .object({
    ...{ outcome, reason: z.string(), means, status: z.int().describe('of HTTP; 0 = there was none') },
    time: time.describe('of the last visit'),
    firstTime: time.describe('of the first visit'),
    seenTime: time.nullable().describe('when its content was last seen'),
    changedTime: time.describe('when a change was last seen'),
    tries: z.int().describe('failures in a row'),
    retryAt: time.nullable(),
    due: time.nullable(),
    notices: z.int().describe('since the last visit'),
    ...{ etag: z.string().nullable(), lastModified: z.string().nullable(), canonical: z.string().nullable() },
    ...{ title: z.string().nullable(), type: z.string().nullable().describe('media type') },
    ...{ charset: z.string().nullable(), language: z.string().nullable() },
    bytes: bytes.nullable().describe('of its body'),
    ...{ noindex: z.boolean(), nofollow: z.boolean(), noarchive: z.boolean(), truncated: z.boolean() },
    ...{ movedTo: place.nullable(), sameAs: place.nullable(), near: place.nullable() },
  })
  .meta({ id: 'Known' });

const pageDetail = z
  .object({
    ...{ id: z.int(), url: z.string() },
    state: z.string().describe('what happened last and what happens next, in words'),
    role: z.enum(roles),
    depth: z.int().describe('links from a seed'),
    found: time,
    lastmod: time.nullable().describe('as a sitemap says'),
    refused: z.string().nullable().describe('why it is never visited'),
    parent: place.nullable(),
    server: z.object({ id: z.int(), origin: z.string() }).nullable(),
    linksIn: z.int(),
    known: known.nullable().describe('null = never visited'),
  })
  .meta({ id: 'Page' });

const pageVisit = z
  .object({
    ...{ id: z.int(), time, outcome, reason: z.string(), means, status: z.int(), stage, amount },
    bytes: bytes.describe('on the wire, both ways'),
    ...{ ms: duration, cause: z.string(), outpost: z.string() },
    stored: z.boolean().describe('it is a version: a copy is stored'),
  })
  .meta({ id: 'PageVisit' });

const link = z.object({ id: z.int(), url: z.string(), anchor: z.string(), nofollow: z.boolean() });

const linkList = z
  .object({
    links: list(link),
    capped: z.boolean().describe('it has more than these'),
    next,
  })
  .meta({ id: 'LinkList' });

const perDay = z.number().describe('a day');
const days = z.number().describe('days of freshness');

const placement = z
  .object({
    machine: z.string(),
    reason: z.enum(['own', 'fastest', 'measuring', 'shared', 'address', 'least-loaded', 'home']),
    because: z.string().describe('in words'),
  })
  .describe('where errands of its server go; absent = nothing was decided yet');

const why = z
  .object({
    ...{ url: z.string(), state: z.string().describe('in words'), policy: z.string() },
    explanation: z
      .object({
        history: z.string().describe('oldest first; 1 = had changed'),
        rate: perDay.describe('changes a day'),
        confidence: z.object({ low: perDay, high: perDay, word: z.enum(['unknown', 'weak', 'fair', 'good']) }),
        changedByNow: share.describe('probability'),
        importance: z.number(),
        due: time,
        value: days.describe('days of freshness that a visit now would bring'),
        theta: days.describe('days of freshness that the budget asks for'),
        sentence: z.string(),
      })
      .optional()
      .describe('absent = never seen'),
    notices: z.int().describe('since the last visit'),
    searches: z.number().describe('times that it was opened from a search, fading'),
    rule: z.string().describe('which rule decides when it is looked at next'),
    masks: z
      .array(z.object({ evidence: z.string(), told: z.string(), because: z.string() }))
      .describe('what is taken for noise on the page, and why'),
    server: z
      .object({
        ...{ origin: z.string(), paused: z.boolean(), notBefore: time, validatorsTrusted: z.boolean() },
        ...{ audits: z.number(), lies: z.number(), notices: z.number(), trueNotices: z.number() },
        multiplier: z.number().describe('above 1: politeness keeps it behind'),
      })
      .optional(),
    machine: z.object({ placement: placement.optional(), last: z.string().describe('who visited it last') }),
  })
  .meta({ id: 'Why' });

const version = z.object({ visit: z.int(), time });
const sides = z.object({ removed: list(z.string()), added: list(z.string()) });
const words = z.object({ kind: z.enum(['same', 'removed', 'added']), items: list(z.string()) });

const pageDifference = z
  .object({
    ...{ from: version, to: version, title: z.object({ before: z.string(), after: z.string() }) },
    text: list(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('same'), blocks: list(z.string()) }),
        z.object({ kind: z.literal('changed'), words: list(words) }),
      ]),
    ),
    ...{ links: sides, images: sides, removed: z.int().describe('words'), added: z.int().describe('words') },
    sameText: z.boolean().describe('only bytes, markup or attributes differ'),
  })
  .meta({ id: 'Difference' });

const copy = z
  .object({ visit: z.int(), time, status: z.int(), headers: list(z.tuple([z.string(), z.string()])), bytes })
  .meta({ id: 'Copy' });

export type PageDetail = z.infer<typeof pageDetail>;
export type PageVisit = z.infer<typeof pageVisit>;
export type LinkList = z.infer<typeof linkList>;
export type WhyAnswer = z.infer<typeof why>;
export type ShownDifference = z.infer<typeof pageDifference>;

function onePage(reader: Reader, found: FoundHere): PageDetail {
  const { page, part } = found;
  const { servers, links } = part.ledger;
  const server = page.server === 0 ? undefined : servers.read(page.server);
  const placeOf = (other: number | null) => reader.linked(part, other ?? 0) ?? null;
  return {
    ...{ id: part.told(page.id), url: page.url, depth: page.depth, found: page.found, lastmod: page.lastmod },
    state: [stateOf(found, server, Date.now()), found.known && inferredOf(part.ledger, found.known)]
      .filter(Boolean)
      .join(' '),
    role: roles[page.role]!,
    refused: page.refused,
    parent: placeOf(page.parent),
    server: server ? { id: part.told(server.id), origin: server.origin } : null,
    linksIn: links.backward.saved(page.id),
    known: found.known ? knownOf(found.known, placeOf) : null,
  };
}

type PlaceOf = (page: number | null) => z.infer<typeof place> | null;

function knownOf(row: KnownRow, placeOf: PlaceOf): NonNullable<PageDetail['known']> {
  const { outcome, reason, status, time, tries, due, etag, canonical, title, charset, language, bytes } = row;
  const flag = (bit: number) => (row.flags & bit) !== 0;
  return {
    ...{ outcome, reason, status, time, tries, due, etag, canonical, title, charset, language, bytes },
    means: meaningOf(reason),
    ...{ firstTime: row.first_time, seenTime: row.seen_time, changedTime: row.changed_time, retryAt: row.retry_at },
    ...{ notices: row.pings, lastModified: row.last_modified, type: row.media_type },
    ...{ noindex: flag(FLAG_NOINDEX), nofollow: flag(FLAG_NOFOLLOW), noarchive: flag(FLAG_NOARCHIVE) },
    truncated: flag(FLAG_TRUNCATED),
    ...{ movedTo: placeOf(row.moved_to), sameAs: placeOf(row.same_as), near: placeOf(row.near) },
  };
}

const linksInput = z.object({
  id,
  direction: z.enum(['in', 'out']).default('out'),
  after,
});

/** With the URL of the page, by which every partition knows it. */
const linksWanted = linksInput.extend({ url: z.string().max(4000).optional() });

/** Newest first; a version is a visit that stored a copy. */
function visitsOf(
  reader: Reader,
  { id, after: from, limit }: { id: number; after?: number | undefined; limit: number },
) {
  const { part, page } = reader.page(id);
  const before = from === undefined ? Number.MAX_SAFE_INTEGER : (reader.placeOf(from)?.local ?? 0);
  const { rows, next } = part.ledger.queries.listings.visitsOf(page.id, before, limit);
  const visits = rows.map(row => ({ ...row, id: part.told(row.id), means: visitMeans(row) }));
  return { visits, next: next === null ? null : part.told(next) };
}

type PageLinkRow = LinkList['links'][number];

function linksOut(reader: Reader, told: number): LinkList {
  const { part, page } = reader.page(told);
  const found = part.ledger.links.out(page.id).filter(link => link.target !== 0);
  const shown = found.slice(0, MOST_LINKS).map(({ target, ...link }): PageLinkRow => {
    const { id: there, url } = reader.linked(part, target) ?? { id: 0, url: '' };
    return { id: there, url, ...link };
  });
  return { links: shown, capped: found.length > MOST_LINKS, next: null };
}

/** Who links to a page may be in any partition; each that has such pages has a stub of it. */
const linksIn: ListShape<z.infer<typeof linksWanted>, PageLinkRow> = {
  form: linksWanted,
  prepare: async (input, pageOf) => ({ ...input, url: await pageOf(input.id) }),
  row: link,
  after: ({ after }) => after,
  limit: () => MOST_LINKS,
  compare: () => () => 0, // partition after partition
  rows(part, { url }, place = 0) {
    const target = url === undefined ? undefined : lookUp(part.ledger, [url])?.page.id;
    return target === undefined ? { rows: [], next: null } : linksOfPart(part, target, place);
  },
  told: (links, next): LinkList => ({ links: links as PageLinkRow[], capped: false, next }),
};

function linksOfPart(part: ReadPartition, target: number, after: number): ListingPart<Keyed<PageLinkRow>> {
  const { links, pages } = part.ledger;
  const upTo = after + SCANNED;
  const found = links.in(target, { after, upTo, most: MOST_LINKS });
  const rows = found.map(({ source, ...link }) => ({
    key: source,
    row: { id: part.told(source), url: pages.get(source)?.url ?? '', ...link },
  }));
  return { rows, next: found.length === MOST_LINKS ? found.at(-1)!.source : upTo < links.last() ? upTo : null };
}

async function difference(reader: Reader, told: number, from: number, to: number) {
  const { page, part } = reader.page(told);
  const side = async (visitId: number) => {
    const { visit, part: there } = reader.visit(visitId);
    const stored = there === part && visit.page === page.id ? await part.copies.of(visit) : undefined;
    if (!stored) throw new SkeinError('not-found', 'One of the two versions is not stored.');
    return { visit: visitId, time: visit.time, page: pageOf(stored) };
  };
  const [before, after] = [await side(from), await side(to)];
  return {
    from: { visit: before.visit, time: before.time },
    to: { visit: after.visit, time: after.time },
    ...differenceOf(before.page, after.page),
  };
}

async function copyOf(reader: Reader, visitId: number) {
  const { visit, part } = reader.visit(visitId);
  const stored = await part.copies.of(visit);
  if (!stored) throw new SkeinError('not-found', 'That visit stored no copy.');
  return {
    visit: visitId,
    time: visit.time,
    status: stored.status,
    headers: [...stored.headers],
    bytes: stored.body.length,
  };
}

function whyNow(reader: Reader, told: number) {
  const { part, ...found } = reader.page(told);
  return whyOf(part.ledger, found, Date.now(), reader.directory);
}

export const pageRoutes = [
  route({
    method: 'get',
    path: '/find',
    summary: 'The page with this URL.',
    input: z.object({ url: z.string().max(4000) }),
    output: pageDetail,
    about: ({ url }) => urlsMeant(url)[0],
    answer: ({ url }, { reader }) => onePage(reader, reader.find(url)),
  }),
  route({
    method: 'get',
    path: '/pages/{id}',
    summary: 'Everything known of one page.',
    input: z.object({ id }),
    output: pageDetail,
    about: ({ id }) => id,
    answer: (input, { reader }) => onePage(reader, reader.page(input.id)),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/visits',
    summary: 'Its visits, newest first; those with `stored` are versions.',
    input: z.object({ id, after: id.optional(), limit }),
    output: z.object({ visits: list(pageVisit), next }).meta({ id: 'PageVisitList' }),
    about: ({ id }) => id,
    answer: (input, { reader }) => visitsOf(reader, input),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/links',
    summary:
      'Links of a page with their anchor text, at most 500. Those that lead to it come in parts: ask again with `after` = `next`.',
    input: linksInput,
    output: linkList,
    about: ({ id, direction }) => (direction === 'out' ? id : undefined),
    list: linksIn,
    answer: (input, { reader }) =>
      input.direction === 'out'
        ? linksOut(reader, input.id)
        : (listHere(linksIn, reader, { ...input, url: reader.page(input.id).page.url }) as LinkList),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/why',
    summary: 'Why it is or is not due: history, rate, probability, importance, and one sentence.',
    input: z.object({ id }),
    output: why,
    about: ({ id }) => id,
    answer: (input, { reader }) => whyNow(reader, input.id),
  }),
  route({
    method: 'get',
    path: '/pages/{id}/difference',
    summary: 'What differs between two stored versions, named by their visits: words, links, images.',
    input: z.object({ id, from: id, to: id }),
    output: pageDifference,
    about: ({ id }) => id,
    answer: (input, { reader }) => difference(reader, input.id, input.from, input.to),
  }),
  route({
    method: 'get',
    path: '/copies/{visit}',
    summary:
      'Status and headers of a stored copy. The copy itself, made harmless, is at /copy/{visit}; with ?since or ?until = another visit, what came or went is marked in it.',
    input: z.object({ visit: id }),
    output: copy,
    about: ({ visit }) => visit,
    answer: (input, { reader }) => copyOf(reader, input.visit),
  }),
];
