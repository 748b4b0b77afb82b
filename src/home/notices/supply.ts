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

export function withNotices(supply: Supply, desk: NoticeDesk, kind: 'refresh' | 'watch', clock: Clock): Supply {
  const began = clock.ticks();
  let told = false;
  return {
    fill() {
      // A round polls each face once; what goes on telling is heard in the next.
      if (kind === 'watch') desk.turn({ wait: WAIT });
      else if (!told) desk.turn({ ahead: AHEAD });
      else if (desk.busy) desk.turn();
      told ||= !desk.busy || clock.ticks() - began > PATIENCE;
      if (told || kind === 'watch') supply.fill();
    },
    worthWaiting: () => !told || supply.worthWaiting(),
    get left() {
      return supply.left;
    },
  };
}
