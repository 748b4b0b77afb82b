/**
 * What a server's notices (pings) are worth, measured: precision is the share of pings after which the page had really
 * changed, recall the share of changes that a ping had named. Both start at one half, as if four cases had been seen
 * (Beta(2, 2)), so that a server must earn its trust and a spammer loses it.
 */
export interface PingRecord {
  /** Visits to pages that had been pinged. */
  readonly pinged: number;
  /** Of these, the ones that found a change. */
  readonly confirmed: number;
  /** Visits that found a change, pinged or not, since the server began to send pings. */
  readonly changes: number;
}

export const NO_PINGS: PingRecord = { pinged: 0, confirmed: 0, changes: 0 };

/** Learns from one visit to a page of this server. */
export function learnPing(record: PingRecord, wasPinged: boolean, changed: boolean): PingRecord {
  // Changes before the first ping say nothing of recall: the server was not sending yet.
  const sending = wasPinged || record.pinged > 0;
  return {
    pinged: record.pinged + (wasPinged ? 1 : 0),
    confirmed: record.confirmed + (wasPinged && changed ? 1 : 0),
    changes: record.changes + (changed && sending ? 1 : 0),
  };
}

export function pingPrecision(record: PingRecord): number {
  return (2 + record.confirmed) / (4 + record.pinged);
}

export function pingRecall(record: PingRecord): number {
  return (2 + record.confirmed) / (4 + record.changes);
}

/** Pinged visits before silence is taken as a sign. */
const ENOUGH_PINGS = 20;

/** The recall to schedule silent pages by: 0 until the server has sent enough to judge. */
export function silenceRecall(record: PingRecord): number {
  return record.pinged < ENOUGH_PINGS ? 0 : pingRecall(record);
}

const CERTAIN = 0.999;

/** Days by which one ping moves a page of this rate forward; grows without bound as precision nears 1. */
export function pingWorth(record: PingRecord, rate: number): number {
  const precision = Math.min(CERTAIN, pingPrecision(record));
  const recall = Math.min(CERTAIN, pingRecall(record));
  return -Math.log(1 - precision) / ((1 - recall) * Math.max(rate, Number.MIN_VALUE));
}
