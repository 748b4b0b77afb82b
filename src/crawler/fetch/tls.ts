/**
 * TLS for the dialler: one context for all (building one per connection costs half a handshake again), SNI, sessions
 * taken up again per origin, and verification that cannot be switched off. Loaded for the first origin that is secure:
 * with HTTP/2, Node's modules and its certificates take 45 ms of CPU in every thread.
 */
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, type TLSSocket } from 'node:tls';
import type { Target } from './http1-head.ts';

const maxSessions = 4_096;
const both = ['h2', 'http/1.1'];
const onlyOld = ['http/1.1'];

/** PEM certificates. */
export type Certificates = string | Buffer | readonly (string | Buffer)[];

/** Who we are to a server that wants to know: a certificate and its key, PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** By the origin of the one server that is shown it. */
export type ClientCertificates = Readonly<Record<string, ClientCertificate>>;

export interface Secure {
  /** Begins to connect to `place`; the peer has to prove that it is `target` before `secureConnect` is emitted. */
  open(place: ConnectionOptions, target: Target, http2: boolean): TLSSocket;
  /** After a failed handshake: perhaps the remembered session was what the server did not like. */
  forget(origin: string): void;
}

/** `ca`: certificates to trust instead of the ones that come with Node. */
export function openSecure(ca: Certificates | undefined, identities: ClientCertificates = {}): Secure {
  const trusted = ca === undefined ? {} : { ca: [ca].flat() };
  const everybody = createSecureContext(trusted);
  const known = new Map(
    Object.entries(identities).map(([origin, { certificate: cert, key }]) => {
      return [origin, createSecureContext({ ...trusted, cert, key })];
    }),
  );
  const sessions = new Map<string, Buffer>();

  const remember = (origin: string, session: Buffer) => {
    sessions.delete(origin);
    if (sessions.size >= maxSessions) sessions.delete(sessions.keys().next().value!); // the oldest
    sessions.set(origin, session);
  };

  return {
    forget: origin => void sessions.delete(origin),
    open(place, target, http2) {
      const session = sessions.get(target.origin);
      const socket = connect({
        ...place,
        secureContext: known.get(target.origin) ?? everybody,
        ALPNProtocols: http2 ? both : onlyOld,
        // A literal gets no SNI (RFC 6066 §3); the certificate is then checked against `place.host`, the same literal.
        ...(isIP(target.host) === 0 && { servername: target.host.replace(/\.$/, '') }),
        ...(session && { session }),
      });
      socket.on('session', (ticket: Buffer) => remember(target.origin, ticket));
      return socket;
    },
  };
}
