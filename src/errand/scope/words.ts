/** Keywords in text: case and accents make no difference, and a keyword is found only as whole words. */

/** Lower case without accents; `É`, `é` and `e` become one letter. */
export function foldText(text: string): string {
  // Most pages are ASCII, for which this is all there is to do.
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .toLowerCase();
}

const LETTER = /[\p{L}\p{N}]/u;
/** Scripts that put no space between words: there a keyword may stand anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Keywords made ready to be looked for, empty ones left out. One may be a phrase. */
export function foldKeywords(keywords: readonly string[]): string[] {
  return keywords.map(word => foldText(word).trim().replace(/\s+/g, ' ')).filter(word => word !== '');
}

/** How often the keyword stands in the text, both folded, counted up to `most`. */
export function mentions(text: string, keyword: string, most: number): number {
  const anywhere = UNSPACED.test(keyword);
  let count = 0;
  for (let at = text.indexOf(keyword); at >= 0 && count < most; at = text.indexOf(keyword, at + 1)) {
    if (anywhere || (!letterAt(text, at - 1) && !letterAt(text, at + keyword.length))) count++;
  }
  return count;
}

function letterAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at); // NaN outside the text: no letter
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);
  return code >= 128 && LETTER.test(text[at]!);
}
