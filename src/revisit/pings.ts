/**
 * What a server's notices (pings) are worth, measured: precision is the share of pings after which the page had really
 * changed, recall the share of changes that a ping had named. Both start at one half, as if four cases had been seen
 * (Beta(2, 2)), so that a server must earn its trust and a spammer loses it.
 *
 * Recall is not the share of found changes that were pinged: since pinged pages are visited and silent ones left alone,
 * that share nears 1 whatever the truth (0.998 measured where it was 0.9). It is judged by silent visits alone: how
 * many changes they found, of those that the page's rate foretold.
 */
export interface PingRecord {
  /** Pings whose pages were visited since. */
  readonly pings: number;
  /** Of these, the ones that were true. */
  readonly confirmed: number;
  /** Changes to be expected at visits that no ping preceded, had the server never pinged. */
  readonly expected: number;
  /** Of these, the ones that were found. */
  readonly missed: number;
}

export const NO_PINGS: PingRecord = { pings: 0, confirmed: 0, expected: 0, missed: 0 };

/** A visit as far as it tells about pings. */
interface PingedVisit {
  /** Pings since the visit before. */
  readonly pings: number;
  readonly changed: boolean;
  /** Probability of a change by the page's rate and the time since the visit before. */
  readonly foretold: number;
}

/** Beyond this the past is halved, so that a server that begins to lie is found out within as many pings. */
const MEMORY_PINGS = 500;

/** Learns from one visit to a page of this server. */
export function learnPing(record: PingRecord, { pings, changed, foretold }: PingedVisit): PingRecord {
  if (pings > 0) {
    // Of several pings before a change at least one was true; the others as often as pings have been so far.
    const precision = pingPrecision(record);
    const genuine = changed ? (pings * precision) / (1 - (1 - precision) ** pings) : 0;
    const kept = record.pings > MEMORY_PINGS ? 0.5 : 1;
    return { ...record, pings: record.pings * kept + pings, confirmed: record.confirmed * kept + genuine };
  }
  // Before the first ping silence says nothing: the server was not sending yet.
  if (record.pings === 0) return record;
  const kept = record.expected > MEMORY_PINGS ? 0.5 : 1;
  return { ...record, expected: record.expected * kept + foretold, missed: record.missed * kept + (changed ? 1 : 0) };
}

export function pingPrecision(record: PingRecord): number {
  return (2 + record.confirmed) / (4 + record.pings);
}

export function pingRecall(record: PingRecord): number {
  return 1 - Math.min(1, (2 + record.missed) / (4 + record.expected));
}

/** Pings before silence is taken as a sign. */
const ENOUGH_PINGS = 20;

/** The recall to schedule silent pages by: 0 until the server has sent enough to judge. */
export function silenceRecall(record: PingRecord): number {
  return record.pings < ENOUGH_PINGS ? 0 : pingRecall(record);
}

/** Changes to be expected for each that silence may have missed, besides one slip. */
const SLIPS = 10;

/** It has told enough, mostly the truth, and hardly a change was found that it had not told: others need not say the same. */
export function tellsAlone(record: PingRecord): boolean {
  const { pings, missed, expected } = record;
  return pings >= ENOUGH_PINGS && pingPrecision(record) >= 0.5 && missed <= 1 + expected / SLIPS;
}

const CERTAIN = 0.999;

/** Days: no page waits longer than 90, so one that has changed as likely as not is due at once. */
const LONGEST = 90 / Math.LN2;

/**
 * Days by which one ping moves a page of this rate forward; grows without bound as precision nears 1. It counts no more days
 * than a copy may stay old: a page that hardly ever changes does not go first because its site names all pages every day.
 */
export function pingWorth(record: PingRecord, rate: number): number {
  const precision = Math.min(CERTAIN, pingPrecision(record));
  const recall = Math.min(CERTAIN, pingRecall(record));
  return -Math.log(1 - precision) * Math.min(LONGEST, 1 / ((1 - recall) * Math.max(rate, Number.MIN_VALUE)));
}

/**
 * How many changes a visit stands for where notices tell. A visit that a notice brought about comes just after a
 * change, always: to take it for "at least one change in this interval", as with visits at times of our own choosing,
 * would raise the rate without end. So the notices are counted, for as much as they have been worth.
 */
export function countedByPings(
  record: PingRecord,
  pings: number,
  seen: { readonly changed: boolean; readonly changes?: number },
): { readonly changes?: number } {
  if (!seen.changed || seen.changes !== undefined || (pings === 0 && silenceRecall(record) === 0)) return {};
  return { changes: Math.max(1, pings * pingPrecision(record)) };
}
