/**
 * Pages that a machine says it cannot reach, because of its view of robots.txt, its network, its owner's rules, or a server
 * that does not answer it or keeps it away for a while. That holds for this machine only, and is only its word: another
 * machine tries the page. Home takes it for true only when every machine has said so.
 */
import { type Reason, type ReasonCode, reasons } from '../../errand/reasons.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Lane } from '../lanes/lane.ts';
import { LONGEST_ABSENCE } from '../schedule/clock-repair.ts';

const OWN_REACH: ReadonlySet<string> = new Set(['robots', 'robots-unreachable', 'private-address', 'out-of-scope']);
const OWN_LINE: ReadonlySet<string> = new Set([
  ...['dns', 'connect-refused', 'connect-timeout', 'tls-failed', 'first-byte-timeout', 'body-timeout', 'reset'],
  ...['http-429', 'http-503'],
]);
const MINUTE = 60_000;

/** Whether there is a machine, other than these, that could visit pages of a server. */
export type Anyone = (origin: string, not: ReadonlySet<string>) => boolean;

interface Unreached {
  readonly id: number;
  readonly lane: Lane;
  /** What the last machine said, and who it was in full. */
  readonly visit: Visit;
  readonly outpost: string;
}

export function isOwnReach({ outcome, reason }: Visit): boolean {
  return outcome === 'refused' ? OWN_REACH.has(reason) : outcome === 'failed' && OWN_LINE.has(reason);
}

/** The machine gets no more pages of the server for as long as the server keeps it away; others do. */
function rest({ views }: Lane, machine: string, { outcome, reason, retryAfter, time }: Visit): void {
  const { server, after }: Reason = reasons[reason as ReasonCode];
  if (outcome !== 'failed' || !server) return;
  const wait = retryAfter > 0 ? retryAfter * 1000 : after * MINUTE;
  views.set(machine, { ...views.get(machine), notBefore: time + Math.min(wait, LONGEST_ABSENCE) });
}

/** Machines that the server keeps away now, together with those in `and`; undefined = none. */
export function keptAway({ views }: Lane, now: number, and?: ReadonlySet<string>): ReadonlySet<string> | undefined {
  const away = new Set(and);
  for (const [machine, { notBefore = 0 }] of views) if (notBefore > now) away.add(machine);
  return away.size === 0 ? undefined : away;
}

export class Elsewhere {
  /** Pages that wait for another machine, longest first. */
  readonly #waiting = new Map<number, Unreached>();
  /** Machines that cannot reach a page, until something else is known about it. */
  readonly #machines = new Map<number, Set<string>>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Notes that a machine cannot reach the page; returns all that cannot. */
  refused({ id, lane, visit }: Unreached, machine: string, now: number): ReadonlySet<string> {
    const machines = this.#machines.get(id) ?? new Set();
    this.#machines.set(id, machines.add(machine));
    rest(lane, machine, visit);
    return keptAway(lane, now, machines)!;
  }

  add(page: Unreached): void {
    if (!this.#waiting.has(page.id)) page.lane.elsewhere++;
    this.#waiting.set(page.id, page);
  }

  /** The page has been visited: no other machine need try it. */
  known(id: number): void {
    this.#machines.delete(id);
    this.#drop(id);
  }

  /** Which machines cannot reach the page of the lane that has waited longest; undefined = none waits. */
  barred(lane: Lane): ReadonlySet<string> | undefined {
    if (lane.elsewhere === 0) return undefined;
    for (const page of this.#waiting.values()) if (page.lane === lane) return this.#machines.get(page.id);
    return undefined;
  }

  /** At most `most` pages of the lane for a machine that has not tried them. */
  take(lane: Lane, machine: string, most: number): number[] {
    const ids: number[] = [];
    for (const { id, lane: other } of this.#waiting.values()) {
      if (ids.length >= most) break;
      if (other === lane && !this.#machines.get(id)!.has(machine)) ids.push(id);
    }
    for (const id of ids) this.#drop(id);
    return ids;
  }

  /** Removes and returns the pages that no machine is left to try. */
  hopeless(anyone: Anyone): Unreached[] {
    const left = [...this.#waiting.values()].filter(
      ({ id, lane }) => !anyone(lane.server.origin, this.#machines.get(id)!),
    );
    for (const { id } of left) this.known(id);
    return left;
  }

  #drop(id: number): void {
    const page = this.#waiting.get(id);
    if (page) page.lane.elsewhere--;
    this.#waiting.delete(id);
  }
}
