/**
 * Text as a number, as the papers compute it. Neither is unique: permutations of the same characters have the same
 * codes, and the second loses small edits of long texts in its six decimals.
 */

interface TextCodeOptions {
  /** Characters as Windows-1252 bytes instead of code points. */
  readonly charset?: 'cp1252';
  /** Those bytes as a C compiler with signed characters reads them. */
  readonly signed?: boolean;
  /** The end of the file counts as a character of code −1, as a loop on feof() makes it. */
  readonly countEof?: boolean;
}

export interface TextCode {
  readonly sum: number;
  readonly characters: number;
  readonly distinct: number;
  readonly code: number;
}

/** I-method: sum of frequency × code over the number of distinct characters. */
export function textCode1(text: string, options: TextCodeOptions = {}): TextCode {
  const codes = codesOf(text, options);
  const sum = codes.reduce((total, code) => total + code, 0);
  // Negative codes have no place in the table of frequencies that the papers' program kept.
  const distinct = new Set(codes.filter(code => code >= 0)).size;
  return { sum, characters: codes.length, distinct, code: distinct === 0 ? 0 : sum / distinct };
}

/**
 * II-method: root of the sum of squares over the number of characters (not its root, whatever the name RMS says).
 * In single precision at every step: only so do the paper's sums give its codes to the last decimal.
 */
export function textCode2(squares: number, characters: number): number {
  return characters === 0 ? 0 : Math.fround(Math.fround(Math.sqrt(squares)) / characters);
}

/** The same of a text. */
export function textCode2Of(text: string): number {
  const codes = codesOf(text, {});
  return textCode2(
    codes.reduce((sum, code) => sum + code * code, 0),
    codes.length,
  );
}

/** The papers print single precision, six decimals; two codes are the same when they print the same. */
export function sameCode(a: number, b: number): boolean {
  return Math.fround(a).toFixed(6) === Math.fround(b).toFixed(6);
}

const windows = new Map(
  [...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, i) => i))].map((c, i) => [c, i]),
);

function codesOf(text: string, options: TextCodeOptions): number[] {
  const codes = [...text].map(c => {
    if (options.charset === undefined) return c.codePointAt(0)!;
    const byte = windows.get(c) ?? 63;
    return options.signed && byte > 127 ? byte - 256 : byte;
  });
  if (options.countEof) codes.push(-1);
  return codes;
}
