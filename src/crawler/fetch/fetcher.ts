/**
 * The fetcher: one GET or HEAD for one URL, as bytes. It follows no redirects, knows no robots, waits for no pace, decodes no
 * content, and never throws or rejects for anything a server does: every ask ends as one Response or one Failure,
 * within the time limits, holding at most `maxBytes` of body.
 *
 * The path of an ask: fetcher → origin (which connection) → dial (address check, TCP, TLS) → http1-connection or
 * http2-connection → exchange (the answer and its account). A connection is only ever used for asks with the same
 * right to private addresses as the one that opened it.
 */
import { SkeinError } from '../../base/errors.ts';
import { originOf } from '../../base/url.ts';
import type { Answer, Ask, Fetcher } from '../stages.ts';
import { cachedResolve, type Resolve, systemResolve } from './addresses.ts';
import { BodyMemory } from './body-memory.ts';
import { firstAddress } from './dial.ts';
import { Deadlines, defaultTimeouts, type Exchange, fail, type Timeouts } from './exchange.ts';
import { isFieldValue, parseTarget, pathOf } from './http1-head.ts';
import { type IdleLimits, Origin, type Shared } from './origin.ts';
import { ConnectionPlaces } from './places.ts';
import type { Certificates, ClientCertificates, Secure } from './tls.ts';

export interface FetcherOptions {
  /** Who we are, as `Name/1.0 (+https://information.example/)`. */
  readonly userAgent: string;
  readonly timeouts?: Partial<Timeouts>;
  readonly idle?: Partial<IdleLimits>;
  /** PEM certificates to trust instead of the usual ones. */
  readonly ca?: Certificates;
  /** Certificates of ours for servers that want one. */
  readonly identities?: ClientCertificates;
  /** False: never offer HTTP/2. */
  readonly http2?: boolean;
  /** Connections that may be open at once; default: as many as are asked for. */
  readonly sockets?: number;
  /** Names to addresses; the system's resolver otherwise. Its answers are cached and checked like any other. */
  readonly resolve?: Resolve;
}

/** Of origins without open connections, this many are remembered (protocol, address that worked). */
const maxOrigins = 4_096;
/** Bytes per read; what one read can take of the kernel's buffer. */
const readBytes = 65_536;

export function openFetcher(options: FetcherOptions): Fetcher {
  return new PooledFetcher(options);
}

class PooledFetcher implements Fetcher {
  readonly #shared: Shared;
  /** Apart by the right to private addresses: the first may only hold connections to public ones. */
  readonly #publicOnly = new Map<string, Origin>();
  readonly #anywhere = new Map<string, Origin>();

  constructor(options: FetcherOptions) {
    if (!isFieldValue(options.userAgent)) throw new SkeinError('bad-option', 'the user agent must be one line of text');
    const timeouts = { ...defaultTimeouts, ...options.timeouts };
    const idle = { perOrigin: 16, total: 256, time: 30_000, ...options.idle };
    const http2 = options.http2 ?? true;
    this.#shared = {
      dialler: {
        timeouts,
        resolve: cachedResolve(options.resolve ?? systemResolve),
        secure: secureOnce(options),
        buffer: Buffer.allocUnsafeSlow(readBytes),
        dialling: new Set(),
      },
      deadlines: new Deadlines(Math.min(idle.time, ...Object.values(timeouts)), timeouts),
      memory: new BodyMemory(),
      userAgent: options.userAgent,
      http2,
      idle,
      places: new ConnectionPlaces(options.sockets ?? Number.POSITIVE_INFINITY),
      unused: new Set(),
      open: new Set(),
      closed: false,
    };
    const { places, unused } = this.#shared;
    places.spare = () => unused.values().next().value?.close();
  }

  fetch(ask: Ask): Promise<Answer> {
    return new Promise(resolve => {
      const origin = this.#originFor(ask);
      const path = origin === undefined ? undefined : pathOf(ask.url, origin.target.origin);
      const exchange: Exchange = {
        ask,
        path: path ?? '',
        started: performance.now(),
        resolve,
        requestHead: nothing,
        firstByte: 0,
        up: 0,
        down: 0,
        retried: false,
        settled: false,
      };
      if (origin === undefined || path === undefined) fail(exchange, 'bad-url', ask.url.slice(0, 200));
      else if (this.#shared.closed) fail(exchange, 'reset', 'the fetcher is closed');
      else origin.submit(exchange);
    });
  }

  async locate(origin: string): Promise<string> {
    const target = parseTarget(origin);
    return target === undefined ? '' : firstAddress(this.#shared.dialler, target.host);
  }

  reuse(body: Uint8Array): void {
    this.#shared.memory.giveBack(body);
  }

  release(origin: string): void {
    for (const origins of [this.#publicOnly, this.#anywhere]) {
      const known = origins.get(origin);
      known?.dropUnused();
      if (known?.quiet) origins.delete(origin);
    }
  }

  async close(): Promise<void> {
    this.#shared.closed = true;
    const { open, dialler } = this.#shared;
    for (const each of [...dialler.dialling, ...open]) each.close();
    this.#publicOnly.clear();
    this.#anywhere.clear();
  }

  #originFor(ask: Ask): Origin | undefined {
    const origins = ask.allowPrivate ? this.#anywhere : this.#publicOnly;
    const name = originOf(ask.url);
    const known = origins.get(name);
    if (known !== undefined) return known;
    const target = parseTarget(name);
    if (target === undefined) return undefined;
    if (origins.size >= maxOrigins) forgetQuiet(origins);
    const origin = new Origin(target, this.#shared, ask.allowPrivate);
    origins.set(name, origin);
    return origin;
  }
}

const nothing = new Uint8Array(0);

function secureOnce({ ca, identities }: FetcherOptions): () => Promise<Secure> {
  let loading: Promise<Secure> | undefined;
  return () => (loading ??= import('./tls.ts').then(({ openSecure }) => openSecure(ca, identities)));
}

/** Drops the older half of the origins that have nothing open, so that the sweep is paid once in many asks. */
function forgetQuiet(origins: Map<string, Origin>): void {
  let left = maxOrigins / 2;
  for (const [name, origin] of origins) {
    if (left-- <= 0) break;
    if (origin.quiet) origins.delete(name);
  }
}
