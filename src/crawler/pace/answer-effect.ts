/** What an answer means for the pace of its server. */
import { DAY } from '../../base/clock.ts';
import { type Answer, RECALLED } from '../stages.ts';

/** How a request went. */
export interface Effect {
  /** HTTP status, 0 = no answer. */
  readonly status: number;
  readonly firstByteMs: number;
  /** Milliseconds that the server asked us to stay away, 0 = none. */
  readonly retryAfterMs: number;
  /** No usable answer came. */
  readonly failed: boolean;
  /** Address connected to, empty = none. */
  readonly address: string;
}

/** How a request went, by its answer. What we refused to ask for ourselves says nothing of the server. */
export function effectOf(answer: Answer, now: number): Effect {
  if (answer.kind === 'failure') {
    const failed = !['private-address', 'bad-url', 'no-socket', RECALLED].includes(answer.reason);
    return { status: 0, firstByteMs: 0, retryAfterMs: 0, failed, address: '' };
  }
  const { status, wire, address } = answer;
  return { status, firstByteMs: wire.firstByte, retryAfterMs: retryAfter(answer, now), failed: false, address };
}

/** Milliseconds that a 429 or 503 asks us to stay away, at most a day; 0 = it does not say. */
export function retryAfter(
  answer: { readonly status: number; readonly headers: ReadonlyMap<string, string> },
  now: number,
): number {
  if (answer.status !== 429 && answer.status !== 503) return 0;
  return parseRetryAfter(answer.headers.get('retry-after') ?? '', now);
}

const httpDate = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? [\w :+-]{10,40}$/i;

/** Seconds or a date in any of HTTP's three forms; milliseconds from now, 0 for what is past or makes no sense. */
export function parseRetryAfter(field: string, now: number): number {
  const text = field.trim();
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), DAY);
  if (!httpDate.test(text)) return 0;
  // The form without a zone is in GMT like the others.
  const time = Date.parse(/gmt|utc|[+-]\d{4}$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(time) ? 0 : Math.min(Math.max(time - now, 0), DAY);
}
