/** One outpost as dispatch sees it: what it has, what it may have, and how it has done so far. */
import type { Errand } from '../../errand/errand.ts';
import type { Carrier } from '../../transfer/carrier.ts';

export interface TrackedErrand {
  readonly errand: Errand;
  /** What of the post's room it takes, now, and what of that comes back with each page. */
  load: number;
  readonly each: number;
  /** Pages that it names and that have not come back. */
  pages: number;
  /** Last parcel that was taken, -1 = none. */
  sequence: number;
}

export interface Post {
  readonly name: string;
  /** Undefined: it served an earlier run and has not come back yet. */
  carrier: Carrier | undefined;
  readonly errands: Map<string, TrackedErrand>;
  load: number;
  /** Errands given up in a row, and until when nothing more is sent there for it; ticks. */
  failures: number;
  restsUntil: number;
  /** When a parcel last came, or it got something to do after it had nothing, on the clock of `ticks`. */
  heard: number;
  /** Since when it has had nothing to do; ticks. */
  idleSince: number;
  /** Others were asked to give servers back for it, and it has got none since. */
  waitsForShare: boolean;
  /** May a URL be visited from there? */
  may: (url: string) => boolean;
  /** It was invited for what may be visited from there. */
  stands: boolean;
}

/** Milliseconds in which an outpost that lives dials again after its line was closed: it tries after half a second or three quarters. */
const COMES_BACK = 1000;

export function blank(name: string, now: number): Post {
  return {
    name,
    carrier: undefined,
    errands: new Map(),
    load: 0,
    failures: 0,
    restsUntil: 0,
    heard: 0,
    idleSince: now,
    waitsForShare: false,
    may: () => true,
    stands: false,
  };
}

/** Threads of this machine are one, and have no name. */
export function machineOf({ carrier, name }: Post): string {
  return carrier?.remote === false ? '' : name;
}

export function pagesOf({ errands }: Post): number {
  let sum = 0;
  for (const { pages } of errands.values()) sum += pages;
  return sum;
}

/** Its process has ended, as far as can be seen from here: its line was closed without a goodbye, and no other came. */
export function isDeserted({ carrier }: Post): boolean {
  return (carrier?.presence?.deserted ?? 0) > COMES_BACK;
}

/** Pages that the others must have to do for one to be begun with: less is done before it is ready. */
const ENOUGH = 64;

export function leastLoaded(posts: readonly Post[]): Post | undefined {
  const share = ({ load, carrier }: Post) => (load + (carrier!.asleep ? ENOUGH : 0)) / carrier!.room;
  return posts.reduce<Post | undefined>(
    (least, post) => (least && share(least) <= share(post) ? least : post),
    undefined,
  );
}
