/**
 * A page in pieces that can be searched by meaning: one for each heading, and more where a section is long. An id stays
 * while the headings above do; the hash says whether the words below it are the same. A chunk is a function of the page
 * alone, so that an edit elsewhere never makes it another.
 */
import { createHash } from 'node:crypto';
import type { Extracted } from './page.ts';
import { type BlockPieces, piecesOf } from './pieces.ts';

export interface Chunk {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  /** Headings above, the outermost first. */
  readonly path: readonly string[];
  /** Of the content; what it stands below is not part of it. */
  readonly hash: string;
  readonly markdown: string;
}

/** Characters from which a part may end, and at which it does; a block that is longer is cut itself. */
const ENOUGH = 1000;
const TOO_MANY = 4000;
/** One of so many blocks, and of so many pieces of a long one, ends a part that is long enough: its end depends on what is there, not on what is before. */
const BLOCK_ENDS = 4;
const PIECE_ENDS = 16;

export function chunksOf({ title, blocks }: Extracted, url: string): Chunk[] {
  const seen = new Map<string, number>();
  const chunks: Chunk[] = [];
  const headings: { level: number; text: string }[] = [];
  const part = new ChunkInMaking();
  /** What the part before ended with, where it is of the same section: it names this one, so that others keep their names. */
  let behind = '';
  const end = (last: string) => {
    const markdown = part.take();
    if (markdown !== '') {
      const path = headings.map(({ text }) => text);
      const key = JSON.stringify([url, path, behind]);
      const number = seen.get(key) ?? 0;
      seen.set(key, number + 1);
      chunks.push({ id: digest(`${key} ${number}`), url, title, path, hash: digest(markdown), markdown });
    }
    behind = last;
  };
  for (const block of blocks) {
    if (block.kind === 'heading') {
      end('');
      while (headings.length > 0 && headings.at(-1)!.level >= block.level) headings.pop();
      headings.push({ level: block.level, text: block.text });
    } else if (block.markdown.length <= TOO_MANY) {
      part.add(block.markdown);
      const said = beginning(block.text);
      if (part.endsWith(said, BLOCK_ENDS)) end(said);
    } else {
      for (const pieces of piecesOf(block, TOO_MANY)) {
        for (const unit of pieces.units) {
          part.addUnit(unit, pieces);
          const said = beginning(unit);
          if (part.endsWith(said, PIECE_ENDS)) end(said);
        }
      }
    }
  }
  end('');
  return chunks;
}

/** What a block begins with: most edits are behind it, so that they move no end. An item's number says only how many are before it. */
function beginning(text: string): string {
  return text
    .replace(/^\d+\. /, '')
    .trim()
    .slice(0, 80);
}

/** Blocks, and runs of pieces of long ones, that make a chunk. */
class ChunkInMaking {
  #blocks: string[] = [];
  #length = 0;
  /** Of the last block, where it is one in pieces. */
  #open: BlockPieces | undefined;

  add(markdown: string): void {
    this.#close();
    this.#blocks.push(markdown);
    this.#length += markdown.length;
  }

  addUnit(unit: string, of: BlockPieces): void {
    if (this.#open !== of) {
      this.add(of.head);
      this.#open = of;
    }
    this.#blocks.push(`${this.#blocks.pop()}${unit}`);
    this.#length += unit.length;
  }

  /** Whether a part that has just been given this ends with it. */
  endsWith(text: string, oneOf: number): boolean {
    if (this.#length < ENOUGH) return false;
    return this.#length >= TOO_MANY || Number.parseInt(digest(text).slice(0, 4), 16) % oneOf === 0;
  }

  take(): string {
    this.#close();
    const markdown = this.#blocks.join('\n\n');
    this.#blocks = [];
    this.#length = 0;
    return markdown;
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#blocks.push(`${this.#blocks.pop()}${this.#open.foot}`.trimEnd());
    this.#open = undefined;
  }
}

interface ChunkChanges {
  readonly added: readonly Chunk[];
  readonly changed: readonly Chunk[];
  readonly removed: readonly Chunk[];
}

export function chunkChanges(before: readonly Chunk[], after: readonly Chunk[]): ChunkChanges {
  const old = new Map(before.map(chunk => [chunk.id, chunk]));
  const now = new Set(after.map(({ id }) => id));
  return {
    added: after.filter(({ id }) => !old.has(id)),
    changed: after.filter(({ id, hash }) => old.has(id) && old.get(id)!.hash !== hash),
    removed: before.filter(({ id }) => !now.has(id)),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
