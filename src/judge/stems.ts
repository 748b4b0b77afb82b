/**
 * The stem of a reference that was replaced by another: what the two have in common, when all that differs are tokens
 * that machines make up (session ids, hashes of assets, invitations). Which tokens vary for no reason is learned of each
 * server by its stems; here is only said what may be one.
 */

/** Runs of letters and digits, and what stands between them. */
const PIECES = /[A-Za-z0-9]+|[^A-Za-z0-9]+/g;
/** The same with hyphens and underscores in the runs. */
const RUNS = /[\w-]+|[^\w-]+/g;
const MOST_TOKENS = 3;

type Aligned = readonly [old: readonly string[], now: readonly string[]];

/** Both in pieces, as many of one as of the other; undefined where they have not as many. */
function aligned(before: string, after: string): Aligned | undefined {
  const pieces = [before.match(PIECES) ?? [], after.match(PIECES) ?? []] as const;
  const [old, now] = [before.match(RUNS) ?? [], after.match(RUNS) ?? []] as const;
  const runs = old.length === now.length ? old.map((run, i) => inRun(run, now[i]!)) : [undefined];
  if (runs.includes(undefined)) return pieces[0].length === pieces[1].length ? pieces : undefined;
  return [runs.flatMap(run => run![0]), runs.flatMap(run => run![1])];
}

/** A run of letters, digits and hyphens: in pieces, or with one token in it whose hyphens are part of it. */
function inRun(before: string, after: string): Aligned | undefined {
  const [old, now] = [before.match(PIECES)!, after.match(PIECES)!] as const;
  const differing = old.length === now.length ? old.flatMap((piece, i) => (piece === now[i] ? [] : [i])) : undefined;
  if (differing?.every(i => isToken(old[i]!, now[i]!))) return [old, now];
  const [ahead, behind] = [alike(old, now), alike(old.toReversed(), now.toReversed())];
  const until = Math.max(0, Math.min(behind, Math.min(old.length, now.length) - ahead));
  const [one, other] = [old, now].map(pieces => pieces.slice(ahead, pieces.length - until).join('')) as [
    string,
    string,
  ];
  if (!isHyphened(one, other)) return differing?.every(i => isRun(old[i]!) && isRun(now[i]!)) ? [old, now] : undefined;
  // What stands before a token is no part of it, though the token may begin with a hyphen itself.
  const sign = /^[-_]/.test(one) && one[0] === other[0] ? 1 : 0;
  const [first, last] = [[...old.slice(0, ahead), one.slice(0, sign)], old.slice(old.length - until)];
  return [
    [...first, one.slice(sign), ...last],
    [...first, other.slice(sign), ...last],
  ];
}

const isRun = (piece: string): boolean => /^[A-Za-z0-9]/.test(piece);

/** How many are the same from the beginning. */
function alike(some: readonly string[], others: readonly string[]): number {
  let count = 0;
  while (count < Math.min(some.length, others.length) && some[count] === others[count]) count++;
  return count;
}

/** Capitals, small letters and digits mixed, as bundlers write hashes; a hyphen may be one of their signs. */
function isHyphened(one: string, other: string): boolean {
  const runs = [one, other].map(run => run.replace(/[-_]/g, ''));
  const kinds = (run: string) => [/[a-z]/, /[A-Z]/, /\d/].filter(kind => kind.test(run)).length;
  if (one.length !== other.length || one.length < LEAST_HYPHENED) return false;
  return runs.every(run => kinds(run) >= 2) && runs.some(looksMade);
}

const LEAST_HYPHENED = 6;

/** Undefined when more than tokens differs. A star stands for each token. */
export function stemOf(before: string, after: string): string | undefined {
  if (before === after || before === '' || after === '') return undefined;
  const [old, now] = aligned(before, after) ?? [];
  const made = old?.every((piece, i) => piece === now![i] || isToken(piece, now![i]!));
  return made ? starred(old!, now!) : undefined;
}

/** With a star for each piece that differs; undefined when more than a few do. The same that becomes the same again counts once. */
function starred(old: readonly string[], now: readonly string[]): string | undefined {
  const turns = new Set(old.flatMap((piece, i) => (piece === now[i] ? [] : [`${piece} ${now[i]}`])));
  if (turns.size > MOST_TOKENS) return undefined;
  return old.map((piece, i) => (piece === now[i] ? piece : '*')).join('');
}

/** What has stayed, whatever the rest is: for two looks a moment apart, at which whatever differs is made up. */
export function frameOf(before: string, after: string): string | undefined {
  const pieces = before === after ? undefined : aligned(before, after);
  return pieces && starred(...pieces);
}

/** What stands before the query, where the rest has other pieces, or too many that are others: a link that is signed anew. */
export function outlineOf(before: string, after: string): string | undefined {
  const old = pathOf(before);
  return before !== after && old.length < before.length && old === pathOf(after) ? `${old}?*` : undefined;
}

/** Up to the query, and to what stands in its place. */
function pathOf(reference: string): string {
  return /^[^?;#]*/.exec(reference)![0];
}

/** One piece became another, or fewer of its path and query did than stayed. */
export function hasStayed(before: string, after: string): boolean {
  const [server = '', path = ''] = frameOf(before, after)?.split(/(?<=^[a-z]+:\/\/[^/]*)(?=\/)/i) ?? [];
  const pieces: string[] = `${path || server}`.match(/[A-Za-z0-9]+|\*/g) ?? [];
  const gone = pieces.filter(piece => piece === '*').length;
  if (path && server.includes('*')) return false;
  return gone === 1 || (gone > 0 && gone < pieces.length - gone);
}

/** Whether a piece is all that names what is referred to, stands beside a name, or is of a place on the page. */
export type Names = 'alone' | 'beside' | 'place';

/** A piece that became another, and what stands around it: from all of the reference to the two signs beside it. */
interface StemTurn {
  readonly before: string;
  readonly after: string;
  /** Both are what a person would write. */
  readonly spoken: boolean;
  /** Both are longer than what names a video, a story or a file: signatures, sessions, invitations. */
  readonly signed: boolean;
  readonly names: Names;
  readonly around: readonly string[];
}

/** Of two references of which a frame has stayed. Pages have pictures and links of their own, but the same tokens in them. */
export function turnsOf(before: string, after: string): StemTurn[] {
  const frame = frameOf(before, after);
  if (frame === undefined) return [];
  const [old, now] = aligned(before, after)!;
  const masked = old.map((piece, i) => (piece === now[i] ? piece : '*'));
  const server = /^[a-z]+:\/\/[^/]*/i.exec(before)?.[0] ?? '';
  const turns = new Map<string, StemTurn>();
  for (const [i, piece] of old.entries()) {
    const turn = `${piece} ${now[i]}`;
    if (piece === now[i] || turns.has(turn)) continue;
    const rest = masked.slice(i).join('');
    const near = [masked.slice(i - 1, i).join('') + rest, masked.slice(Math.max(0, i - 2), i).join('') + rest];
    const beside = `${masked[i - 1] ?? ''} ${masked[i + 1] ?? ''}`;
    const around = [frame, masked.slice(0, i).join(''), ...near.map(each => `${server} ${each}`), beside];
    const spoken = isSpoken(piece) && isSpoken(now[i]!);
    const names = namesOf([...masked.slice(0, i), SPOT, ...masked.slice(i + 1)].join(''));
    const signed = Math.min(piece.length, now[i]!.length) >= LEAST_SIGNATURE;
    turns.set(turn, { before: piece, after: now[i]!, spoken, signed, names, around });
  }
  return [...turns.values()];
}

/** Signs of a token. What people share is named by fewer: a video by eleven. */
const LEAST_SIGNATURE = 16;

/** Stands for the piece in question. */
const SPOT = '\0';
/** The last step of a path but for its ending, or a value of a query whose path names no file but the program that answers. */
const LAST_STEP = /(?:^|\/)\0(?:\.\w{1,5})?\/?(?:[?#]|$)/;
const VALUE = /^[^?#]*\?(?:[^#]*&)?[^#&=]*=\0(?:[&#]|$)/;
const FILE = /^[^?#]*\.(?!php|aspx?|jsp|cgi|do|html?)\w{1,5}\?/;

/** `/watch?v=TOKEN`, `/embed/TOKEN`, `/files/TOKEN.pdf`: another token is another thing, where one beside a name may be another copy of it. */
function namesOf(reference: string): Names {
  if (LAST_STEP.test(reference) || (VALUE.test(reference) && !FILE.test(reference))) return 'alone';
  return /#.*\0/.test(reference) ? 'place' : 'beside';
}

/** Which pieces differ, as bits, of how many; of two with a frame. */
export function starsOf(before: string, after: string): { readonly pieces: number; readonly stars: number } {
  const [old, now] = aligned(before, after)!;
  if (old.length > MOST_STARRED) return { pieces: 0, stars: 0 };
  return { pieces: old.length, stars: old.reduce((bits, piece, i) => (piece === now[i] ? bits : bits | (1 << i)), 0) };
}

/** As many as there are bits. */
const MOST_STARRED = 30;

function isToken(a: string, b: string): boolean {
  if (/^[\w-]*[-_][\w-]*$/.test(a + b)) return isHyphened(a, b);
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
  if (run.length >= 24 || (run.slice(1).match(/[a-z][A-Z]|[A-Z][a-z]/g)?.length ?? 0) >= 3) return true;
  // Capitals where no name has them: each of a name's words has one, and more small letters.
  return (run.match(/[A-Z]{2,}[a-z]+|[A-Z][a-z](?=[A-Z])/g)?.length ?? 0) >= 2;
}

/** A word that can be said, or a number of few digits: what a person writes for a state, and machines rarely make up. */
function isSpoken(piece: string): boolean {
  if (/^\d+$/.test(piece)) return piece.length <= 4;
  return /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(piece) && /[aeiouy]/i.test(piece) && !/[^aeiouy]{4}|(.)\1\1/i.test(piece);
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

/** A character as an entity, decimal or hexadecimal, or as a %-code. */
const DISGUISED = /&#(?:x([0-7]?[0-9a-f])|([0-9]{2,3}));|%([0-7][0-9a-f])/gi;

/** An address however its characters were disguised. Entities are gone by now, but whoever escapes twice leaves some; %-codes may be doubled. */
export function plainAddress(reference: string): string {
  const covered = /\/email-protection#([0-9a-f]+)$/i.exec(reference)?.[1];
  let plain = covered ? uncovered(covered) : reference;
  for (let times = 0; times < 2 && /[%&]/.test(plain); times++) {
    plain = plain.replace(DISGUISED, (_, hex?: string, decimal?: string, code?: string) =>
      String.fromCharCode(decimal ? Number(decimal) : Number.parseInt((hex ?? code)!, 16)),
    );
  }
  return plain.toLowerCase();
}
