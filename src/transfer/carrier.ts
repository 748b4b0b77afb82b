/**
 * A carrier is the way to one outpost: a thread of this process, a machine behind ssh, or one that has dialled in. Home sees
 * only this port. A carrier moves errands out and parcels back, in order, and says when the other end is lost. From another
 * machine it lets only parcels through that are well formed (stream-carrier.ts). It never decides what is sent.
 */
import type { Errand } from '../errand/errand.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { OutpostStatus } from './wire/messages.ts';

/** What the outpost was invited for. */
export interface CarrierTerms {
  /** Hosts or domains that may be visited from there; empty = any. */
  readonly servers: readonly string[];
  /** It gets the errands of these servers before anyone else. */
  readonly stands: boolean;
}

export interface CarrierPresence {
  readonly connected: boolean;
  /** Milliseconds since its line was closed without a goodbye, as the system does for a process that ends; undefined = not. */
  readonly deserted: number | undefined;
}

export interface Carrier {
  /** Shown to people and written with each visit: `thread-1`, `ssh://user@machine` … */
  readonly name: string;
  /** Pages that may be under way there at once; 0 = nothing can be sent now. */
  readonly room: number;
  /** On another machine: its errands outlive this process. */
  readonly remote: boolean;
  readonly terms: CarrierTerms;
  /** It has not begun, and would with its first errand; absent = it has. */
  readonly asleep?: boolean;
  /** How it does, when it tells. */
  readonly status?: OutpostStatus;
  /** Absent where there is no line that could break. */
  readonly presence?: CarrierPresence;
  /** `paths`: outposts below it (`b`, `b/c`) that deliver their parcels themselves now. */
  readonly direct?: { readonly paths: ReadonlySet<string> };
  send(errand: Errand): void;
  /** Home has everything of the errand up to this parcel durably; the outpost may forget it. */
  acknowledge(errand: string, sequence: number): void;
  /** The errand has ended at home, durably; the outpost may forget all of it. */
  forget(errand: string): void;
  /** Home has read the parcel and holds nothing of it: what it lies in may be filled again. */
  reuse?(parcel: Parcel): void;
  /** Asks the outpost to end its errands early and deliver what it has; their last parcels still arrive. */
  recall(): void;
  /** The same for one errand; absent = it can only be asked to end all. */
  cancel?(errand: string): void;
  /** Ends the outpost. Parcels that have not arrived by then will not. */
  close(): Promise<void>;
}

/** Home's side of a carrier. */
export interface Receiver {
  /** `by`: who did the work, when that is not the carrier's own outpost. */
  parcel(from: Carrier, parcel: Parcel, by?: string): void;
  /** Last parcel of the errand that home has; infinite = it wants none of it any more. */
  taken?(from: Carrier, errand: string): number;
  /** The outpost will not finish this errand; what it has of it has arrived. */
  gaveUp(from: Carrier, errand: string, why: string): void;
  /** It sent a parcel that no honest outpost makes; the errand is given up besides. */
  broken?(from: Carrier, why: string): void;
  /** Something went wrong there, in one sentence; the work goes on. */
  trouble?(from: Carrier, text: string): void;
  /** Its room or state is another now. */
  changed(from: Carrier): void;
  /** The outpost is gone; its errands will not be finished by it. */
  lost(from: Carrier, why: string): void;
}
