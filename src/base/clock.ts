/** Time as a port, so that tests can move it. Milliseconds everywhere inside. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  now(): number;
  /**
   * Milliseconds since some moment, the same for all threads, that only ever go forward: wall time steps when somebody
   * sets it. Intervals are measured by it, and nothing else is.
   */
  ticks(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Ticks begin so far back that they stay positive in a simulation that begins years ago. */
const YEARS = 3650 * DAY;
/** Each thread counts from its own beginning; this is what to add. Found when first asked for: a browser has no such clock. */
let beginning: number | undefined;

export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => {
    beginning ??= YEARS + Number(process.hrtime.bigint()) / 1e6 - performance.now();
    return beginning + performance.now();
  },
  sleep: (ms, signal) =>
    new Promise(resolve => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** Milliseconds by which wall time may drift, or be corrected, before it counts as set. */
const SLACK = 10_000;

/** Sees when somebody sets the clock while we run: what waits for a moment of wall time is moved along then. */
export class ClockWatch {
  readonly #clock: Pick<Clock, 'now' | 'ticks'>;
  /** Wall time minus ticks. */
  #ahead: number;

  constructor(clock: Pick<Clock, 'now' | 'ticks'>) {
    this.#clock = clock;
    this.#ahead = clock.now() - clock.ticks();
  }

  /** Milliseconds by which the clock was set since the last call; 0 = it was not. */
  step(): number {
    const step = this.#clock.now() - this.#clock.ticks() - this.#ahead;
    if (Math.abs(step) < SLACK) return 0;
    this.#ahead += step;
    return step;
  }
}

/** Wall time of somebody else: this machine's ticks plus what lies in `ahead` (one Float64), in whole milliseconds. */
export function timeAhead(ahead: SharedArrayBuffer): Clock {
  const [by, { ticks, sleep }] = [new Float64Array(ahead), systemClock];
  return { now: () => Math.floor(ticks() + by[0]!), ticks, sleep };
}

/** Whose time it is, in a form that threads can be given. */
export interface TimeSource {
  /** Simulations move the time of all threads: see shiftedClock. */
  readonly clockShift?: SharedArrayBuffer;
  /** In a cluster: see timeAhead. */
  readonly ahead?: SharedArrayBuffer;
}

export function clockOf({ clockShift, ahead }: TimeSource): Clock {
  if (clockShift) return shiftedClock(clockShift);
  return ahead ? timeAhead(ahead) : systemClock;
}

/**
 * The system's clock, moved forward by the milliseconds that lie in `shift` (one Float64): a simulation lets days pass
 * for all threads at once by writing there. Sleeping takes real time. A second Float64 moves wall time alone, as somebody
 * does who sets the clock.
 */
export function shiftedClock(shift: SharedArrayBuffer): Clock {
  const by = new Float64Array(shift);
  return {
    now: () => Date.now() + by[0]! + (by[1] ?? 0),
    ticks: () => systemClock.ticks() + by[0]!,
    sleep: systemClock.sleep,
  };
}
