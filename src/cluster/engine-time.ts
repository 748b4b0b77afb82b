/**
 * The time of day in a cluster is the engine's. Ledgers move between machines with their due times, Retry-After and the times of
 * visits, and a round has one beginning for all: clocks that differ by minutes would make pages late, early, or asked twice. So each
 * peer learns by how much the engine's time is ahead of its own ticks, and goes by that; setting a machine's clock moves nothing.
 */
import type { JetStreamManager } from '@nats-io/jetstream';
import { type Clock, timeAhead } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { untilItPasses } from './connection/retry.ts';
import { META_STREAM } from './topology/layout.ts';

/** Milliseconds between two looks. */
const EVERY = 15_000;
/** Milliseconds by which a slow answer may be wrong, or clocks drift: time does not jump to and fro for that. */
const SLACK = 1000;

export class EngineTime implements Disposable {
  readonly clock: Clock;
  /** For threads: see timeAhead. */
  readonly ahead: SharedArrayBuffer = new SharedArrayBuffer(8);
  readonly #manager: JetStreamManager;
  readonly #timer: NodeJS.Timeout;

  private constructor(manager: JetStreamManager) {
    this.#manager = manager;
    this.clock = timeAhead(this.ahead);
    this.#timer = setInterval(() => void this.look().catch(() => undefined), EVERY).unref(); // it is away: time goes on
  }

  static async of(manager: JetStreamManager): Promise<EngineTime> {
    const time = new EngineTime(manager);
    try {
      await time.look();
      return time;
    } catch (error) {
      time[Symbol.dispose]();
      throw error;
    }
  }

  /** Asks the engine what time it is. After an election another server answers, whose clock may be another. */
  async look(): Promise<void> {
    const { clock, ahead } = this;
    const [now, before, after] = await untilItPasses(async () => {
      const asked = clock.ticks();
      const { ts } = (await this.#manager.streams.info(META_STREAM)) as { ts?: unknown };
      return [Date.parse(String(ts)), asked, clock.ticks()] as const;
    });
    if (!Number.isFinite(now)) throw new SkeinError('damaged', 'The engine does not say what time it is.');
    const found = now - (before + after) / 2;
    const [known] = new Float64Array(ahead);
    if (Math.abs(found - known!) > Math.max(SLACK, after - before)) new Float64Array(ahead)[0] = found;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
