/** Requests of node:http as the faces see them, and answers back. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { isLoopback } from '../base/http.ts';
import { WELL_KNOWN } from '../notices/site/discovery.ts';
import type { Faces } from './faces/faces.ts';
import { type FaceAnswer, FaceError, type FaceRequest } from './faces/request.ts';

/** Told to whoever reads a page of the site. */
export const DISCOVERY_LINK = `<${WELL_KNOWN}>; rel="skein"`;

function faceRequest(request: IncomingMessage, response: ServerResponse): FaceRequest {
  // Express takes the path at which a middleware is mounted off `url`.
  const target = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
  const question = target.indexOf('?');
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return {
    method: request.method ?? 'GET',
    path: question < 0 ? target : target.slice(0, question),
    query: new URLSearchParams(question < 0 ? '' : target.slice(question, question + 20_000)),
    header,
    body: most => readBody(request, most),
    address: readerOf(request),
    certified: (request.socket as Partial<TLSSocket>).authorized === true,
    gone: gone.signal,
  };
}

/** The address that a request comes from, as far as it can be known. */
export function readerOf({ socket, headers }: IncomingMessage): string {
  return addressOf(socket.remoteAddress ?? '', [headers['x-forwarded-for']].flat().join(', ') || undefined);
}

/** Behind a web server on this machine the last hop is that server's word; from elsewhere nobody is believed. */
export function addressOf(remote: string, forwarded: string | undefined): string {
  if (!isLoopback(remote) || forwarded === undefined) return remote;
  return forwarded.split(',').at(-1)!.trim().slice(0, 60) || remote;
}

async function readBody(request: IncomingMessage, most: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const tooLarge = () => new FaceError('too-large', `A request may have ${most} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge();
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function writeAnswer({ status, headers, body }: FaceAnswer, response: ServerResponse, method: string): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (response.headersSent || response.destroyed) return;
  response.sendDate = status !== 204;
  const length = bytes === undefined || status === 304 ? {} : { 'content-length': String(bytes.length) };
  response.writeHead(status, { ...headers, ...length });
  response.end(method === 'HEAD' ? undefined : bytes);
}

/** True when the request was ours, and is answered. Never rejects. */
export async function answered(faces: Faces, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const asked = faceRequest(request, response);
  if (!faces.owns(asked.path)) return false;
  try {
    const answer = await faces.answer(asked);
    if (answer === undefined) return false;
    writeAnswer(answer, response, asked.method);
  } catch (error) {
    if (response.destroyed) return true; // whoever asked has gone: no news to the owner
    process.emitWarning(error as Error); // a bug of ours must not end the owner's server
    writeAnswer({ status: 500, headers: {} }, response, asked.method);
  }
  return true;
}
