/** What a user asked of the schedule, and what of it a later run finds in the ledger. */
import type { Balance } from '../../revisit/budget.ts';
import type { Thresholds } from '../../revisit/pmcs.ts';

/** What a schedule works with besides its settings. */
export interface ScheduleContext {
  /** How often people wanted a page lately. */
  readonly searches?: (page: number) => number;
  /** Visits go on all day, so that a late one means that its server, or the budget, is at its limit. */
  readonly continuous?: boolean;
}

/** Kept in the ledger, so that a later run goes on with it. One of the last three is set. */
export interface ScheduleSettings {
  readonly policy: string;
  readonly estimator: string | undefined;
  /** Of the policy pmcs. */
  readonly thresholds: Thresholds | undefined;
  /** Share of the pages to be visited a day. */
  readonly share: number | undefined;
  /** Bytes on the wire a day. */
  readonly bytes: number | undefined;
  /** To be kept for the least. */
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
  /** Pages there were, and the time, when theta was last sought. */
  readonly pages: number;
  readonly time: number;
  readonly theta: number;
  /** Of servers that have one of their own, as a part of theta. */
  readonly thetas?: readonly (readonly [server: number, part: number])[];
  readonly balance: Balance;
  readonly visitsPerDay: number;
  /** What a visit costs on average; a share of the pages weighs each visit against it. */
  readonly kilobytes?: number;
}

/** Of share, bytes and freshness only the one that was asked for is in what was saved. */
export function settingsAfter(saved: SavedSchedule | undefined, wanted: Partial<ScheduleSettings>): ScheduleSettings {
  return { ...defaultSettings, ...(saved && { share: undefined }), ...saved, ...wanted };
}

export function sameSettings(one: ScheduleSettings, other: ScheduleSettings): boolean {
  const alike = (['policy', 'estimator', 'share', 'bytes', 'freshness'] as const).every(
    name => one[name] === other[name],
  );
  return alike && JSON.stringify(one.thresholds) === JSON.stringify(other.thresholds);
}
