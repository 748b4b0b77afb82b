/**
 * A fetcher for a server that sends pages as differences (RFC 9842): it names the copy that home holds, and what comes back
 * coded against that copy is the whole page again before the crawler sees it. The answer names the dictionary that it was made
 * with; one that names another, or that cannot be read, is asked for again as a whole page.
 */
import { hash } from 'node:crypto';
import { constants, zstdDecompressSync } from 'node:zlib';
import { originOf } from '../../../base/url.ts';
import type { Answer, Ask, Fetcher, Response } from '../../../crawler/stages.ts';
import type { Held } from './bulk-fetcher.ts';

/** A skippable frame of 32 bytes that holds the hash of the dictionary (RFC 9842 §5). */
const HEAD = Buffer.from('5e2a4d1820000000', 'hex');
const HEAD_BYTES = HEAD.length + 32;
const WINDOW = { [constants.ZSTD_d_windowLogMax]: 27 };

export class DictionaryFetcher implements Fetcher {
  readonly #fetcher: Fetcher;
  readonly #held: (url: string) => Promise<Held | undefined>;

  constructor(fetcher: Fetcher, held: (url: string) => Promise<Held | undefined>) {
    this.#fetcher = fetcher;
    this.#held = held;
  }

  async fetch(ask: Ask): Promise<Answer> {
    const copy = ask.method === undefined && ask.accept === undefined ? await this.#held(ask.url) : undefined;
    if (!copy || !mayServe(copy, ask.url)) return this.#fetcher.fetch(ask);
    const digest = hash('sha256', copy.body, 'buffer');
    const answer = await this.#fetcher.fetch({ ...ask, dictionary: `:${digest.toString('base64')}:` });
    if (answer.kind === 'failure' || answer.headers.get('content-encoding')?.trim().toLowerCase() !== 'dcz')
      return answer;
    const whole = wholeOf(answer, { dictionary: copy.body, digest, most: ask.maxBytes });
    return whole ?? this.#again(ask, answer);
  }

  async #again(ask: Ask, { wire }: Response): Promise<Answer> {
    const answer = await this.#fetcher.fetch(ask);
    const { up, down, total, firstByte } = answer.wire;
    return {
      ...answer,
      wire: { up: up + wire.up, down: down + wire.down, total: total + wire.total, firstByte },
    };
  }

  async locate(origin: string): Promise<string> {
    return (await this.#fetcher.locate?.(origin)) ?? '';
  }

  reuse(body: Uint8Array): void {
    this.#fetcher.reuse?.(body);
  }

  release(origin: string): void {
    this.#fetcher.release(origin);
  }

  close(): Promise<void> {
    return this.#fetcher.close();
  }
}

/** The server said of the copy that it may serve as a dictionary for this URL. Patterns beyond `*` are left alone. */
function mayServe({ headers }: Held, url: string): boolean {
  const pattern = /\bmatch="([^"]{1,2000})"/.exec(headers.get('use-as-dictionary') ?? '')?.[1];
  if (pattern === undefined || /[(){}:?\\]/.test(pattern)) return false;
  return matches(url.slice(originOf(url).length).split('?')[0]!, pattern.split('*'));
}

/** Takes the earliest place of each part, so that a hostile pattern costs one pass; a regular expression would go back and forth. */
function matches(path: string, parts: readonly string[]): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (parts.length === 1) return path === first;
  if (path.length < first.length + last.length || !path.startsWith(first) || !path.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= path.length - last.length;
}

interface HeldDictionary {
  readonly dictionary: Uint8Array;
  readonly digest: Buffer;
  readonly most: number;
}

function wholeOf(answer: Response, { dictionary, digest, most }: HeldDictionary): Response | undefined {
  const { body, truncated } = answer;
  const named = Buffer.concat([HEAD, digest]);
  if (truncated !== undefined || body.length <= HEAD_BYTES || named.compare(body, 0, HEAD_BYTES) !== 0)
    return undefined;
  try {
    const frame = body.subarray(HEAD_BYTES);
    const bytes = zstdDecompressSync(frame, { dictionary, maxOutputLength: most, params: WINDOW });
    return { ...answer, ...plainHead(answer), body: bytes, difference: true };
  } catch {
    return undefined; // it is no such frame, or larger than a page may be
  }
}

/** The head without how the body travelled. */
function plainHead({ head, headers }: Response): Pick<Response, 'head' | 'headers'> {
  const travel = ['content-encoding', 'content-length'];
  const lines = Buffer.from(head).toString('latin1').split('\r\n');
  const kept = lines.filter((line, i) => i === 0 || !travel.includes(line.split(':')[0]!.trim().toLowerCase()));
  return {
    head: Buffer.from(kept.join('\r\n'), 'latin1'),
    headers: new Map([...headers].filter(([name]) => !travel.includes(name))),
  };
}
