/** The threads of this process that fetch. */
import { availableParallelism } from 'node:os';
import { SkeinError } from '../../base/errors.ts';
import { AGENT_TOKEN } from '../../errand/agent.ts';
import type { Home } from '../../home/home.ts';
import type { OutpostOptions } from '../../outpost/workers/tools.ts';
import { ThreadCarrier, type ThreadWishes } from '../../transfer/thread.ts';
import type { EngineOptions, Extras } from '../options.ts';
import { moduleOf } from './hooks.ts';
import type { LeaveDesk } from './leave-desk.ts';
import { socketsFor } from './open-files.ts';
import { threadModule } from './thread-module.ts';

/**
 * Pages a thread may have under way, or requests a second of paced servers: enough that it never waits for home, few
 * enough to stop quickly.
 */
const THREAD_ROOM = 512;

/** What all threads of a run are started with. */
interface ThreadPlan {
  readonly data: OutpostOptions;
  readonly say: (text: string) => void;
  readonly leave: LeaveDesk | undefined;
}

/** Where errands travel, home stays out of it unless it is asked to take part: its line is what is to be spared. */
export function threadsOf(options: EngineOptions): number {
  const threads = options.threads ?? (options.outposts?.length ? 0 : availableParallelism());
  if (threads === 0 && !isFar(options)) {
    throw new SkeinError(
      'bad-option',
      'With 0 threads and no outpost nothing can fetch.',
      'Name a machine with --outpost.',
    );
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
  const { timeouts, clockShift, ahead, leave } = extras;
  const own = options.fetcher;
  const fetcher = extras.fetcher ?? (own && { ...own, options: own.options, module: moduleOf(own.module) });
  const data: OutpostOptions = {
    ...(sockets !== undefined && { sockets }),
    ...tools,
    agentToken: AGENT_TOKEN,
    ...(fetcher && { fetcher }),
    ...(timeouts && { timeouts }),
    ...(clockShift && { clockShift }),
    ...(ahead && { ahead }),
    ...(options.decider && { decider: options.decider }),
    ...(leave && { needsLeave: true }),
    ...(options.cagedHooks ? { foreign: true } : options.hooks !== undefined && { hooks: moduleOf(options.hooks) }),
  };
  return { data, say: options.say ?? (() => {}), leave };
}

/** A thread that dies is replaced: home knows when that is of no use. One without room waits for what home sends it. */
export function startThread(name: string, home: Home, plan: ThreadPlan, room = THREAD_ROOM): ThreadCarrier {
  const { leave } = plan;
  const wishes = (from: ThreadCarrier, of: ThreadWishes) => leave?.wishes(from, of);
  const thread = new ThreadCarrier(
    {
      name,
      room,
      late: seatOf(name) > 1 && !leave,
      module: threadModule,
      data: { ...plan.data, seat: seatOf(name) },
      wishes,
    },
    {
      parcel: (from, parcel) => home.reception.parcel(from, parcel),
      // Only the decider can keep a thread from its work, and no other thread would fare better.
      gaveUp: (_, __, why) => home.fail(new SkeinError('refused', why)),
      trouble: (_, text) => plan.say(text),
      changed: from => home.reception.changed(from),
      lost(from, why) {
        leave?.ended(thread);
        if (room > 0) home.dispatch.join(startThread(name, home, plan));
        home.reception.lost(from, why);
      },
    },
  );
  leave?.started(thread);
  return thread;
}

/** `thread-3` sits in seat 3, and so does the one that replaces it; a thread without a number in the first. */
function seatOf(name: string): number {
  return Number(/\d+$/.exec(name)?.[0] ?? 0);
}
