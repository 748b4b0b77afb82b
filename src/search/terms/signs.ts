/**
 * Names that have signs (`operator[]`, `C++`, `@property`), and signs that are names themselves (`->>`, `:=`). Each is one
 * term, its signs as private letters, because FTS5 would cut at them.
 */

/** Longer names are not kept. */
const LONGEST = 64;
/** First of the private letters that stand for ASCII signs. */
const PRIVATE = 0xe100;

/** Names with the signs that belong to them, and signs that are names themselves. */
const signed = /(?:[\w+#<>=!&|^*%~@$[\]-]|\(\))+/g;
const sign = /[+#<>=!&|^*%~@$[\]]|\(\)|\b__\w+__\b/;
/** Hyphens and exclamation marks beside words are punctuation, parentheses but empty ones, too. */
const punctuation = /^[-!]+(?=\w)|(?<=\w)[-!]+$|[()](?<!\(\)|\((?=\)))/g;

const termFor = (name: string) => name.replace(/[^a-z\d]/g, each => String.fromCharCode(PRIVATE + each.charCodeAt(0)));

const call = new RegExp(`^[a-z\\d]+${termFor('()')}$`);

/** Whether all signs of a term are the parentheses that people write or not: `toLocalDate()`. */
export const isCall = (term: string) => call.test(term);

/** The names of a title, heading, link text, address or query that have signs. */
export function signTerms(text: string): string[] {
  const found = new Set(textSigns(text));
  for (const piece of sign.test(text) ? (text.match(signed) ?? []) : []) {
    const name = piece.replace(punctuation, '').toLowerCase();
    if (!sign.test(name) || name.length < 2 || name.length > LONGEST) continue;
    // `C++20` is found as `C++`, too, and `operator!=` where a title says `operator==, !=`.
    for (const part of [name, name.replace(/(?<=[^a-z\d])\d+$/, ''), name.replace(/^operator(?=[^a-z\d]{2})/, '')])
      if (part.length > 1) found.add(termFor(part));
  }
  return [...found];
}

/** What a UTF-16 unit is to signs: what a name has, a sign, or what may stand beside a name or sign that stands alone. */
const [WORD, SIGN, EDGE] = [1, 2, 4];
const kinds = new Uint8Array(128);
for (const [letters, kind] of [
  ['abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_', WORD],
  ['+#<>=!&|^*%~@$[]-:?\\./', SIGN],
  [' \t\n\r"\'`(),;{}', EDGE],
] as const)
  for (const letter of letters) kinds[letter.charCodeAt(0)] = kind;

const kindAt = (text: string, at: number) => kinds[text.charCodeAt(at)] ?? (at < 0 || at >= text.length ? EDGE : 0);

/** Signs in a row that are one; names kept of one text, each so often. */
const LONGEST_RUN = 4;
const MOST_NAMES = 200;
const MOST_OFTEN = 16;
/** Signs behind a name that belong to it: `C++`, `C#`, `HEAD^`, `vec![]`; not `end.` or `why?`. */
const behind = /^(?:\+\+|#|\^|!?\[\])$/;
/** What ends a sentence behind a sign is not part of it. */
const ending = /(?<![.:?!])[.:?!]$/;

/**
 * The signs of running text, as often as they stand there: alone (`->>`), before a name (`@property`, `--option`,
 * `.htaccess`) or behind one (`C++`). Most letters of most texts are looked at once, in a table.
 */
export function textSigns(text: string): string[] {
  const counts = new Map<string, number>();
  const found: string[] = [];
  const take = (name: string) => {
    const count = counts.get(name) ?? 0;
    if (count >= MOST_OFTEN || (count === 0 && counts.size >= MOST_NAMES)) return;
    counts.set(name, count + 1);
    found.push(termFor(name.toLowerCase()));
  };
  const length = text.length;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === UNDERSCORE) at = underscored(text, at, take);
    else if (kinds[unit] === SIGN) at = signedAt(text, at, take);
  }
  return found;
}

const UNDERSCORE = '_'.charCodeAt(0);

type SignTaker = (name: string) => void;

/** `__init__`, `__cplusplus`. Gives where to go on, less one. */
function underscored(text: string, from: number, take: SignTaker): number {
  let end = from;
  while (kindAt(text, end) === WORD) end++;
  const isOne = text.charCodeAt(from + 1) === UNDERSCORE && kindAt(text, from - 1) !== WORD;
  if (isOne && end - from > 3 && end - from < LONGEST) take(text.slice(from, end));
  return end - 1;
}

/** What a run of signs is with what stands beside it. Gives where to go on, less one. */
function signedAt(text: string, from: number, take: SignTaker): number {
  let end = from + 1;
  while (kindAt(text, end) === SIGN) end++;
  const before = kindAt(text, from - 1);
  // The end of a sentence, a hyphen: most signs of most texts.
  if (end === from + 1 && before === WORD && !/[#^]/.test(text[from]!)) return end - 1;
  if (end - from > LONGEST_RUN + 1) return end - 1;
  const after = kindAt(text, end);
  const run = text.slice(from, end);
  if (before === EDGE && after === EDGE) {
    const bare = end - from > 2 ? run.replace(ending, '') : run;
    if (bare.length > 1 && bare.length <= LONGEST_RUN && bare !== '...') take(bare);
  } else if (before === EDGE && after === WORD) {
    const next = text.charCodeAt(end);
    let last = end;
    while (kindAt(text, last) === WORD) last++;
    // A number is no name: `-5`, `.75`.
    if (run.length <= 3 && !(next >= ZERO && next <= NINE) && last - from < LONGEST) take(text.slice(from, last));
  } else if (before === WORD) return signedBehind(text, from, end, take);
  return end - 1;
}

const [ZERO, NINE] = ['0'.charCodeAt(0), '9'.charCodeAt(0)];

/** `C++`, and `C++17` as both. */
function signedBehind(...[text, from, end, take]: [string, number, number, SignTaker]): number {
  let start = from;
  while (from - start < LONGEST && kindAt(text, start - 1) === WORD) start--;
  const bare = text.slice(from, end).replace(/(?<=.)[.:?!]+$/, '');
  const isOperator = text.slice(start, from) === 'operator' && bare.length <= LONGEST_RUN;
  if ((!behind.test(bare) && !isOperator) || kindAt(text, start - 1) === SIGN) return end - 1;
  let last = from + bare.length;
  while (last - start < LONGEST && kindAt(text, last) === WORD) last++;
  const rest = text.slice(from + bare.length, last);
  if (!/^\d*$/.test(rest)) return end - 1;
  take(text.slice(start, from + bare.length));
  if (rest !== '') take(text.slice(start, last));
  return last - 1;
}
