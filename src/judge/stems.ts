/**
 * The stem of a reference that was replaced by another: what the two have in common, when all that differs are tokens
 * that machines make up (session ids, hashes of assets, invitations). Which tokens vary for no reason is learned of each
 * server by its stems; here is only said what may be one.
 */

/** Runs of letters and digits, and what stands between them. */
const PIECES = /[A-Za-z0-9]+|[^A-Za-z0-9]+/g;
const MOST_TOKENS = 3;

/** Undefined when more than tokens differs. A star stands for each token. */
export function stemOf(before: string, after: string): string | undefined {
  if (before === after || before === '' || after === '') return undefined;
  const old = before.match(PIECES)!;
  const now = after.match(PIECES)!;
  if (old.length !== now.length) return undefined;
  let tokens = 0;
  const stem = old.map((piece, i) => {
    const other = now[i]!;
    if (piece === other) return piece;
    if (!isToken(piece, other)) tokens = Number.POSITIVE_INFINITY;
    tokens++;
    return '*';
  });
  return tokens <= MOST_TOKENS ? stem.join('') : undefined;
}

/** What has stayed, whatever the rest is: for two looks a moment apart, at which whatever differs is made up. */
export function frameOf(before: string, after: string): string | undefined {
  const old = before.match(PIECES) ?? [];
  const now = after.match(PIECES) ?? [];
  if (before === after || old.length !== now.length) return undefined;
  const frame = old.map((piece, i) => (piece === now[i] ? piece : '*'));
  return frame.filter(piece => piece === '*').length <= MOST_TOKENS ? frame.join('') : undefined;
}

/** Which pieces differ, as bits, of how many; of two with as many pieces. */
export function starsOf(before: string, after: string): { readonly pieces: number; readonly stars: number } {
  const old = before.match(PIECES) ?? [];
  const now = after.match(PIECES) ?? [];
  if (old.length > MOST_STARRED) return { pieces: 0, stars: 0 };
  return { pieces: old.length, stars: old.reduce((bits, piece, i) => (piece === now[i] ? bits : bits | (1 << i)), 0) };
}

/** As many as there are bits. */
const MOST_STARRED = 30;

function isToken(a: string, b: string): boolean {
  if (!/^[A-Za-z0-9]+$/.test(a) || !/^[A-Za-z0-9]+$/.test(b)) return false;
  if (a.length === b.length && a.length >= 5) return looksMade(a) || looksMade(b);
  if (a.length === b.length && a.length === 4) return alternates(a) || alternates(b);
  return a.length >= 9 && b.length >= 9 && looksMade(a) && looksMade(b);
}

/** Letters and digits in turns: so short a run says little else. */
function alternates(run: string): boolean {
  return (run.match(/\d(?=[a-z])|[a-z](?=\d)/gi)?.length ?? 0) >= 2;
}

/** No word and no number that a person would write: letters and digits in turns, many digits, capitals inside. */
function looksMade(run: string): boolean {
  if (/^\d+$/.test(run)) return run.length >= 9;
  // A word and a short number: photo12, 1024px, 640x480.
  if (/^[A-Za-z]+\d{1,4}$/.test(run) && !/^[a-f]+\d+$/i.test(run)) return false;
  if (/^\d+x\d+$/i.test(run)) return false;
  if (/\d/.test(run)) return true;
  return run.length >= 24 || (run.slice(1).match(/[a-z][A-Z]|[A-Z][a-z]/g)?.length ?? 0) >= 3;
}

/** A mail address, also where a proxy has put its own link, with the address under a key, in its place. */
const MAIL = /^mailto:|\/email-protection#(?:[0-9a-f]{2})+$/i;

export function isAddress(reference: string): boolean {
  return MAIL.test(reference);
}

/** The address under its key, which comes first. */
function uncovered(hex: string): string {
  const [key = 0, ...signs] = Buffer.from(hex, 'hex');
  return `mailto:${String.fromCharCode(...signs.map(sign => sign ^ key))}`;
}

/** An address however its characters were disguised: entities are gone by now, %-codes may be doubled. */
export function plainAddress(reference: string): string {
  const covered = /\/email-protection#([0-9a-f]+)$/i.exec(reference)?.[1];
  let plain = covered ? uncovered(covered) : reference;
  for (let times = 0; times < 2 && plain.includes('%'); times++) {
    plain = plain.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  return plain.toLowerCase();
}
