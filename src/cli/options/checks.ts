/**
 * What an option accepts, as small functions that go together: each takes what was given, from the command line or the
 * config file, and returns the value or a sentence that says what it should have been.
 *
 * The schema library that the interface of the workbench is checked and documented with is not loaded for this: it would
 * take longer than all the rest of a command that only looks (80 of 250 ms of CPU before a crawl began).
 */
type Checked<T> = { readonly value: T } | { readonly wrong: string };
export type Check<T> = (given: unknown) => Checked<T>;
/** What a check lets through. */
export type Accepted<C> = C extends Check<infer T> ? T : never;

interface NumberBounds {
  readonly least?: number;
  readonly most?: number;
  readonly whole?: boolean;
}

export function number({ least = -Infinity, most = Infinity, whole = false }: NumberBounds): Check<number> {
  return given => {
    const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    if (typeof value !== 'number' || !Number.isFinite(value)) return { wrong: 'it is a number' };
    if (whole && !Number.isInteger(value)) return { wrong: 'it is a whole number' };
    if (value < least) return { wrong: `it is at least ${least}` };
    return value > most ? { wrong: `it is at most ${most}` } : { value };
  };
}

export const count = (most?: number): Check<number> => number({ least: 1, whole: true, ...(most && { most }) });

export const text: Check<string> = given => (typeof given === 'string' ? { value: given } : { wrong: 'it is a text' });

export const filled: Check<string> = given => (given === '' ? { wrong: 'it must not be empty' } : text(given));

export const switched: Check<boolean> = given =>
  typeof given === 'boolean' ? { value: given } : { wrong: 'it is true or false' };

/** `--workbench` without a port. */
export const alone: Check<true> = given => (given === true ? { value: given } : { wrong: 'it has a value' });

export function oneOf<const T extends string>(names: readonly T[]): Check<T> {
  return given => {
    const value = names.find(name => name === given);
    return value === undefined ? { wrong: `it is one of ${names.join(', ')}` } : { value };
  };
}

/** Parts of a text between commas, or an array; empty parts do not count. */
export const list: Check<string[]> = given => {
  const parts = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(parts) || !parts.every(part => typeof part === 'string'))
    return { wrong: 'it is a list of texts' };
  return { value: parts.map(part => part.trim()).filter(Boolean) };
};

/** An array, as only a config file has one. */
export const listed: Check<string[]> = given =>
  Array.isArray(given) ? list(given) : { wrong: 'it is a list of texts' };

/** Becomes part of a header line, so it has no blanks or control characters. */
export const contact: Check<string> = given => {
  const address = typeof given === 'string' && /^[\x21-\x7e]+$/.test(given) ? given : '';
  const isMail = /^[^@:/]+@[^@.:/]+(?:\.[^@.:/]+)+$/.test(address);
  const isPage = /^https?:\/\//i.test(address) && URL.canParse(address);
  return isMail || isPage ? { value: address } : { wrong: 'it is not a web or mail address' };
};

/** Scheme and host, with a port if need be. */
export const webAddress: Check<string> = given => {
  const address = typeof given === 'string' && /^https?:\/\/[^\s/]+\/?$/i.test(given) ? given : '';
  return address !== '' && URL.canParse(address) ? { value: address } : { wrong: 'it is not a web address' };
};

/** The sentence is that of the second. */
export function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return given => {
    const checked = first(given);
    return 'value' in checked ? checked : second(given);
  };
}

export function optional<T>(check: Check<T>): Check<T | undefined> {
  return given => (given === undefined ? { value: undefined } : check(given));
}

export function or<T>(check: Check<T>, otherwise: T): Check<T> {
  return given => (given === undefined ? { value: otherwise } : check(given));
}
