/**
 * A page in pieces that can be searched by meaning: one for each heading, and more where a section is long. An id stays
 * while the headings above do; the hash says whether the words below it are the same. A chunk is a function of the page
 * alone, so that an edit elsewhere never makes it another.
 */
import { createHash } from 'node:crypto';
import type { Block } from './inline.ts';
import type { Extracted } from './page.ts';

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

/** Characters from which a part may end, and at which it does. */
const ENOUGH = 1000;
const TOO_MANY = 4000;
/** One of so many blocks ends a part that is long enough: a part's end depends on what is there, not on what is before. */
const ENDS = 4;

export function chunksOf({ title, blocks }: Extracted, url: string): Chunk[] {
  const seen = new Map<string, number>();
  const chunks: Chunk[] = [];
  const headings: { level: number; text: string }[] = [];
  let part: Block[] = [];
  const end = () => {
    if (part.length === 0) return;
    const path = headings.map(({ text }) => text);
    const key = JSON.stringify([url, path]);
    const number = seen.get(key) ?? 0;
    seen.set(key, number + 1);
    const markdown = part.map(block => block.markdown).join('\n\n');
    chunks.push({ id: digest(`${key} ${number}`), url, title, path, hash: digest(markdown), markdown });
    part = [];
  };
  let length = 0;
  for (const block of blocks) {
    if (block.kind === 'heading') {
      end();
      while (headings.length > 0 && headings.at(-1)!.level >= block.level) headings.pop();
      headings.push({ level: block.level, text: block.text });
      length = 0;
      continue;
    }
    part.push(block);
    length += block.markdown.length;
    if (length < ENOUGH || (length < TOO_MANY && Number.parseInt(digest(block.text).slice(0, 4), 16) % ENDS > 0))
      continue;
    end();
    length = 0;
  }
  end();
  return chunks;
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
