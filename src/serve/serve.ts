/**
 * A public port for the readers of a site: search, suggestions while typing, and a search box for any page. It reads the
 * collection and nothing else: no orders, no log, no addresses of machines, nothing of pages that ask not to be shown. What
 * anybody may ask is bounded in length and in number a second, and answers may be kept by whoever stands between.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { serve as listenOn } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { SkeinError } from '../base/errors.ts';
import { AnswersUnderWay, askerOf, shareConnections } from '../base/http.ts';
import { extractPage } from '../extract/page.ts';
import { openCopies } from '../home/copies/copies.ts';
import { textOf } from '../home/copies/copy-text.ts';
import type { OpenCollection } from '../questions/collection.ts';
import type { PartitionReader } from '../questions/partition-reader.ts';
import { sumOf } from '../questions/question.ts';
import { indexOf } from '../questions/search/index-of.ts';
import { searchCollection, searchWithSpread } from '../questions/search/searching.ts';
import type { Hit, QueryOptions, Results } from '../search/index.ts';
import { facetsOf } from './facets.ts';
import { type RateLimit, RateLimiter } from './rate-limit.ts';
import { type Section, type SectionHit, sectionsAbout, sectionsOf } from './sections.ts';
import { widget } from './widget.ts';
import { type Pins, plainQuery, type Synonyms, widened } from './wishes.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0 = any that is free. */
  readonly port: number;
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Sites whose pages may ask from a browser; `*` = all. */
  readonly origins: readonly string[];
  readonly limit: RateLimit;
  /** A proxy stands before it, and says who asks. */
  readonly behindProxy: boolean;
  readonly synonyms: Synonyms;
  readonly pins: Pins;
}

export interface Served {
  readonly port: number;
  readonly address: string;
  close(): Promise<void>;
}

/** Milliseconds in which a question has to be asked, and after which one who takes nothing of an answer is left. */
const PATIENCE = 10_000;
const IDLE = 30_000;
/** Answers to one asker that are under way at once, and questions that one connection may have open. */
const AT_ONCE = 16;
const MOST_STREAMS = 32;
const LONGEST_QUERY = 200;
const MOST_HITS = 50;
const SUGGESTED = 8;
/** Results whose sections are looked at, bytes of one, and pages whose sections are remembered. */
const WITH_SECTIONS = 10;
const MOST_BYTES = 500_000;
const REMEMBERED = 500;
/** Seconds for which answers may be kept. */
const KEPT = 60;

const asked = z.object({
  q: z.string().max(LONGEST_QUERY),
  limit: z.coerce.number().int().min(1).max(MOST_HITS).default(10),
  offset: z.coerce.number().int().min(0).max(1000).default(0),
  lang: z.string().max(35).default(''),
});

const copiesOf = ({ ledger }: PartitionReader) => openCopies(ledger);

/** Everything that reads the collection for the port, however many partitions it has. */
class PublicReader {
  readonly #collection: OpenCollection;
  readonly #wishes: Pick<ServeOptions, 'synonyms' | 'pins'>;
  /** By page and time of its change; the page asked for longest ago first. */
  readonly #sections = new Map<string, readonly Section[]>();

  constructor(collection: OpenCollection, wishes: Pick<ServeOptions, 'synonyms' | 'pins'>) {
    this.#collection = collection;
    this.#wishes = wishes;
  }

  async answer({ q, limit, offset, lang }: z.infer<typeof asked>): Promise<object> {
    const query = widened(q, this.#wishes.synonyms);
    const options = { language: lang };
    const { results, spread } = await searchWithSpread(this.#collection, query, { ...options, limit, offset });
    const { hits, total, exact, relaxed, corrected } = results;
    const pinned = offset === 0 ? await this.#pinned(q, options) : [];
    const rest = hits.filter(({ url }) => !pinned.some(pin => pin.url === url));
    const words = wordsOf(corrected ?? q);
    const shown = [...pinned, ...rest].slice(0, limit);
    const sections: SectionHit[][] = [];
    for (const hit of shown.slice(0, WITH_SECTIONS)) sections.push(sectionsAbout(await this.#sectionsOf(hit), words));
    return {
      query: q,
      ...(corrected !== undefined && { corrected }),
      ...{ total, exact, relaxed },
      hits: shown.map((hit, at) => ({
        ...shownHit(hit),
        pinned: at < pinned.length,
        sections: sections[at] ?? [],
      })),
      facets: facetsOf(spread, Date.now()),
    };
  }

  async suggest({ q, lang }: z.infer<typeof asked>): Promise<object> {
    const query = widened(q, this.#wishes.synonyms);
    const { hits } = await this.#search(query, { limit: SUGGESTED, language: lang });
    const pinned = await this.#pinned(q, { language: lang });
    const all = [...pinned, ...hits.filter(({ url }) => !pinned.some(pin => pin.url === url))];
    return { query: q, suggestions: all.slice(0, SUGGESTED).map(({ url, title }) => ({ url, title })) };
  }

  async #search(query: string, options: QueryOptions): Promise<Results> {
    return searchCollection(this.#collection, query, { ...options, freshness: () => undefined });
  }

  /** Pages that the owner wants first, as far as they are in the index. */
  async #pinned(q: string, options: { language: string }): Promise<Hit[]> {
    const urls = this.#wishes.pins.get(plainQuery(q)) ?? [];
    const found = urls.map(async url => {
      const { host, pathname } = new URL(url);
      const { hits } = await this.#search(`site:"${host}${pathname}"`, { ...options, limit: 20 });
      return hits.find(hit => hit.url === url) ?? [];
    });
    return (await Promise.all(found)).flat();
  }

  async #sectionsOf({ page, changed, copy, mediaType, url }: Hit): Promise<readonly Section[]> {
    if (!copy || !/html/.test(mediaType)) return [];
    const key = `${page} ${changed}`;
    const sections = this.#sections.get(key) ?? (await this.#readSections(page, url));
    this.#sections.delete(key);
    this.#sections.set(key, sections);
    if (this.#sections.size > REMEMBERED) this.#sections.delete(this.#sections.keys().next().value!);
    return sections;
  }

  async #readSections(page: number, url: string): Promise<Section[]> {
    const { reader, local } = this.#collection.placeOf(page) ?? {};
    const known = reader?.ledger.pages.known(local!);
    const stored = known && (await reader!.keep(copiesOf).newest(known));
    try {
      return stored ? sectionsOf(extractPage(textOf(stored, MOST_BYTES), url)) : [];
    } catch {
      return []; // strangers write pages: one that cannot be taken apart must not take the answer away
    }
  }

  /** In the index. */
  async documents(): Promise<number> {
    const indexes = await Promise.all(this.#collection.here.map(reader => indexOf(reader)));
    return sumOf(indexes.map(({ search }) => search.counts().documents));
  }

  close(): void {
    this.#collection.close();
  }
}

/** What leaves of a result: nothing that only means something inside. */
function shownHit({ url, title, snippet, language, mediaType: type, changed, alike, hidden }: Hit) {
  return {
    url,
    title,
    snippet,
    language,
    type,
    changed: new Date(changed).toISOString(),
    alike,
    ...(hidden && { hidden }),
  };
}

function wordsOf(query: string): string[] {
  const plain = query.toLowerCase().replace(/\b(?:site|type|lang|changed|title|url):\S*/g, ' ');
  return [...new Set(plain.match(/[\p{L}\p{N}_]{2,}/gu) ?? [])].slice(0, 12);
}

/** `collection` is closed with it. */
export async function openServe(options: ServeOptions, collection: OpenCollection): Promise<Served> {
  const reader = new PublicReader(collection, options);
  const app = makeApp(reader, options);
  const { tls, host } = options;
  const secure = tls && {
    createServer: createSecureServer,
    serverOptions: {
      ...{ cert: tls.certificate, key: tls.key, allowHTTP1: true },
      settings: { maxConcurrentStreams: MOST_STREAMS },
    },
  };
  try {
    const { server, port } = await new Promise<{ server: ReturnType<typeof listenOn>; port: number }>(
      (resolve, reject) => {
        const given = { fetch: app.fetch, port: options.port, hostname: host, ...secure };
        const opened = listenOn(given as Parameters<typeof listenOn>[0], info =>
          resolve({ server: opened, port: info.port }),
        );
        opened.once('error', reject);
      },
    );
    // One that says nothing is not waited for, and one asker has a share of the places.
    Object.assign(server, { headersTimeout: PATIENCE, requestTimeout: PATIENCE });
    server.setTimeout(IDLE);
    shareConnections(server as Server, { most: 2000, alike: 100, isProxy: () => options.behindProxy });
    const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
    return {
      port,
      address: `${tls ? 'https' : 'http'}://${shown}:${port}/`,
      async close() {
        server.close();
        if ('closeAllConnections' in server) server.closeAllConnections();
        reader.close();
      },
    };
  } catch (error) {
    reader.close();
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${message}`;
    throw new SkeinError('bad-option', `Port ${options.port} of ${host} ${why}.`, 'Choose another with --listen.');
  }
}

function makeApp(reader: PublicReader, options: ServeOptions): Hono {
  const app = new Hono();
  app.use(headersOf(options.origins));
  app.use(limited(options));
  app.onError((error, context) => {
    if (error instanceof SkeinError && error.code === 'bad-query')
      return context.json({ code: error.code, error: error.message }, 400);
    // What went wrong inside is nobody's business outside.
    return context.json({ code: 'internal', error: 'Search is not available now.' }, 503);
  });
  const ask = (answer: (input: z.infer<typeof asked>) => Promise<object>) => async (context: Context) => {
    const input = asked.safeParse(context.req.query());
    if (!input.success) return context.json({ code: 'bad-query', error: sentenceOf(input.error) }, 400);
    context.header('cache-control', `public, max-age=${KEPT}`);
    if (input.data.q.trim() === '') return context.json({ query: '', total: 0, hits: [], facets: [], suggestions: [] });
    return context.json(await answer(input.data));
  };
  app.get(
    '/search',
    ask(input => reader.answer(input)),
  );
  app.get(
    '/suggest',
    ask(input => reader.suggest(input)),
  );
  app.get('/healthz', async context => context.json({ pages: await reader.documents() }));
  app.get('/widget.js', context =>
    context.body(widget(), 200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'max-age=3600' }),
  );
  app.get('/', context =>
    context.html(TRIAL, 200, { 'content-security-policy': TRIAL_POLICY, 'cache-control': 'no-cache' }),
  );
  app.notFound(context => context.json({ code: 'not-found', error: 'There is nothing at this address.' }, 404));
  return app;
}

function sentenceOf({ issues }: z.ZodError): string {
  const at = issues[0]?.path[0];
  if (at === 'q') return `Give a query as ?q=, at most ${LONGEST_QUERY} characters.`;
  return at === 'limit' ? `limit is a number from 1 to ${MOST_HITS}.` : `${String(at)} is not valid.`;
}

/** Whoever may ask from another site is named; cookies are never part of it. */
function headersOf(origins: readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const origin = context.req.header('origin');
    const allowed = origins.includes('*') ? '*' : origins.find(each => each === origin);
    if (context.req.method === 'OPTIONS') context.res = new Response(null, { status: 204 });
    else await next();
    const { headers } = context.res;
    if (allowed !== undefined) headers.set('access-control-allow-origin', allowed);
    headers.append('vary', 'origin');
    headers.set('x-content-type-options', 'nosniff');
    headers.set('referrer-policy', 'no-referrer');
    headers.set('cross-origin-resource-policy', 'cross-origin');
    if (!headers.has('content-security-policy')) headers.set('content-security-policy', "default-src 'none'");
  };
}

function limited({ limit, behindProxy }: ServeOptions): MiddlewareHandler {
  const limiter = new RateLimiter(limit);
  const underWay = new AnswersUnderWay(AT_ONCE);
  return async (context, next) => {
    const client = clientOf(context, behindProxy);
    const { outgoing } = context.env as { outgoing?: ServerResponse };
    const wait = limiter.wait(client) || (outgoing && !underWay.begin(client, outgoing) ? 1 : 0);
    if (wait === 0) return next();
    return context.json({ code: 'busy', error: 'Too many requests; try again in a moment.' }, 429, {
      'retry-after': String(wait),
    });
  };
}

/** The last address is the one that our own proxy has seen; those before it anybody can write. */
function clientOf(context: Context, behindProxy: boolean): string {
  const forwarded = behindProxy
    ? context.req.header('x-forwarded-for')?.split(',').at(-1)?.trim().slice(0, LONGEST_ADDRESS)
    : undefined;
  const { incoming } = context.env as { incoming?: IncomingMessage };
  return askerOf(forwarded || incoming?.socket.remoteAddress || '');
}

/** Characters; longer ones are no addresses. */
const LONGEST_ADDRESS = 64;
const TRIAL_POLICY = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'";
const TRIAL = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Search</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><script type="module" src="/widget.js"></script>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}@media(prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}}</style></head>
<body><main><h1>Search</h1><p>This is the search box as it stands on a page. Press / or Ctrl K.</p><skein-search></skein-search></main></body></html>
`;
