/** So many requests a second for each client, with some to spare at once. Bounded: whoever came longest ago is forgotten. */

export interface RateLimit {
  /** Requests a second. */
  readonly rate: number;
  /** That may come at once. */
  readonly burst: number;
}

const MOST_CLIENTS = 10_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  /** Milliseconds of a clock that never goes back. */
  readonly #now: () => number;
  /** In the order of the last request. */
  readonly #clients = new Map<string, { tokens: number; at: number }>();

  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** 0 = it may be answered; else the seconds after which it may. */
  wait(client: string): number {
    const now = this.#now();
    const { rate, burst } = this.#limit;
    const before = this.#clients.get(client) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, before.tokens + ((now - before.at) / 1000) * rate);
    this.#clients.delete(client);
    this.#clients.set(client, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    if (this.#clients.size > MOST_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / rate));
  }

  get clients(): number {
    return this.#clients.size;
  }
}
