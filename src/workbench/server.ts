/**
 * The workbench: a web page to watch and steer, and the public API under it. It reads the collection by itself, beside
 * whatever home is writing it, and gives orders through that home's door; so it can run in a thread of the home, or as
 * a process of its own, and costs the crawl next to nothing.
 *
 * It never writes the ledger, never sends crawled content as anything but data or a sandboxed copy, and never loads
 * anything from elsewhere. access.ts says who may do what; api/table.ts lists the endpoints.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Server as HttpServer, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { streamSSE } from 'hono/streaming';
import type { z } from 'zod';
import { SkeinError } from '../base/errors.ts';
import { shareConnections } from '../base/http.ts';
import {
  gate,
  headers,
  holdsToken,
  mayChange,
  roleOf,
  type WorkbenchAccess,
  type WorkbenchRole,
  type WorkbenchUser,
} from './access.ts';
import { openApi } from './api/openapi.ts';
import type { Route } from './api/route.ts';
import { routes } from './api/table.ts';
import type { Tick } from './api/tick.ts';
import { CollectionRuns } from './collections/runs.ts';
import { CollectionShelf } from './collections/shelf.ts';
import { COMPARED_POLICY, COPY_POLICY, copyDocument } from './copy.ts';
import { loadFiles, type StaticFile } from './files.ts';
import { metricsOf, totalsOf } from './metrics.ts';
import { answerWhole } from './whole/answering.ts';
import { copyElsewhere } from './whole/whole.ts';

export interface WorkbenchOptions {
  readonly directory: string;
  /** 0 = any that is free. */
  readonly port: number;
  /** Default 127.0.0.1; anything else needs TLS. */
  readonly host?: string;
  /** PEM. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  readonly version: string;
  /** Others than whoever starts it, who may everything. */
  readonly users?: readonly Pick<WorkbenchUser, 'name' | 'role'>[];
  /** Directory of a `skein site` on this machine; `skein-site` where this was started unless said otherwise. */
  readonly site?: string;
  /** The directory holds several collections; what starts their runs: Node, its script, arguments of every run. */
  readonly program?: readonly string[];
}

export interface Workbench {
  readonly port: number;
  /** With the token: opening it lets a browser steer. */
  readonly address: string;
  /** The same for each of the others. */
  readonly users: readonly { readonly name: string; readonly role: WorkbenchRole; readonly address: string }[];
  close(): Promise<void>;
}

/** Pages of the workbench that may listen at once: of who holds the token, and of others, who never keep these out. */
const MOST_LISTENERS = 64;
const MOST_STRANGERS = 16;
/** Connections at once, in all and from one other machine; and milliseconds in which a request has to be made. */
const MOST_CONNECTIONS = 512;
const MOST_ALIKE = 64;
const MOST_STREAMS = 128;
const PATIENCE = 10_000;
/** Bytes of an order: as many as the door takes. */
const MOST_BODY = 2_000_000;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

interface ServerParts {
  readonly access: WorkbenchAccess;
  readonly shelf: CollectionShelf;
  readonly runs: CollectionRuns | undefined;
  readonly version: string;
}

export async function openWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const host = options.host ?? '127.0.0.1';
  const open = !LOOPBACK.has(host);
  if (open && !options.tls) {
    throw new SkeinError(
      'bad-option',
      `The workbench listens on ${host} only with TLS.`,
      'Give --certificate and --key, or leave --listen out and come through an ssh tunnel.',
    );
  }
  const token = () => randomBytes(24).toString('base64url');
  const others = (options.users ?? []).map(user => ({ ...user, token: token() }));
  const users: readonly WorkbenchUser[] = [{ name: 'owner', role: 'admin', token: token() }, ...others];
  // The port is part of what is checked, and with port 0 only known once the server listens. What holds the process is
  // opened after that: a port that cannot be had must end it.
  let app: Hono | undefined;
  const { server, port } = await listen(options, host, (request, env) => app!.fetch(request, env));
  const { directory, program, site = 'skein-site', version } = options;
  const shelf = new CollectionShelf(directory, site, program !== undefined);
  const runs = program && new CollectionRuns({ directory, shelf, program });
  app = makeApp({ access: { users, port, open }, shelf, runs, version });
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const origin = `${options.tls ? 'https' : 'http'}://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
  return {
    port,
    address: `${origin}/?token=${users[0]!.token}`,
    users: others.map(({ name, role, token: own }) => ({ name, role, address: `${origin}/?token=${own}` })),
    async close() {
      await runs?.close();
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      shelf.close();
    },
  };
}

type ListeningServer = ReturnType<typeof serve>;

function listen(
  options: WorkbenchOptions,
  hostname: string,
  fetch: (request: Request, env: object) => Response | Promise<Response>,
) {
  return new Promise<{ server: ListeningServer; port: number }>((resolve, reject) => {
    const secure = options.tls && {
      createServer: createSecureServer,
      serverOptions: {
        ...{ cert: options.tls.certificate, key: options.tls.key, allowHTTP1: true },
        settings: { maxConcurrentStreams: MOST_STREAMS },
      },
    };
    const server = serve({ fetch, port: options.port, hostname, ...secure } as Parameters<typeof serve>[0], info =>
      resolve({ server, port: (info as AddressInfo).port }),
    );
    server.once('error', error => reject(cannotListen(error, hostname, options.port)));
    // Before anybody has shown a token. All who come through a tunnel, and all users of this machine, have one address.
    Object.assign(server, { headersTimeout: PATIENCE, requestTimeout: PATIENCE });
    const isProxy = (address: string) => LOOPBACK.has(address.replace(/^::ffff:/, ''));
    shareConnections(server as HttpServer, { most: MOST_CONNECTIONS, alike: MOST_ALIKE, isProxy });
  });
}

function cannotListen({ code, message }: NodeJS.ErrnoException, host: string, port: number): SkeinError {
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new SkeinError(
      'bad-option',
      `${host} is not an address of this machine.`,
      'Use 0.0.0.0 for all its addresses.',
    );
  }
  const why =
    { EADDRINUSE: 'is taken', EACCES: 'may not be used by this user' }[code ?? ''] ?? `cannot be used: ${message}`;
  return new SkeinError('bad-option', `Port ${port} ${why}.`, 'Choose another port; 0 picks a free one.');
}

function makeApp(parts: ServerParts): Hono {
  const { access, version } = parts;
  const app = new Hono();
  const shown = (context: Context) => parts.shelf.of(nameOf(context, parts));
  app.use(headers);
  addHealth(app, parts.shelf);
  app.use(gate(access));
  const tooLong = (context: Context) => context.json({ code: 'bad-option', error: 'That order is too long.' }, 413);
  app.use('/api/*', bodyLimit({ maxSize: MOST_BODY, onError: tooLong }));
  app.onError((error, context) => {
    const [status, body] = problemOf(error);
    return context.json(body, status);
  });
  for (const each of routes) addRoute(app, each, parts);
  app.get('/api/v1/openapi.json', context => context.json(openApi(routes, version)));
  addLive(app, parts);
  app.get('/metrics', context => {
    const { reader, live } = shown(context);
    const totals = totalsOf(reader.parts.map(({ ledger }) => ledger.visits.looks.totals()));
    return context.text(metricsOf(live.now, totals), 200, { 'content-type': 'text/plain; version=0.0.4' });
  });
  app.get('/copy/:visit{[0-9]+}', async context => {
    const numbered = (name: string) => Number(context.req.query(name)) || undefined;
    const against = { since: numbered('since'), until: numbered('until') };
    const { reader } = shown(context);
    const visit = Number(context.req.param('visit'));
    const html = (await copyElsewhere(reader.whole, visit, against)) ?? (await copyDocument(reader, visit, against));
    const compared = against.since !== undefined || against.until !== undefined;
    return context.html(html, 200, { 'content-security-policy': compared ? COMPARED_POLICY : COPY_POLICY });
  });
  // What each rule has told, written by whoever tells (src/notify/notifier.ts).
  app.get('/feeds/:name{[a-z0-9-]+[.](?:atom|rss)}', context => {
    const [rule, kind] = context.req.param('name').split('.') as [string, string];
    const file = join(shown(context).reader.directory, 'notify', rule, `feed.${kind}`);
    if (!existsSync(file)) return context.notFound();
    return context.body(readFileSync(file, 'utf8'), 200, { 'content-type': `application/${kind}+xml; charset=utf-8` });
  });
  app.get('/open/:name', context => openCollection(context, parts));
  for (const [path, file] of loadFiles()) app.get(path, () => answerFile(file));
  app.notFound(context => context.json({ code: 'not-found', error: 'There is nothing at this address.' }, 404));
  return app;
}

/** What happens, once a second, to whoever listens. */
function addLive(app: Hono, parts: ServerParts): void {
  const listening = { holders: 0, strangers: 0 };
  app.get('/api/v1/live', context => {
    const { live } = parts.shelf.of(nameOf(context, parts));
    // Nobody reads what would be written for a HEAD, so nothing would ever end it.
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' });
    const who = holdsToken(context, parts.access) ? 'holders' : 'strangers';
    if (listening[who] >= (who === 'holders' ? MOST_LISTENERS : MOST_STRANGERS))
      return context.json({ code: 'busy', error: 'Too many viewers already.' }, 503);
    const { outgoing } = context.env as { outgoing: ServerResponse };
    if (outgoing.destroyed) return context.body(null);
    listening[who]++;
    return streamSSE(context, async stream => {
      await new Promise<void>(resolve => {
        // A reader that does not keep up misses seconds instead of filling our memory with them.
        let writing = false;
        const stop = live.listen((tick: Tick) => {
          if (writing) return;
          writing = true;
          void stream.writeSSE({ event: 'tick', data: JSON.stringify(tick) }).finally(() => {
            writing = false;
          });
        });
        // Whatever becomes of the answer, the line ends some day; a stream that nobody read is not told.
        outgoing.once('close', () => {
          listening[who]--;
          stop();
          resolve();
        });
      });
    });
  });
}

/** Each browser has the collection that it opened last; a program names it as `?collection=NAME`. */
function nameOf(context: Context, { shelf, access }: ServerParts): string {
  return shelf.chosen(context.req.query('collection') ?? getCookie(context, `skein-${access.port}-collection`));
}

/** Shows another collection from now on, in this browser. */
function openCollection(context: Context, { shelf, access }: ServerParts): Response {
  const name = context.req.param('name') ?? '';
  if (!shelf.has(name)) throw new SkeinError('not-found', `There is no collection "${name}".`);
  const terms = { httpOnly: true, sameSite: 'Strict', secure: access.open, path: '/' } as const;
  setCookie(context, `skein-${access.port}-collection`, name, terms);
  return context.redirect('/');
}

/** For those who watch over the process: no token and no name, because they say nothing of the collection. */
function addHealth(app: Hono, shelf: CollectionShelf): void {
  app.get('/healthz', context => context.text('ok\n'));
  app.get('/readyz', context => {
    try {
      const name = shelf.chosen(undefined);
      const parts = name === '' && shelf.several ? [] : shelf.of(name).reader.parts;
      for (const { ledger } of parts) ledger.visits.newest();
      return context.text('ready\n');
    } catch {
      return context.text('the ledger cannot be read\n', 503);
    }
  });
}

function answerFile({ bytes, type, immutable }: StaticFile): Response {
  const cache = immutable ? 'public, max-age=31536000, immutable' : 'no-cache';
  return new Response(bytes, { headers: { 'content-type': type, 'cache-control': cache } });
}

function addRoute(app: Hono, each: Route, parts: ServerParts): void {
  const { access, shelf, runs } = parts;
  const path = `/api/v1${each.path.replace(/\{(\w+)\}/g, ':$1')}`;
  app.on(each.method.toUpperCase(), path, async context => {
    if (each.changes && !mayChange(context, access, each.role)) {
      const error = holdsToken(context, access)
        ? `This needs the role ${each.role ?? 'steer'}; you may ${roleOf(context, access)}.`
        : 'This needs the token.';
      return context.json({ code: 'refused', error, hint: 'Open the address that skein printed.' }, 403);
    }
    const given = each.method === 'get' ? context.req.query() : await context.req.json();
    const input = each.input.safeParse({ ...given, ...context.req.param() });
    if (!input.success) {
      return context.json({ code: 'bad-option', error: wrongValue(input.error.issues[0]!) }, 400);
    }
    const shown = nameOf(context, parts);
    return context.json(
      (await answerWhole(each, input.data, {
        ...{ role: roleOf(context, access), runs, shown },
        get reader() {
          return shelf.of(shown).reader;
        },
        get live() {
          return shelf.of(shown).live;
        },
      })) as object,
    );
  });
}

/** Orders say themselves what is wrong, in a sentence; of other parameters it is named. */
function wrongValue(issue: z.core.$ZodIssue): string {
  if (issue.message.endsWith('.')) return issue.message;
  const name = `"${issue.path.join('.')}"`;
  if (issue.code === 'too_big') return `${name} must be at most ${issue.maximum}.`;
  if (issue.code === 'too_small') return `${name} must be at least ${issue.minimum}.`;
  if (issue.code === 'invalid_value') return `${name} must be one of ${issue.values.join(', ')}.`;
  if (issue.code === 'invalid_type')
    return `${name} must be a ${issue.expected === 'int' ? 'whole number' : issue.expected}.`;
  // A form that checks more has words of its own; the validator's are for programmers.
  const why = /^(?:Invalid|Unrecognized)/.test(issue.message) ? '' : `: ${issue.message}`;
  return `The value of ${name} cannot be used${why}.`;
}

const statuses = {
  'not-found': 404,
  'bad-option': 400,
  'bad-query': 400,
  'bad-seed': 400,
  refused: 409,
  incomplete: 503,
} as const;

function problemOf(error: Error): [400 | 404 | 409 | 500 | 503, object] {
  if (error instanceof SyntaxError) return [400, { code: 'bad-option', error: 'That is not JSON.' }];
  if (!(error instanceof SkeinError)) return [500, { code: 'internal', error: error.message }];
  const status = statuses[error.code as keyof typeof statuses] ?? 500;
  return [status, { code: error.code, error: error.message, hint: error.hint }];
}
