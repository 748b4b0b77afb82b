/** Who may ask, and how often. */
import { hash, timingSafeEqual } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { askerOf } from '../../base/http.ts';
import { FaceError, type FaceRequest } from './request.ts';

interface AccessOptions {
  /** Wanted as `Authorization: Bearer`; absent = nobody needs one. */
  readonly token?: string | undefined;
  /** A client certificate is wanted. */
  readonly certificate?: boolean | undefined;
  readonly requestsAMinute: number;
}

/** Readers that are told apart; beyond, those that have been quiet longest are forgotten. */
const MOST_READERS = 10_000;

export class Access {
  readonly #options: AccessOptions;
  /** Requests that a reader has left, and when that was reckoned; the one that was quiet longest stands first. */
  readonly #readers = new Map<string, { left: number; at: number }>();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  get kind(): 'open' | 'token' | 'certificate' {
    if (this.#options.certificate) return 'certificate';
    return this.#options.token === undefined ? 'open' : 'token';
  }

  get requestsAMinute(): number {
    return this.#options.requestsAMinute;
  }

  /** Throws for whoever may not read the own face. */
  check(request: FaceRequest): void {
    if (this.#options.certificate && !request.certified) {
      throw new FaceError('refused', 'This site requires a client certificate that its owner trusts.');
    }
    if (this.#options.token !== undefined && !this.hasToken(request)) {
      throw new FaceError('token-wanted', 'Send the token of this site as "Authorization: Bearer …".');
    }
  }

  /** False also when the owner has set none. */
  hasToken(request: FaceRequest): boolean {
    const { token } = this.#options;
    const given = /^Bearer ([^\s]{1,500})$/i.exec(request.header('authorization') ?? '')?.[1];
    if (token === undefined || given === undefined) return false;
    return timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', given, 'buffer'));
  }

  /** Throws for whoever asks too often: a minute's requests may come at once, and come back evenly. */
  count(request: FaceRequest): void {
    const most = this.#options.requestsAMinute;
    const now = systemClock.ticks();
    const reader = askerOf(request.address);
    const before = this.#readers.get(reader) ?? { left: most, at: now };
    const left = Math.min(most, before.left + ((now - before.at) / 60_000) * most);
    this.#readers.delete(reader);
    this.#readers.set(reader, { left: Math.max(0, left - 1), at: now });
    if (this.#readers.size > MOST_READERS) this.#readers.delete(this.#readers.keys().next().value!);
    if (left >= 1) return;
    const wait = Math.max(1, Math.ceil((60 * (1 - left)) / most));
    throw new FaceError('slow-down', `More than ${most} requests a minute: wait ${wait} s.`, wait);
  }
}
