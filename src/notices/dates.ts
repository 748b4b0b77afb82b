/** Dates as sites write them, in milliseconds since 1970. */

/** Year, month, day, time, fraction and zone of W3C-DTF, with the deviations that are common in sitemaps. */
const w3c =
  /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[Tt ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?)?)?)?\s*(?:UTC|GMT|([Zz]|[+-]\d{2}:?\d{2}|[+-]\d{2}))?$/;
const internet =
  /^(?:[a-z]{3,9},?\s+)?\d{1,2}[\s-][a-z]{3,9}[\s-]\d{2,4}(?:\s+\d{1,2}:\d{2}(?::\d{2})?(?:\s*[a-z]{1,4}|\s*[+-]\d{4})?)?$/i;

/** A W3C or RFC 822 date; without a zone it is UTC. Undefined for anything else, and for dates that mean "none". */
export function parseDate(text: string): number | undefined {
  const trimmed = text.trim();
  // Longer ones are not dates; bounds the work below.
  if (trimmed.length > 64) return undefined;
  const match = w3c.exec(trimmed);
  const time = match === null ? parseInternet(trimmed) : fromParts(match);
  // 1970 and before: an empty column of somebody's database.
  return Number.isNaN(time) || time <= 0 ? undefined : time;
}

/** The same with the fraction of its second: of several changes in one second none may hide the others. */
export function parseInstant(text: string): number | undefined {
  const time = parseDate(text);
  const fraction = /:\d{2}([.,]\d{1,9})/.exec(text)?.[1];
  return time === undefined || fraction === undefined
    ? time
    : time + Math.floor(Number(`0.${fraction.slice(1)}`) * 1000);
}

function fromParts(match: RegExpExecArray): number {
  const month = Number(match[2] ?? 1) - 1;
  const hour = Number(match[4] ?? 0);
  const minute = Number(match[5] ?? 0);
  const second = Number(match[6] ?? 0);
  const midnight = Date.UTC(Number(match[1]), month, Number(match[3] ?? 1));
  // Date.UTC turns 31 February into March.
  if (new Date(midnight).getUTCMonth() !== month || hour > 24 || minute > 59 || second > 60) return Number.NaN;
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000 - zoneOffset(match[7]);
}

function zoneOffset(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

function parseInternet(text: string): number {
  if (!internet.test(text)) return Number.NaN;
  // Date.parse would take a time without a zone for local.
  return Date.parse(/\d\s*(?:[a-z]{1,4}|[+-]\d{4})$/i.test(text) ? text : `${text} GMT`);
}
