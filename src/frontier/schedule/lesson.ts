/** What goes into the schedule with each visit, and what comes out of it. */
import type { Visit } from '../../errand/visit.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { Server } from '../../ledger/servers.ts';

/** A visit as the schedule learns from it. */
export interface ScheduleLesson {
  readonly id: number;
  readonly visit: Visit;
  readonly before: KnownRow | undefined;
  readonly server: Server;
  /** Pages of the server. */
  readonly pages: number;
  /** It is a second address of another page. */
  readonly alias?: boolean;
  /** A second look, moments after the first. */
  readonly second?: boolean | undefined;
  /** The schedule has learned from this visit before; now it is judged again. */
  readonly again?: boolean;
}

export interface Planned {
  readonly change: Uint8Array | null;
  readonly due: number | null;
  /** FLAG_UNSPOKEN. */
  readonly unspoken: boolean;
}
