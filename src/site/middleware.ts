/**
 * `import { site } from 'skein/site'`: the faces of a site inside the program that serves it. Two lines for node:http,
 * Express, Fastify and Hono; what is not one of the faces is passed on untouched.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FaceAnswer, FaceError, type FaceRequest } from './faces/request.ts';
import { addressOf, answered, DISCOVERY_LINK } from './node-request.ts';
import { checkOptions, publicUrl, type SiteOptions } from './options.ts';
import { type OpenSite, openSite, type SiteStatus } from './site.ts';

export { SkeinError } from '../base/errors.ts';
export type { SiteOptions } from './options.ts';
export type { SiteStatus } from './site.ts';
export type { TellPages, ToldPage } from './sources/told.ts';

/** What is used of Fastify and Hono, so that neither has to be there. */
interface FastifyInstance {
  addHook(
    name: 'onRequest',
    hook: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): unknown }) => Promise<void>,
  ): unknown;
}
interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
  header(name: string, value: string, options?: { append?: boolean }): void;
}

export interface SiteMiddleware {
  /** node:http and Express: `app.use(site({ … }))`. Without `next`, what is not ours is answered with 404. */
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
  /** `app.register(site({ … }).fastify)` */
  readonly fastify: (app: FastifyInstance, options: unknown, done: () => void) => void;
  /** `app.use(site({ … }).hono)` */
  readonly hono: (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;
  /** Resolves when the first inventory is made; rejects when it cannot be. */
  readonly ready: Promise<void>;
  /** Says that pages changed, or, with none, that anything may have. */
  changed(...urls: readonly string[]): Promise<void>;
  /** Undefined until the site is open. */
  status(): SiteStatus | undefined;
  close(): Promise<void>;
}

/** Throws at once for options that are wrong. */
export function site(options: SiteOptions): SiteMiddleware {
  checkOptions(options);
  publicUrl(options.public);
  // Nobody may be listening to `ready`; what goes wrong must not stay unsaid, nor end the owner's program.
  const say = options.say ?? (text => process.emitWarning(text, 'skein/site'));
  let open: OpenSite | undefined;
  const opened = openSite({ ...options, say }).then(made => {
    open = made;
    return made;
  });
  const ready = opened.then(made => made.site.start());
  ready.catch(error => say((error as Error).message));
  const faces = async () => (await opened).site.faces;
  return Object.assign(nodeHandler(faces), {
    fastify: fastifyPlugin(faces),
    hono: honoMiddleware(faces),
    ready,
    changed: async (...urls: readonly string[]) => (await opened).site.changed(...urls),
    status: () => open?.site.status(),
    close: async () => {
      const made = await opened.catch(() => undefined);
      await made?.close();
    },
  });
}

type FacesOf = () => Promise<OpenSite['site']['faces']>;

function nodeHandler(faces: FacesOf) {
  return (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void => {
    const pass = (): void => {
      if (isPageRequest(request.method, request.url)) response.appendHeader('link', DISCOVERY_LINK);
      if (next) next();
      else response.writeHead(404).end();
    };
    faces()
      .then(found => answered(found, request, response))
      .then(ours => ours || pass())
      .catch(pass); // the site could not be opened, and `ready` says so: visitors go on as before
  };
}

function fastifyPlugin(faces: FacesOf) {
  const plugin = (app: FastifyInstance, _options: unknown, done: () => void): void => {
    app.addHook('onRequest', async ({ raw }, reply) => {
      const found = await faces().catch(() => undefined);
      if (found?.owns((raw.url ?? '/').split('?')[0]!)) {
        reply.hijack();
        await answered(found, raw, reply.raw);
      } else if (isPageRequest(raw.method, raw.url)) reply.raw.appendHeader('link', DISCOVERY_LINK);
    });
    done();
  };
  // Fastify keeps hooks within the plugin that added them, unless it says this.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

function honoMiddleware(faces: FacesOf) {
  return async (context: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const { raw } = context.req;
    const found = await faces().catch(() => undefined);
    const answer = await found?.answer(webRequest(raw, context.env));
    if (answer) return webResponse(answer, raw.method);
    await next();
    if (isPageRequest(raw.method, new URL(raw.url).pathname)) context.header('link', DISCOVERY_LINK, { append: true });
    return undefined;
  };
}

function webRequest(request: Request, env: unknown): FaceRequest {
  const { pathname, searchParams } = new URL(request.url);
  // On Node, its own request comes along; elsewhere nobody is told apart by address.
  const incoming = (env as { incoming?: IncomingMessage } | undefined)?.incoming;
  return {
    method: request.method,
    path: pathname,
    query: searchParams,
    header: name => request.headers.get(name) ?? undefined,
    body: async most => {
      const body = new Uint8Array(await boundedBody(request, most));
      return body;
    },
    address: addressOf(incoming?.socket.remoteAddress ?? '', request.headers.get('x-forwarded-for') ?? undefined),
    certified: (incoming?.socket as { authorized?: boolean } | undefined)?.authorized === true,
    gone: request.signal,
  };
}

async function boundedBody(request: Request, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > most) throw new FaceError('too-large', `A request may have ${most} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function webResponse({ status, headers, body }: FaceAnswer, method: string): Response {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const none = method === 'HEAD' || bytes === undefined;
  return new Response(none ? null : new Uint8Array(bytes), { status, headers });
}

/** By its name alone: pictures and scripts need no link. */
function isPageRequest(method: string | undefined, url = '/'): boolean {
  const last = url.split('?')[0]!.split('/').at(-1)!;
  return (method === 'GET' || method === 'HEAD') && (!last.includes('.') || /\.x?html?$/i.test(last));
}
