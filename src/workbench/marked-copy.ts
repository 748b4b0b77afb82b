/**
 * Marks in a copy what another version of the page does not have, for two versions shown side by side. It works on what
 * safe-copy.ts wrote, where every `<` begins a tag of ours and no tag has a `>` inside, and adds nothing but marks around
 * words and images: without them the copy is what it was. A mark never crosses a tag, so the page keeps its structure.
 *
 * Stretches of text between tags are aligned first, and words only where stretches differ, so that a long page with many
 * changes costs little, and one that changed at both ends is not marked all through.
 */
import type { EditRun } from '../base/myers.ts';
import { stretches } from '../home/copies/difference.ts';

/** An image, or what stands for one, is one piece; so is a sheet of the page, which like other tags is not compared. */
const PIECE = /<style>[^<]*<\/style>|<img [^>]*>|<span class="skein-image"[^>]*>[^<]*<\/span>|<[^>]*>|[^<]+/g;
const IMAGE = /^<img |^<span .*<\/span>$/s;

/** Id of the place of the first difference, which both sides have: a frame can be opened there. */
const FIRST = 'skein-first';
const PLACE = `<span id="${FIRST}"></span>`;

const MARKS = {
  came: ['<ins class="skein-came">', '</ins>'],
  went: ['<del class="skein-went">', '</del>'],
} as const;

/** `!important`, because the page has a sheet of its own that may say anything. */
export const MARK_SHEET = `[data-current]{outline:3px solid #0a6b62!important}.skein-came,.skein-went{border-radius:3px;padding:0 2px}#${FIRST}{scroll-margin:120px}
.skein-came{background:#d2f4db!important;color:#0c4a22!important;text-decoration:underline!important}
.skein-went{background:#ffe1de!important;color:#8a1c13!important;text-decoration:line-through!important}`;

/** `body` with marks around what `other` does not have: as what came since that version, or as what went until it. */
export function marked(body: string, other: string, as: 'came' | 'went'): string {
  const { units, first } = unitsOf(body, other, as);
  const [open, close] = MARKS[as];
  let at = 0;
  const next = (unit: string): string => {
    const place = at === first ? PLACE : '';
    return `${place}${units[at++] ? `${open}${unit}${close}` : unit}`;
  };
  const text = body.replace(PIECE, piece => {
    if (IMAGE.test(piece)) return next(piece);
    return piece.startsWith('<') ? piece : piece.replace(/\S+/g, next);
  });
  // Marked words that follow each other in one stretch are one mark.
  const joined = text.replace(new RegExp(`${close}(\\s+)${open}`, 'g'), '$1');
  return at === first ? joined + PLACE : joined;
}

/** For each unit of `body` (a word, an image) whether only this side has it, and where the first difference is. */
function unitsOf(body: string, other: string, as: 'came' | 'went'): { units: boolean[]; first: number } {
  const units: boolean[] = [];
  let first = -1;
  const [mine, theirs] = [stretchesOf(body), stretchesOf(other)];
  for (const { kind, items } of as === 'came' ? runsOf(theirs, mine) : runsOf(mine, theirs)) {
    if (kind !== 'same' && first < 0) first = units.length;
    const here = kind === 'same' || (kind === 'added') === (as === 'came');
    if (here) for (const _ of items) units.push(kind !== 'same');
  }
  return { units, first };
}

/** The units of each piece that has any. */
function stretchesOf(body: string): string[][] {
  const pieces = body.match(PIECE) ?? [];
  return pieces
    .map(piece =>
      IMAGE.test(piece) ? [piece.replaceAll('\n', ' ')] : piece.startsWith('<') ? [] : (piece.match(/\S+/g) ?? []),
    )
    .filter(units => units.length > 0);
}

/** What differs, unit by unit. Stretches are compared as one string each, joined by a character that no unit has. */
function runsOf(before: readonly string[][], after: readonly string[][]): EditRun[] {
  const joined = (pieces: readonly string[][]) => pieces.map(units => units.join('\n'));
  const parted = (pieces: readonly string[]) => pieces.flatMap(piece => piece.split('\n'));
  return stretches(joined(before), joined(after), parted).flatMap((stretch): readonly EditRun[] =>
    stretch.kind === 'same' ? [{ kind: 'same', items: parted(stretch.blocks) }] : stretch.words,
  );
}
