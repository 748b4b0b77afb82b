/** What hooks answer, read into what the crawler goes by; throws in words what cannot be had. */
import type { PageVerdict } from '../../crawler/decider.ts';
import { isFieldValue } from '../../crawler/fetch/http1-head.ts';
import type { PageWish, RequestTerms, RequestWish } from '../../crawler/hooks.ts';

/** Bytes of JSON that a page may leave, URLs that it may add, header lines that a request may get. */
const MOST_DATA = 65_536;
const MOST_ADDED = 1000;
const MOST_HEADERS = 50;

/** Header lines that say how the request is made, or who makes it: those are Skein's own. */
const OURS = new Set([
  ...['host', 'user-agent', 'accept-encoding', 'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'content-length', 'content-type', 'expect', 'range', 'if-range'],
  ...['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'from', 'via'],
]);

const REQUEST_WISHES: ReadonlySet<string> = new Set<keyof RequestWish>(['headers', 'skip']);
const PAGE_WISHES: ReadonlySet<string> = new Set<keyof PageWish>(['keep', 'follow', 'priority', 'add', 'data']);

/** A wish that is misspelt would do nothing. */
function checkNames(wish: object, known: ReadonlySet<string>): void {
  for (const name in wish)
    if (!known.has(name)) throw new Error(`"${name}" is none of what it may answer: ${[...known].join(', ')}`);
}

/** Of a request. */
export function termsOf(wish: RequestWish | undefined): RequestTerms | undefined {
  if (wish === undefined || wish === null) return undefined;
  checkNames(wish, REQUEST_WISHES);
  const { headers = {}, skip = false } = wish;
  const lines = Object.entries(headers);
  if (lines.length > MOST_HEADERS) throw new Error(`it adds more than ${MOST_HEADERS} headers`);
  for (const [name, value] of lines) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) throw new Error(`"${name}" is not a valid header name`);
    if (OURS.has(name.toLowerCase())) throw new Error(`Skein sets the header ${name} itself`);
    if (typeof value !== 'string' || value.length > 8000 || !isFieldValue(value))
      throw new Error(`the header ${name} cannot have this value`);
  }
  const accept = lines.find(([name]) => name.toLowerCase() === 'accept')?.[1];
  const others = lines.filter(([name]) => name.toLowerCase() !== 'accept');
  return { skip: skip === true, headers: others, ...(accept !== undefined && { accept }) };
}

/** Of a page. */
export function verdictOf(wish: PageWish | undefined): PageVerdict {
  if (wish === undefined || wish === null) return AS_IT_IS;
  checkNames(wish, PAGE_WISHES);
  const { keep = true, follow = true, priority = 0, add = [], data } = wish;
  if (!Array.isArray(add) || add.length > MOST_ADDED) throw new Error(`"add" is a list of at most ${MOST_ADDED} URLs`);
  const json = data === undefined ? undefined : JSON.stringify(data);
  if (json === undefined && data !== undefined) throw new Error('"data" is something that JSON cannot say');
  if (json !== undefined && Buffer.byteLength(json) > MOST_DATA)
    throw new Error(`"data" is more than ${MOST_DATA} bytes of JSON`);
  return {
    keep: keep !== false,
    follow: follow !== false,
    relevance: byteOf(priority),
    ...(add.length > 0 && { add: add.map(addedOf) }),
    ...(json !== undefined && { data: json }),
  };
}

const AS_IT_IS: PageVerdict = { keep: true, follow: true, relevance: 0 };

function addedOf(each: unknown): { url: string; relevance: number } {
  const { url, priority = 0 } = (typeof each === 'string' ? { url: each } : (each ?? {})) as {
    url?: unknown;
    priority?: number;
  };
  if (typeof url !== 'string') throw new Error('"add" has something that is not a URL');
  return { url, relevance: byteOf(priority) };
}

function byteOf(priority: unknown): number {
  return Math.max(0, Math.min(255, Math.round(Number(priority)) || 0));
}
