/**
 * What code from elsewhere is shown and what it answers, as bytes; docs/guides/deciders.md explains
 * them to those who write deciders. No JSON and no copy of a body that nobody asked for: a page costs a few hundred bytes.
 */
import { SkeinError } from '../../base/errors.ts';
import type { PageQuestion, PageVerdict, Wants } from '../../crawler/decider.ts';
import type { PageWish } from '../../crawler/hooks.ts';
import { verdictOf as wishedOf } from '../hooks/wishes.ts';

export const wantsOrder: readonly Wants[] = ['facts', 'text', 'body'];

export interface SandboxLimits {
  /** Bytes of memory, besides what Node itself needs. */
  readonly memory: number;
  /** Milliseconds for one page. */
  readonly time: number;
  /** Seconds of processor time in its whole life. */
  readonly processor: number;
}

export const sandboxLimits: SandboxLimits = { memory: 128 << 20, time: 2000, processor: 3600 };

/** Milliseconds that a cage may take to start with its code inside, besides the time for a page. */
export const STARTING = 10_000;

/** One life of a decider behind bars. */
export interface Cage {
  readonly wants: Wants;
  /** Shows it pages (encodeQuestions), not before all earlier ones are answered; it answers one by one, in this order. */
  show(pages: Uint8Array<ArrayBuffer>): void;
  close(): Promise<void>;
}

export interface CageEvents {
  /** About the first page shown that has no answer yet. */
  answer(bits: number, more: unknown): void;
  /** It has ended; nothing comes after that. */
  ended(why: string): void;
}

/** Starts the code; rejects with 'refused' when it does not load. */
export type OpenCage = (events: CageEvents) => Promise<Cage>;

/** Cages for one piece of code, one after another. */
export interface CageSource {
  readonly open: OpenCage;
  /** Lets go of what it holds ready. */
  close(): void;
}

/** Most pages that are shown at once. */
export const MOST_PAGES = 64;

/** Words of 32 bits in front of a page: see the table in docs/guides/deciders.md. */
const HEAD_WORDS = 12;
/** Characters of a title that are shown. */
const MOST_TITLE = 1000;
const FIRST = 1;

/** Pages one after another. */
export function encodeQuestions(questions: readonly PageQuestion[]): Uint8Array<ArrayBuffer> {
  const room = questions.reduce((sum, question) => sum + roomFor(question), 0);
  const bytes = Buffer.from(new ArrayBuffer(room));
  let end = 0;
  for (const question of questions) end = write(bytes, end, question);
  return new Uint8Array(bytes.buffer, 0, end);
}

/** The most bytes that it can take: a character is at most three of UTF-8 for each unit of its string. */
export function roomFor({ url, title, language, mediaType, content }: PageQuestion): number {
  const letters = url.length + Math.min(title.length, MOST_TITLE) + language.length + mediaType.length;
  return HEAD_WORDS * 4 + letters * 3 + content.length;
}

function write(bytes: Buffer<ArrayBuffer>, start: number, question: PageQuestion): number {
  const { status, depth, bytes: size, links, words, first, content } = question;
  let at = start + HEAD_WORDS * 4;
  const lengths = [question.url, question.title.slice(0, MOST_TITLE), question.language, question.mediaType].map(
    text => {
      const length = bytes.write(text, at);
      at += length;
      return length;
    },
  );
  bytes.set(content, at);
  at += content.length;
  const head = [at - start, first ? FIRST : 0, status, depth, size, links, words, ...lengths, content.length];
  for (const [i, value] of head.entries()) bytes.writeUInt32LE(value, start + i * 4);
  return at;
}

/** Low byte: relevance; then a bit for keep and one for follow. `more`: what a hook says besides; throws what is wrong with it. */
export function verdictOf(bits: number, more: unknown): PageVerdict {
  const verdict = { relevance: bits & 255, keep: (bits & 256) !== 0, follow: (bits & 512) !== 0 };
  if (more === undefined) return verdict;
  const { add, data } = more as PageWish;
  const { relevance, ...wished } = wishedOf({ keep: verdict.keep, follow: verdict.follow, add, data });
  return { ...wished, relevance: verdict.relevance };
}

export function misbehaved(why: string): SkeinError {
  return new SkeinError('refused', `The decider was ended: ${why}.`);
}
