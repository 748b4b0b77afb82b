/**
 * TLS over an open socket: one context for all (building one per connection costs half a handshake again), SNI,
 * sessions taken up again per origin, and verification that cannot be switched off.
 */
import type { Socket } from 'node:net';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import type { Target } from './http1-head.ts';

const maxSessions = 4_096;
const both = ['h2', 'http/1.1'];
const onlyOld = ['http/1.1'];

export interface SecureOptions {
  /** PEM certificates to trust instead of the ones that come with Node; for private networks and tests. */
  readonly ca: string | Buffer | readonly (string | Buffer)[] | undefined;
}

export interface Handshake {
  readonly target: Target;
  /** Offer HTTP/2. */
  readonly http2: boolean;
  /** Milliseconds. */
  readonly time: number;
}

export interface Secure {
  /** The socket once the peer has proved who it is; a sentence saying what went wrong otherwise. */
  handshake(plain: Socket, terms: Handshake): Promise<TLSSocket | string>;
  forget(origin: string): void;
}

export function openSecure(options: SecureOptions): Secure {
  const ca = options.ca === undefined ? undefined : [options.ca].flat();
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  const sessions = new Map<string, Buffer>();

  const remember = (origin: string, session: Buffer) => {
    sessions.delete(origin);
    if (sessions.size >= maxSessions) sessions.delete(sessions.keys().next().value!);
    sessions.set(origin, session);
  };

  return {
    forget: origin => void sessions.delete(origin),
    handshake(plain, { target, http2, time }) {
      return new Promise(resolve => {
        const session = sessions.get(target.origin);
        const socket = connect({
          socket: plain,
          // For literals `host` is what the certificate is checked against, and no SNI is sent (RFC 6066 §3).
          host: target.host,
          secureContext,
          ALPNProtocols: http2 ? both : onlyOld,
          ...(session && { session }),
        });
        const finish = (result: TLSSocket | string) => {
          clearTimeout(timer);
          socket.removeListener('error', failed);
          socket.removeListener('close', closed);
          if (typeof result === 'string') {
            sessions.delete(target.origin);
            // A late error of a socket that is being thrown away has nobody to hear it.
            socket.on('error', () => {}).destroy();
            plain.destroy();
          }
          resolve(result);
        };
        const failed = (error: Error) => finish(explain(error));
        const closed = () => finish('the connection was closed during the handshake');
        const timer = setTimeout(() => finish('the handshake was not done in time'), time);
        // Errors of the transport come to `socket` as well; here they only must not go unheard.
        plain.on('error', () => {});
        socket.once('error', failed);
        socket.once('close', closed);
        socket.once('secureConnect', () => finish(socket));
        socket.on('session', (ticket: Buffer) => remember(target.origin, ticket));
      });
    },
  };
}

function explain(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined ? error.message : `${code}: ${error.message}`;
}
