/**
 * From an origin to an open socket: addresses, the check that each may be connected to, TCP, TLS. The address that
 * was checked is the one connected to, so a name that changes its mind in between gains nothing.
 */
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ReasonCode } from '../../errand/reasons.ts';
import { isPublic, type Resolve } from './addresses.ts';
import { limitWait, type Timeouts } from './exchange.ts';
import type { Target } from './http1-head.ts';
import type { Secure } from './tls.ts';

/** A server with more addresses than this is tried at the first ones. */
const maxAddresses = 4;

/** Where the bytes of a socket go; the connection that comes to own the socket puts itself here. */
interface SocketSink {
  receive: ((bytes: Buffer, size: number) => void) | undefined;
}

export interface Dialled {
  readonly kind: 'dialled';
  readonly socket: Socket | TLSSocket;
  readonly address: string;
  readonly protocol: 'http/1.1' | 'h2';
  readonly sink: SocketSink;
}

export interface Undialled {
  readonly kind: 'undialled';
  readonly reason: ReasonCode;
  readonly detail: string;
}

export interface Dialler {
  readonly timeouts: Timeouts;
  readonly resolve: Resolve;
  /** Loads what https needs; the same for all. */
  secure(): Promise<Secure>;
  /**
   * All sockets of a fetcher read into this one: bytes are delivered before the next read begins, a buffer per
   * connection would cost 64 KiB each, and one per read (what stream events bring) a quarter of the time of a TLS page.
   */
  readonly buffer: Buffer;
  /** What is under way; closing one ends it as a failure. */
  readonly dialling: Set<{ close(): void }>;
}

export interface DialRoute {
  readonly target: Target;
  readonly allowPrivate: boolean;
  readonly http2: boolean;
  /** Tried first when it is still among the addresses. */
  readonly preferred: string | undefined;
}

export async function dial(dialler: Dialler, route: DialRoute): Promise<Dialled | Undialled> {
  const { target } = route;
  const loading = target.secure ? dialler.secure() : undefined;
  const [found, secure] = await Promise.all([addressesOf(dialler, target.host), loading]);
  if ('kind' in found) return found;
  const allowed = route.allowPrivate ? found : found.filter(isPublic);
  if (allowed.length === 0) return undialled('private-address', `${target.host} is at ${found.join(', ')}`);
  const addresses = inOrder(allowed, route.preferred);
  const until = performance.now() + dialler.timeouts.connect;
  let result: Dialled | Undialled = undialled('connect-timeout', 'no address was tried');
  for (let i = 0; i < addresses.length; i++) {
    // Each address gets its share of what is left, so that a dead first one does not use up the time of the others.
    const time = (until - performance.now()) / (addresses.length - i);
    result = await open(dialler, { ...route, secure, time }, addresses[i]!);
    if (result.kind === 'dialled' || result.reason === 'tls-failed' || result === closedByUs) break;
    if (result.reason === 'no-socket') break; // no other address would fare better
  }
  return result;
}

const closedByUs = undialled('reset', 'the fetcher was closed');

function undialled(reason: ReasonCode, detail: string): Undialled {
  return { kind: 'undialled', reason, detail };
}

function addressesOf(dialler: Dialler, host: string): Promise<readonly string[] | Undialled> {
  return new Promise(resolve => {
    const finish = (result: readonly string[] | Undialled) => {
      timer.clear();
      dialler.dialling.delete(attempt);
      resolve(result);
    };
    const late = () => finish(undialled('dns', `${host}: the name server did not answer in time`));
    const timer = limitWait(dialler.timeouts.connect, dialler.timeouts, late);
    const attempt = { close: () => finish(closedByUs) };
    dialler.dialling.add(attempt);
    dialler.resolve(host).then(
      found => finish(found.length > 0 ? found : undialled('dns', `${host} has no address`)),
      (error: unknown) => finish(undialled('dns', `${host}: ${describe(error)}`)),
    );
  });
}

/** The one that would be tried first; empty = none is known. */
export async function firstAddress(dialler: Dialler, host: string): Promise<string> {
  const found = await addressesOf(dialler, host);
  return 'kind' in found ? '' : inOrder(found, undefined)[0]!;
}

/** Preferred first; then alternating families, so that one broken family costs one try. */
function inOrder(found: readonly string[], preferred: string | undefined): string[] {
  const first = preferred !== undefined && found.includes(preferred) ? [preferred] : [];
  const six = found.filter(address => address.includes(':') && address !== first[0]);
  const four = found.filter(address => !address.includes(':') && address !== first[0]);
  const [leading, other] = found[0]!.includes(':') ? [six, four] : [four, six];
  const rest: string[] = [];
  for (let i = 0; i < Math.max(leading.length, other.length); i++) {
    if (i < leading.length) rest.push(leading[i]!);
    if (i < other.length) rest.push(other[i]!);
  }
  return [...first, ...rest].slice(0, maxAddresses);
}

/** One try of one address. */
interface Attempt extends DialRoute {
  readonly secure: Secure | undefined;
  /** Milliseconds to connect. */
  readonly time: number;
}

function open(dialler: Dialler, route: Attempt, address: string): Promise<Dialled | Undialled> {
  const { target, http2, secure, time } = route;
  return new Promise(resolve => {
    const sink: SocketSink = { receive: undefined };
    const place = { host: address, port: target.port, noDelay: true, onread: readInto(dialler.buffer, sink) };
    const socket = secure ? secure.open(place, target, http2) : connect(place);
    let connected = false;
    const finish = (result: Dialled | Undialled) => {
      timer.clear();
      dialler.dialling.delete(attempt);
      socket.removeListener('error', failed);
      socket.removeListener('close', closed);
      if (result.kind === 'undialled') {
        if (connected) secure?.forget(target.origin);
        // A late error of a socket that is being thrown away has nobody to hear it.
        socket.on('error', () => {}).destroy();
      }
      resolve(result);
    };
    const failed = (error: Error) =>
      finish(connected ? undialled('tls-failed', describe(error)) : unreached(error, address));
    const closed = () => failed(new Error('the connection was closed'));
    const late = () =>
      finish(
        connected
          ? undialled('tls-failed', 'the handshake took too long')
          : undialled('connect-timeout', `${address} did not answer`),
      );
    const done = (protocol: 'http/1.1' | 'h2') => finish({ kind: 'dialled', socket, address, protocol, sink });
    let timer = limitWait(Math.max(1, time), dialler.timeouts, late);
    const attempt = { close: () => finish(closedByUs) };
    dialler.dialling.add(attempt);
    socket.once('error', failed);
    socket.once('close', closed);
    socket.once('connect', () => {
      connected = true;
      timer.clear();
      if (secure) timer = limitWait(dialler.timeouts.tls, dialler.timeouts, late);
      else done('http/1.1');
    });
    socket.once('secureConnect', () => done((socket as TLSSocket).alpnProtocol === 'h2' ? 'h2' : 'http/1.1'));
  });
}

function readInto(buffer: Buffer, sink: SocketSink) {
  return {
    buffer,
    callback: (size: number, bytes: Uint8Array) => {
      sink.receive?.(bytes as Buffer, size);
      return true;
    },
  };
}

const OUR_SHORTAGE: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);

function unreached(error: Error, address: string): Undialled {
  const code = (error as NodeJS.ErrnoException).code;
  const detail = `${address}: ${describe(error)}`;
  if (code === 'ECONNRESET') return undialled('reset', detail);
  if (code === 'ETIMEDOUT') return undialled('connect-timeout', detail);
  // Not the server's doing: this machine has no file descriptor, port or memory left for a socket.
  if (OUR_SHORTAGE.has(code ?? '')) return undialled('no-socket', detail);
  return undialled('connect-refused', detail);
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined || error.message.includes(code) ? error.message : `${code} ${error.message}`;
}
