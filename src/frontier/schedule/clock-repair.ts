/**
 * What a clock that ran ahead wrote into the ledger. Pages visited "tomorrow" would not be looked at until then, and a
 * server would be left alone, or its robots.txt believed, for as long. Such times are taken back to now. The visits
 * keep theirs, and so does what refers to one (when a page last changed): that is history.
 */
import { DAY, HOUR } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Milliseconds that a clock may be corrected by without anybody noticing. */
const SLACK = HOUR;
/** How long a server may be left alone at the most, whatever it asks for or however often it failed; milliseconds. */
export const LONGEST_ABSENCE = DAY;
/** How long a site's word is waited for at the most: a hub may promise to tell for a month. */
const LONGEST_SILENCE = 30 * DAY;

/** Inside the caller's transaction. */
export function repairClock(ledger: Ledger, now: number): void {
  // The newest visit shows whether the last run's clock was ahead; asking every page would cost each start a second.
  if ((ledger.visits.lastTime ?? 0) > now + SLACK) ledger.schedule.due.takeBack(now);
  ledger.schedule.faces.noLaterThan(now + LONGEST_SILENCE);
  for (const server of ledger.servers.all()) {
    const { robots, notBefore } = server;
    const unread = robots !== undefined && robots.time > now + SLACK;
    if (!unread && notBefore <= now + LONGEST_ABSENCE) continue;
    if (unread) server.robots = { ...robots, time: 0 };
    server.notBefore = Math.min(notBefore, now + LONGEST_ABSENCE);
    ledger.servers.touch(server);
  }
}
