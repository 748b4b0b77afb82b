/** The threads of this process that fetch. */
import { availableParallelism } from 'node:os';
import { SkeinError } from '../base/errors.ts';
import { AGENT_TOKEN } from '../errand/agent.ts';
import type { Home } from '../home/home.ts';
import type { OutpostOptions } from '../outpost/workers/tools.ts';
import { ThreadCarrier } from '../transfer/thread.ts';
import { socketsFor } from './open-files.ts';
import type { EngineOptions, Extras } from './options.ts';
import { threadModule } from './thread-module.ts';

/**
 * Pages a thread may have under way, or requests a second of paced servers: enough that it never waits for home, few
 * enough to stop quickly.
 */
const THREAD_ROOM = 512;

/** What all threads of a run are started with. */
export interface ThreadPlan {
  readonly data: OutpostOptions;
  readonly say: (text: string) => void;
}

/** Where errands travel, home stays out of it unless it is asked to take part: its line is what is to be spared. */
export function threadsOf(options: EngineOptions): number {
  const threads = options.threads ?? (options.outposts?.length ? 0 : availableParallelism());
  if (threads === 0 && !isFar(options)) {
    throw new SkeinError('bad-option', 'Without threads there is nobody to fetch.', 'Name a machine with --outpost.');
  }
  return threads;
}

/** Other machines take part. */
export function isFar({ outposts, listen }: EngineOptions): boolean {
  return (outposts?.length ?? 0) > 0 || listen !== undefined;
}

/** What threads, and audits of what other machines bring, work with. */
export interface ThreadTools {
  readonly userAgent: string;
  /** By which all of them keep the pace of a server together. */
  readonly slots: SharedArrayBuffer;
}

export function threadPlan(options: EngineOptions, extras: Extras, tools: ThreadTools): ThreadPlan {
  const sockets = socketsFor(threadsOf(options));
  const { fetcher, timeouts, clockShift } = extras;
  const data: OutpostOptions = {
    ...(sockets !== undefined && { sockets }),
    ...tools,
    agentToken: AGENT_TOKEN,
    ...(fetcher && { fetcher }),
    ...(timeouts && { timeouts }),
    ...(clockShift && { clockShift }),
    ...(options.decider && { decider: options.decider }),
  };
  return { data, say: options.say ?? (() => {}) };
}

/** A thread that dies is replaced: home knows when that is of no use. One without room waits for what home sends it. */
export function startThread(name: string, home: Home, plan: ThreadPlan, room = THREAD_ROOM): ThreadCarrier {
  return new ThreadCarrier(
    { name, room, module: threadModule, data: plan.data },
    {
      parcel: (from, parcel) => home.parcel(from, parcel),
      // Only the decider can keep a thread from its work, and no other thread would fare better.
      gaveUp: (_, __, why) => home.fail(new SkeinError('refused', why)),
      trouble: (_, text) => plan.say(text),
      changed: from => home.changed(from),
      lost(from, why) {
        if (room > 0) home.dispatch.join(startThread(name, home, plan));
        home.lost(from, why);
      },
    },
  );
}
