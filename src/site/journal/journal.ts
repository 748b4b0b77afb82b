/**
 * What a site has and how it came to that: append-only, one line a change. A reader's cursor names a number and the chain
 * there; the journal says what happened since, or that it no longer knows, or that its history is another one.
 *
 * Invariants: what `append` returned from is on the disk; a line that a crash tore is cut off when it is opened again;
 * numbers rise by one; `at` rises from batch to batch. One process writes it (lock.ts).
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { PRIVATE } from '../../base/file.ts';
import type { Operation } from '../../notices/site/changes.ts';
import { type Cursor, encodeCursor } from '../../notices/site/paths.ts';
import {
  type Entry,
  entryLine,
  headLine,
  type JournalPage,
  readEntry,
  readHead,
  readState,
  stateLine,
} from './lines.ts';

/** Changes that a reader may lag behind. */
const KEPT = 50_000;

interface JournalOptions {
  readonly directory: string;
  readonly now: () => number;
  /** Changes that are kept; older cursors are told that they are too old. */
  readonly keep?: number;
  /** Only looked at: nothing is cut off, and nothing can be appended. */
  readonly readOnly?: boolean;
}

type Since =
  | { readonly kind: 'changes'; readonly entries: readonly Entry[] }
  | { readonly kind: 'too-old' }
  | { readonly kind: 'other-history' };

export class Journal {
  readonly #file: string;
  readonly #keep: number;
  readonly #now: () => number;
  readonly #pages = new Map<string, JournalPage>();
  #entries: Entry[] = [];
  #first = 0;
  #firstChain = '';
  #descriptor: number | undefined;
  /** Bytes of whole lines. */
  #length = 0;
  readonly #listeners = new Set<(entries: readonly Entry[]) => void>();

  constructor({ directory, now, keep = KEPT, readOnly = false }: JournalOptions) {
    this.#file = join(directory, 'journal');
    this.#keep = keep;
    this.#now = now;
    if (existsSync(this.#file)) this.#read(readOnly);
    else this.#firstChain = randomBytes(8).toString('hex');
  }

  /** False: the first inventory has not been made yet. */
  get begun(): boolean {
    return this.#descriptor !== undefined;
  }

  get pages(): ReadonlyMap<string, JournalPage> {
    return this.#pages;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get first(): number {
    return this.#first;
  }

  get cursor(): Cursor {
    const last = this.#entries.at(-1);
    return { sequence: last?.sequence ?? this.#first, chain: last?.chain ?? this.#firstChain };
  }

  /** Calls back after each batch that was written; returns how to stop that. */
  listen(listener: (entries: readonly Entry[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The first inventory: what is there already is no news to anybody. */
  begin(pages: Iterable<JournalPage>): void {
    for (const page of pages) this.#pages.set(page.path, page);
    this.#writeAnew();
  }

  append(changes: readonly { readonly operation: Operation; readonly page: JournalPage }[]): void {
    if (changes.length === 0) return;
    const { sequence, chain } = this.cursor;
    let before = chain;
    // Later than all before, so that a time tells what was written by then.
    const at = Math.max(this.#now(), (this.#entries.at(-1)?.at ?? -1) + 1);
    const entries: Entry[] = [];
    let text = '';
    for (const [i, { operation, page }] of changes.entries()) {
      const draft = { sequence: sequence + i + 1, operation, at, page };
      const written = entryLine(draft, before);
      before = written.chain;
      text += `${written.line}\n`;
      entries.push({ ...draft, chain: before });
    }
    this.#write(Buffer.from(text));
    for (const entry of entries) {
      this.#apply(entry);
      this.#entries.push(entry);
    }
    if (this.#entries.length > this.#keep * 2) this.#writeAnew();
    for (const listener of this.#listeners) listener(entries);
  }

  /** The body differs, but nothing that a reader sees: nobody is told. */
  touch(page: JournalPage): void {
    if (this.#pages.has(page.path)) this.#pages.set(page.path, page);
  }

  since({ sequence, chain }: Cursor): Since {
    if (sequence < this.#first) return { kind: 'too-old' };
    const at = sequence - this.#first;
    const known = at === 0 ? this.#firstChain : this.#entries[at - 1]?.chain;
    if (known !== chain) return { kind: 'other-history' };
    return { kind: 'changes', entries: this.#entries.slice(at) };
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #apply({ operation, page }: Entry): void {
    if (operation === 'delete') this.#pages.delete(page.path);
    else this.#pages.set(page.path, page);
  }

  #write(bytes: Buffer): void {
    const descriptor = this.#descriptor!;
    try {
      for (let at = 0; at < bytes.length; )
        at += writeSync(descriptor, bytes, at, bytes.length - at, this.#length + at);
      fdatasyncSync(descriptor);
      this.#length += bytes.length;
    } catch (error) {
      try {
        ftruncateSync(descriptor, this.#length);
      } catch {
        // The next write begins at the same place, and the next start cuts off what does not fit.
      }
      const full = (error as NodeJS.ErrnoException).code === 'ENOSPC';
      throw new SkeinError(full ? 'disk-full' : 'refused', `The journal cannot be written: ${systemWords(error)}.`);
    }
  }

  /** State, and as much history as is kept, in a new file that takes the place of the old one. */
  #writeAnew(): void {
    const dropped = Math.max(0, this.#entries.length - this.#keep);
    const last = this.#entries[dropped - 1];
    this.#first = last?.sequence ?? this.#first;
    this.#firstChain = last?.chain ?? this.#firstChain;
    this.#entries = this.#entries.slice(dropped);
    const head = { first: this.#first, chain: this.#firstChain };
    const lines = [headLine({ ...head, pages: this.#pages.size, entries: this.#entries.length })];
    for (const page of this.#pages.values()) lines.push(stateLine(page));
    let chain = this.#firstChain;
    for (const entry of this.#entries) {
      lines.push(entryLine(entry, chain).line);
      chain = entry.chain;
    }
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const fresh = openSync(`${this.#file}.new`, 'w+', PRIVATE);
    writeFileSync(fresh, bytes);
    fdatasyncSync(fresh);
    renameSync(`${this.#file}.new`, this.#file);
    this.close();
    this.#descriptor = fresh;
    this.#length = bytes.length;
  }

  #read(readOnly: boolean): void {
    const text = readFileSync(this.#file, 'utf8');
    let at = text.indexOf('\n') + 1;
    const head = readHead(text.slice(0, Math.max(0, at - 1)));
    if (head === undefined) throw this.#damaged('its first line is not that of a journal');
    const next = (): string | undefined => {
      const end = text.indexOf('\n', at);
      if (end < 0) return undefined;
      const line = text.slice(at, end);
      at = end + 1;
      return line;
    };
    this.#first = head.first;
    this.#firstChain = head.chain;
    for (let i = 0; i < head.pages; i++) {
      const page = readState(next() ?? '');
      if (page === undefined) throw this.#damaged(`line ${i + 2} is not a page`);
      this.#pages.set(page.path, page);
    }
    let whole = at;
    for (let line = next(); line !== undefined; line = next()) {
      const entry = readEntry(line, this.cursor.chain);
      if (entry === undefined) break;
      if (this.#entries.length >= head.entries) this.#apply(entry);
      this.#entries.push(entry);
      whole = at;
    }
    if (this.#entries.length < head.entries) throw this.#damaged('its history has a gap');
    if (!readOnly) this.#cut(text, whole);
  }

  /** Behind the last whole line: what a crash tore, which nobody was told of. More than that is damage. */
  #cut(text: string, whole: number): void {
    const rest = text.slice(whole);
    const torn = rest.indexOf('\n');
    if (torn >= 0 && torn < rest.length - 1) throw this.#damaged('the checksum of a line is wrong');
    this.#length = Buffer.byteLength(text.slice(0, whole));
    this.#descriptor = openSync(this.#file, 'r+');
    ftruncateSync(this.#descriptor, this.#length);
  }

  #damaged(what: string): SkeinError {
    return new SkeinError(
      'damaged',
      `The journal ${this.#file} is damaged: ${what}.`,
      'Move it away: Skein begins a new one, and readers reconcile with it by themselves.',
    );
  }
}

export function cursorText(journal: Journal): string {
  return encodeCursor(journal.cursor);
}
