/**
 * Lines over WebSocket and TLS: the door at a parent, and the way of an outpost to it. An outpost dials, so that it may
 * stand behind NAT; the parent's certificate is the one whose fingerprint the token holds, or the outpost hangs up
 * before it has said a word.
 *
 * No port is opened without this: whoever comes in has proved a key that is a member's, or shown a token.
 */
import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { createWebSocketStream, WebSocket, WebSocketServer } from 'ws';
import { SkeinError } from '../base/errors.ts';
import { askerOf } from '../base/http.ts';
import { type Certificate, plain } from './entry/certificate.ts';
import { Strangers } from './entry/strangers.ts';

const PATH = '/skein';
const DIAL = 15_000;
/**
 * The hybrid with ML-KEM, which is Node's first choice, would add 2.3 kB to each greeting: as much as a day's news of ten
 * servers. It guards against who records a line today and has a quantum computer one day; what crosses is public pages.
 */
const CURVE = 'X25519';

/** Answers a request. */
export type DoorVisit = (request: IncomingMessage, response: ServerResponse) => void;

export interface Door {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Bytes of one who has not proved who they are: a message of the largest size is for those who have. */
const MOST_BEFORE_GREETING = 1 << 20;

/**
 * Opens the door. `come` gets every stream that was opened, not yet greeted; it resolves when the greeting is over. `visit`
 * gets requests that are no outpost's; whoever makes them stays a stranger, with no longer than a stranger has.
 */
export async function openDoor(
  address: { readonly host: string; readonly port: number },
  { certificate, key }: Certificate,
  come: (stream: Duplex) => Promise<unknown>,
  visit: DoorVisit = (_, response) => response.writeHead(404).end(),
): Promise<Door> {
  // No session tickets: nobody takes a session up again, and two of them would go along with every greeting.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  const server = createServer({ cert: certificate, key, minVersion: 'TLSv1.3', secureOptions }, visit);
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 128 << 20 });
  /** By their other end, which is the same within TLS. */
  const open = new Map<string, Socket>();
  const strangers = new Strangers();
  server.on('connection', (socket: Socket) => {
    const address = askerOf(socket.remoteAddress ?? '');
    const end = endOf(socket);
    open.set(end, socket);
    strangers.come(socket, address);
    socket.once('close', () => {
      open.delete(end);
      strangers.leave(socket, address);
    });
  });
  server.on('tlsClientError', () => {}); // somebody who does not speak TLS: no concern of ours
  server.on('upgrade', (request, socket: Socket, head) => {
    if (request.url !== PATH) return socket.destroy();
    sockets.handleUpgrade(request, socket, head, ws => {
      const stream = createWebSocketStream(ws);
      stream.on('error', () => {}); // the line on top of it says what happened
      const outer = open.get(endOf(socket));
      const greeted = limitBytes(socket);
      // Who was greeted is no stranger any more; who was not has been told why.
      come(stream).then(
        () => {
          greeted();
          if (outer) strangers.leave(outer, askerOf(outer.remoteAddress ?? ''));
        },
        () => stream.destroy(),
      );
    });
  });
  await listen(server, address);
  const { port } = server.address() as AddressInfo;
  return {
    host: address.host,
    port,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        // All of them: one that has connected and is not greeted yet would keep the door open for ever.
        for (const socket of open.values()) socket.destroy();
      }),
  };
}

/** Ends a line on which more comes than a greeting can have; call what it returns when the greeting is over. */
function limitBytes(socket: Socket): () => void {
  let heard = 0;
  const count = (bytes: Buffer) => {
    heard += bytes.length;
    if (heard > MOST_BEFORE_GREETING) socket.destroy();
  };
  socket.on('data', count);
  return () => void socket.off('data', count);
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const busy = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      const why = busy ? 'another program uses this port' : error.message;
      reject(new SkeinError('bad-option', `--listen ${host}:${port} is not possible: ${why}.`));
    });
    server.listen(port, host, resolve);
  });
}

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly fingerprint: string;
}

/** Dials a parent's door. Throws one sentence when there is none, or another than expected. */
export async function dial({ host, port, fingerprint }: Address): Promise<Duplex> {
  const socket = await connectTo(host, port);
  if (plain(socket.getPeerCertificate().fingerprint256 ?? '') !== fingerprint) {
    socket.destroy();
    throw new SkeinError('refused', `The certificate of ${host}:${port} is not the one in the token.`);
  }
  const name = host.includes(':') ? `[${host}]` : host;
  const ws = new WebSocket(`wss://${name}:${port}${PATH}`, {
    createConnection: () => socket,
    perMessageDeflate: false,
    maxPayload: 128 << 20,
    handshakeTimeout: DIAL,
  });
  await new Promise<void>((resolve, reject) => {
    ws.once('open', () => resolve());
    ws.once('error', error => reject(unreachable(host, port, error)));
  });
  const stream = createWebSocketStream(ws);
  stream.on('error', () => {}); // the line on top of it says what happened
  return stream;
}

function connectTo(host: string, port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // The fingerprint is checked instead: names and authorities mean nothing to a certificate that signed itself.
    const socket = connect({ host, port, rejectUnauthorized: false, minVersion: 'TLSv1.3', ecdhCurve: CURVE });
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), DIAL);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', error => {
      clearTimeout(timer);
      reject(unreachable(host, port, error));
    });
  });
}

function unreachable(host: string, port: number, error: Error): SkeinError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new SkeinError('not-found', `The parent at ${host}:${port} cannot be reached: ${code ?? message}.`);
}
