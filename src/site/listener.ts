/** The listener of `skein site`: HTTP, or HTTPS with client certificates where the owner wants them. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SkeinError } from '../base/errors.ts';
import { AnswersUnderWay, askerOf, createServer, isLoopback, shareConnections } from '../base/http.ts';
import { siteLimits } from '../notices/site/discovery.ts';
import { Front } from './front.ts';
import { answered, readerOf } from './node-request.ts';
import type { Site } from './site.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** PEM; `clientCa`: who may sign the certificates of readers. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientCa?: string } | undefined;
  /** Everything that is no face goes through to this web server. */
  readonly front?: string | undefined;
}

/** At once: in all, and of one reader from another machine. Behind a web server all come from this one. */
const MOST_CONNECTIONS = 1024;
const MOST_ALIKE = 128;
/** Answers to one reader that are under way at once. */
const MOST_ANSWERS = 32;
/** Milliseconds after which a reader that takes nothing of its answer is left: longer than one may wait for a change. */
const IDLE = (siteLimits.wait + 60) * 1000;

interface Listening {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function listen(site: Site, options: ListenOptions): Promise<Listening> {
  const front = options.front === undefined ? undefined : new Front(options.front, site.bodies);
  const underWay = new AnswersUnderWay(MOST_ANSWERS);
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reader = readerOf(request);
    // Behind a web server that does not say who asks, all readers are that server.
    if (!isLoopback(reader) && !underWay.begin(askerOf(reader), response))
      return void response.writeHead(429, { 'retry-after': '1', connection: 'close' }).end();
    if (await answered(site.faces, request, response)) return;
    if (front) front.pass(request, response);
    else
      response
        .writeHead(404, { 'content-type': 'text/plain' })
        .end('This address serves only the announcements of the site.\n');
  };
  const server = make(options, (request, response) => void handle(request, response));
  shareConnections(server, { most: MOST_CONNECTIONS, alike: MOST_ALIKE, isProxy: isLoopback });
  server.headersTimeout = 10_000;
  server.requestTimeout = 60_000;
  server.setTimeout(IDLE);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(unable(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    close: async () => {
      front?.close();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function make({ tls }: ListenOptions, handle: (request: IncomingMessage, response: ServerResponse) => void): Server {
  if (tls === undefined) return createServer(handle);
  const { createServer: secure } = process.getBuiltinModule('node:https');
  const { certificate: cert, key, clientCa } = tls;
  // Not refused at the door: the discovery document and the standard faces are for everybody.
  const mutual = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  return secure({ cert, key, ...mutual, minVersion: 'TLSv1.2' }, handle);
}

function unable(error: NodeJS.ErrnoException, { host, port }: ListenOptions): SkeinError {
  const why = error.code === 'EADDRINUSE' ? 'another program uses this port' : error.message;
  return new SkeinError('bad-option', `${host}:${port} cannot be listened on: ${why}.`, 'Give another --listen.');
}
