/** What a user asked of the schedule, and what the ledger keeps of it for later runs. */
import type { Balance } from '../../revisit/budget.ts';
import type { Thresholds } from '../../revisit/pmcs.ts';

/** What a schedule needs besides its settings. */
export interface ScheduleContext {
  /** How often people wanted a page lately. */
  readonly searches?: (page: number) => number;
  /** Visits go on all day, so that a late one means that its server, or the budget, is at its limit. */
  readonly continuous?: boolean;
}

/** The ledger keeps these, so that a later run continues with them. One of the last three is set. */
export interface ScheduleSettings {
  readonly policy: string;
  readonly estimator: string | undefined;
  /** Thresholds of the policy pmcs. */
  readonly thresholds: Thresholds | undefined;
  /** Share of the pages to be visited a day. */
  readonly share: number | undefined;
  /** Bytes on the wire a day. */
  readonly bytes: number | undefined;
  /** Freshness to keep at the smallest cost. */
  readonly freshness: number | undefined;
}

const defaultSettings: ScheduleSettings = {
  policy: 'value',
  estimator: undefined,
  thresholds: undefined,
  share: 0.1,
  bytes: undefined,
  freshness: undefined,
};

export interface SavedSchedule extends ScheduleSettings {
  /** Number of pages and time when theta was last computed. */
  readonly pages: number;
  readonly time: number;
  readonly theta: number;
  /** Thresholds of single servers, as multiples of theta. */
  readonly thetas?: readonly (readonly [server: number, part: number])[];
  readonly balance: Balance;
  readonly visitsPerDay: number;
  /** Average cost of a visit; a budget in pages weighs each visit against it. */
  readonly kilobytes?: number;
}

/** The settings for this run. Of share, bytes and freshness only the one that the user asked for is saved. */
export function settingsAfter(saved: SavedSchedule | undefined, wanted: Partial<ScheduleSettings>): ScheduleSettings {
  return { ...defaultSettings, ...(saved && { share: undefined }), ...saved, ...wanted };
}

export function sameSettings(one: ScheduleSettings, other: ScheduleSettings): boolean {
  const alike = (['policy', 'estimator', 'share', 'bytes', 'freshness'] as const).every(
    name => one[name] === other[name],
  );
  return alike && JSON.stringify(one.thresholds) === JSON.stringify(other.thresholds);
}
