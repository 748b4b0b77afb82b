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
  // Each once: the headings of a manual say the same type over and over.
  for (const piece of new Set(sign.test(text) ? text.match(signed) : [])) {
    if (!sign.test(piece)) continue;
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
 * `.htaccess`) or behind one (`C++`).
 */
export class TextSigns {
  readonly found: string[] = [];
  readonly #kept = new Map<string, { readonly term: string; count: number }>();

  /** Reads the sign that stands there, if one does, with what stands beside it; a run of signs once, at its first. */
  at(text: string, at: number): void {
    const unit = text.charCodeAt(at);
    if (unit === UNDERSCORE) {
      if (text.charCodeAt(at + 1) === UNDERSCORE && kindAt(text, at - 1) !== WORD) this.#underscored(text, at);
    } else if (kinds[unit] === SIGN) {
      const before = kindAt(text, at - 1);
      if (before === SIGN) return;
      // The end of a sentence, a hyphen: most signs of most texts.
      if (before === WORD && unit !== HASH && unit !== CARET && kindAt(text, at + 1) !== SIGN) return;
      this.#run(text, at, before);
    }
  }

  #take(name: string): void {
    let one = this.#kept.get(name);
    if (one === undefined) {
      if (this.#kept.size >= MOST_NAMES) return;
      this.#kept.set(name, (one = { term: termFor(name.toLowerCase()), count: 0 }));
    }
    if (one.count++ < MOST_OFTEN) this.found.push(one.term);
  }

  /** `__init__`, `__cplusplus`. */
  #underscored(text: string, from: number): void {
    const end = endOfWord(text, from);
    if (end - from > 3 && end - from < LONGEST) this.#take(text.slice(from, end));
  }

  #run(text: string, from: number, before: number): void {
    let end = from + 1;
    while (end - from <= LONGEST_RUN + 1 && kindAt(text, end) === SIGN) end++;
    if (end - from > LONGEST_RUN + 1) return;
    const after = kindAt(text, end);
    if (before === WORD) this.#behind(text, from, end);
    else if (before !== EDGE) return;
    else if (after === EDGE) {
      const run = text.slice(from, end);
      const bare = run.length > 2 ? run.replace(ending, '') : run;
      if (bare.length > 1 && bare.length <= LONGEST_RUN && bare !== '...') this.#take(bare);
    } else if (after === WORD && end - from <= 3 && !isDigit(text.charCodeAt(end))) {
      // A number is no name: `-5`, `.75`.
      const last = endOfWord(text, end);
      if (last - from < LONGEST) this.#take(text.slice(from, last));
    }
  }

  /** `C++`, and `C++17` as both. */
  #behind(text: string, from: number, end: number): void {
    let start = from;
    while (from - start < LONGEST && kindAt(text, start - 1) === WORD) start--;
    const bare = text.slice(from, end).replace(/(?<=.)[.:?!]+$/, '');
    const isOperator = bare.length <= LONGEST_RUN && text.slice(start, from) === 'operator';
    if ((!behind.test(bare) && !isOperator) || kindAt(text, start - 1) === SIGN) return;
    const name = from + bare.length;
    const last = endOfWord(text, name);
    const rest = text.slice(name, last);
    if (!/^\d*$/.test(rest)) return;
    this.#take(text.slice(start, name));
    if (rest !== '') this.#take(text.slice(start, last));
  }
}

/** The same of a text that is not read word by word. */
export function textSigns(text: string): string[] {
  const signs = new TextSigns();
  for (let at = 0; at < text.length; at++) signs.at(text, at);
  return signs.found;
}

const [UNDERSCORE, HASH, CARET, ZERO, NINE] = ['_', '#', '^', '0', '9'].map(each => each.charCodeAt(0)) as [
  ...[number, number, number, number, number],
];
const isDigit = (unit: number) => unit >= ZERO && unit <= NINE;

function endOfWord(text: string, from: number): number {
  let end = from;
  while (end - from <= LONGEST && kindAt(text, end) === WORD) end++;
  return end;
}
