/**
 * The run that all peers are in: a crawl, a round of refresh or a watch, kept in the engine. The first peer begins it, those
 * who come later join it, and all end it together. The terms of a round (since when its budget counts, and how many pages
 * there are) are agreed on once, when every partition is held by somebody who lives.
 */
import { z } from 'zod';
import { DAY } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import type { PeerMembers } from '../../cluster/members/members.ts';
import { SharedRecord } from '../../cluster/shared-record.ts';
import type { WatchedBucket } from '../../cluster/watched-bucket.ts';
import type { Round } from '../../home/round.ts';

export type RunKind = 'crawl' | 'refresh' | 'watch';

/** Milliseconds since 1970. */
const time = z.number().min(0).max(8.64e15);

const termsForm = z.object({
  /** As a round of one machine has them. */
  begun: time,
  before: time,
  /** Pages of all peers that can be kept fresh. */
  live: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
});
type RunTerms = Round & Readonly<z.infer<typeof termsForm>>;

export const runForm = z.object({
  number: z
    .int()
    .min(0)
    .max(2 ** 48),
  over: z.boolean(),
  kind: z.enum(['crawl', 'refresh', 'watch']).optional(),
  terms: termsForm.optional(),
});

/**
 * Pages of all peers that can be kept fresh, as soon as each has said how many are its own, and nothing moves. What a peer
 * said last may be older than the claims: only where what all of them have open makes up all `partitions` is none left out.
 */
export function livePages(members: Pick<PeerMembers, 'list'>, partitions: number): number | undefined {
  const all = members.list().filter(({ liveness }) => liveness !== 'dead');
  const known = all.every(({ heartbeat: { phase, live, moving } }) => {
    return phase === 'working' && live !== undefined && moving.length === 0;
  });
  const open = all.reduce((sum, { heartbeat }) => sum + heartbeat.partitions, 0);
  return known && open === partitions ? all.reduce((sum, { heartbeat }) => sum + heartbeat.live!, 0) : undefined;
}

export class Runs {
  readonly #record: SharedRecord<z.infer<typeof runForm>>;
  #agreeing = false;

  constructor(meta: WatchedBucket) {
    this.#record = new SharedRecord(meta, 'run', runForm);
  }

  get number(): number {
    return this.#record.value?.number ?? 0;
  }

  get isOver(): boolean {
    return this.#record.value?.over === true;
  }

  get terms(): RunTerms | undefined {
    return this.#record.value?.terms;
  }

  /** Begins a run, or joins the one that others are in; throws a sentence where that is another kind of run. */
  async begin(kind: RunKind, now: number, othersWork: boolean): Promise<void> {
    await this.#record.change(run => {
      const theirs = run?.kind ?? 'crawl';
      if (run && othersWork && !run.over) {
        if (theirs === kind) return run;
        throw new SkeinError(
          'data-in-use',
          `The peers of this cluster run a ${theirs}; this would be a ${kind}.`,
          `Join them with "skein ${theirs}", or wait until they have ended.`,
        );
      }
      // One that was cut short is gone on with, as on one machine.
      const fresh = !run?.terms || now - run.terms.begun < DAY;
      if (run && !run.over && theirs === kind && fresh) return run;
      return { number: (run?.number ?? 0) + 1, over: false, kind };
    });
  }

  /** Once all partitions are held: what the round goes by, the same for all. */
  agree(terms: () => RunTerms): void {
    if (this.#agreeing || this.terms) return;
    this.#agreeing = true;
    void this.#record
      .change(run => (!run || run.terms ? (run ?? { number: 1, over: false }) : { ...run, terms: terms() }))
      .catch(() => undefined) // tried again
      .finally(() => {
        this.#agreeing = false;
      });
  }

  /** For all of them. */
  end(): void {
    void this.#record.change(run => ({ ...run, number: run?.number ?? 1, over: true })).catch(() => undefined); // tried again
  }
}
