/** Numbers that people type. Throws a sentence that can be shown. */
const LONGEST = 86_400;

/** Seconds between requests; empty = null where `optional`. */
export function readSeconds(text: string, optional = false): number | null {
  const typed = text.trim().replace(',', '.');
  if (typed === '' && optional) return null;
  if (/^\d+(\.\d+)?$/.test(typed) && Number(typed) <= LONGEST) return Number(typed);
  throw new Error(`“${text.trim()}” is not a pace. Write a number of seconds from 0 to 86,400, such as 2.5.`);
}

/** A number of pages; empty = no limit. */
export function readPages(text: string): number | null {
  const typed = text.trim();
  if (typed === '') return null;
  if (/^\d{1,12}$/.test(typed) && Number(typed) >= 1) return Number(typed);
  throw new Error(`“${typed}” is not a limit. Write a whole number of pages from 1, or leave it empty.`);
}
