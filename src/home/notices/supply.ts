/** Notices beside the looks at pages: a round asks first what has changed, a watch goes on asking. */
import type { Clock } from '../../base/clock.ts';
import { DAY } from '../../base/clock.ts';
import type { Supply } from '../supply.ts';
import type { NoticeDesk } from './desk.ts';

/** Milliseconds that a round waits for what sites tell before it goes on without. */
const PATIENCE = 30_000;
/** Of a round, so much of what would be polled later is polled now: the next round may be a day away. */
const AHEAD = DAY / 2;
/** Seconds that a cooperating site may keep a watch waiting for a change: so it hears of it at once. */
const WAIT = 60;

interface HearingParts {
  readonly kind: 'refresh' | 'watch';
  readonly clock: Clock;
  /** The desks of all partitions that are here now. */
  readonly desks: () => Iterable<NoticeDesk>;
}

/** How far a round has heard what one partition's servers tell. */
interface DeskHeard {
  readonly began: number;
  /** It was there when the round began, which waits for it; what comes later is heard beside the looks. */
  readonly first: boolean;
  told: boolean;
}

export function withNotices(supply: Supply, parts: HearingParts): Supply {
  const { kind, desks } = parts;
  const all = new WeakMap<NoticeDesk, DeskHeard>();
  let first = true;
  const hear = (desk: NoticeDesk): DeskHeard => {
    const heard = all.get(desk) ?? { began: parts.clock.ticks(), first, told: false };
    all.set(desk, heard);
    turn(desk, heard, parts);
    return heard;
  };
  return {
    fill() {
      const heard = [...desks()].map(hear);
      first = false;
      if (kind === 'watch' || heard.every(each => each.told || !each.first)) supply.fill();
    },
    worthWaiting: () => [...desks()].some(desk => !all.get(desk)?.told) || supply.worthWaiting(),
    get left() {
      return supply.left;
    },
  };
}

/** A round polls each face once; what goes on telling is heard in the next. */
function turn(desk: NoticeDesk, heard: DeskHeard, { kind, clock }: HearingParts): void {
  if (kind === 'watch') desk.turn({ wait: WAIT });
  else if (!heard.told) desk.turn({ ahead: AHEAD });
  else if (desk.busy) desk.turn();
  const late = clock.ticks() - heard.began > PATIENCE;
  if (!heard.told && late && desk.busy) desk.late();
  heard.told ||= !desk.busy || late;
}
