/** Pages that robots.txt forbade, in case it permits them by now. */
import { DAY } from '../../base/clock.ts';
import type { RobotsCopy } from '../../errand/errand.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Server } from '../../ledger/servers.ts';

/** Milliseconds after which a copy is old (RFC 9309). */
const OLD = DAY;

/** One forbidden page of each server whose robots.txt is old: to ask for it reads the rules again. */
export function doubtful(ledger: Ledger, now: number): { page: number; server: number }[] {
  const seen = (server: number) => ledger.servers.byId(server).robots?.time ?? 0;
  return ledger.queries.scans.firstForbidden().filter(({ server }) => seen(server) < now - OLD);
}

/** Notes a server's robots.txt. If it has changed, all pages that it forbade become due, by the named clock. */
export function learnRobots(
  ledger: Ledger,
  server: Server,
  robots: RobotsCopy,
  when: { readonly now: number; readonly clock: 'retry_at' | 'due' },
): void {
  const before = server.robots;
  server.robots = robots;
  if (!before || (before.body === robots.body && before.status === robots.status)) return;
  ledger.schedule.due.allow('robots', when.now, when.clock, server.id);
}
