/** Where requests of errands leave this machine: each is counted before it is made, and its bytes as they come. */
import { isImpossible } from '../../crawler/detect/missing-page.ts';
import type { Pace } from '../../crawler/pace/pace.ts';
import type { Answer, Ask, Fetcher } from '../../crawler/stages.ts';
import type { Ceilings } from './ceilings.ts';
import { Allowance } from './meter.ts';

export interface GateOptions {
  /** See meter.ts. */
  readonly meter: SharedArrayBuffer;
  readonly ceilings: () => Pick<Ceilings, 'bodyBytes' | 'memory'>;
  /** Requests wait for this. */
  readonly open: () => Promise<void>;
  /** The day is used up: what is under way has to end. */
  readonly exhausted: () => void;
}

/** Turns are given only for requests that may be made; whoever gets none ends as if the errand had been recalled. */
export function countTurns(pace: Pick<Pace, 'turn'>, { meter, exhausted }: GateOptions): void {
  const allowance = new Allowance(meter);
  const turn = pace.turn.bind(pace);
  pace.turn = async (...terms) => {
    const given = await turn(...terms);
    if (!given || allowance.request()) return given;
    given.done(NOT_MADE);
    exhausted();
    return undefined;
  };
}

const NOT_MADE = { status: 0, firstByteMs: 0, retryAfterMs: 0, failed: false, address: '' } as const;

export function gated(fetcher: Fetcher, { meter, ceilings, open, exhausted }: GateOptions): Fetcher {
  const allowance = new Allowance(meter);
  return {
    async fetch(ask: Ask): Promise<Answer> {
      await open();
      if (isForNoPage(ask) && !allowance.other()) {
        exhausted();
        return STOPPED;
      }
      const { bodyBytes, memory } = ceilings();
      const flow = allowance.flow(memory);
      const maxBytes = Math.min(ask.maxBytes, bodyBytes);
      const answer = await fetcher.fetch({ ...ask, maxBytes, flow: bytes => flow.take(bytes) });
      flow.end();
      allowance.spend(answer.wire.up + answer.wire.down - flow.bytes);
      // A page that was cut here must not be taken for one that the server cut.
      return flow.stopped ? { ...STOPPED, wire: answer.wire } : answer;
    },
    reuse: body => fetcher.reuse?.(body),
    release: origin => fetcher.release(origin),
    close: () => fetcher.close(),
  };
}

/** robots.txt alone is asked for as plain text. */
function isForNoPage({ accept, url }: Ask): boolean {
  return accept === 'text/plain' || isImpossible(url);
}

/** What it says is true, and means that the page is tried again later. */
const STOPPED = {
  kind: 'failure',
  reason: 'reset',
  detail: 'the outpost has reached its limit',
  wire: { up: 0, down: 0, firstByte: 0, total: 0 },
} as const;
