/**
 * The site's own search box: a web component that asks the site, and the site asks home's index (`skein serve`). Home sees the
 * question and the site's own address, never who asked; what comes back is cut to pages of this site.
 */
import { originOf } from '../../base/url.ts';
import { type FaceAnswer, FaceError, json } from './request.ts';

const PATIENCE = 5000;
const MOST_BYTES = 1 << 20;
const LONGEST_QUERY = 150;
/** Answers that are kept, and for how long. */
const KEPT = 500;
const KEPT_FOR = 60_000;
const SCRIPT_FOR = 3_600_000;

interface KeptAnswer {
  readonly at: number;
  readonly answer: FaceAnswer;
}

interface HomeAnswer {
  readonly hits?: readonly { readonly url?: unknown }[];
  readonly facets?: readonly { readonly name?: unknown }[];
}

export class SearchBox {
  readonly #home: string;
  readonly #site: string;
  readonly #now: () => number;
  readonly #kept = new Map<string, KeptAnswer>();

  /** `home`: where `skein serve` answers; `site`: the public URL, with a slash at its end. */
  constructor(home: string, site: string, now: () => number) {
    this.#home = home.endsWith('/') ? home : `${home}/`;
    this.#site = site;
    this.#now = now;
  }

  /** The web component, as home serves it; it asks where it came from. */
  script(): Promise<FaceAnswer> {
    return this.#once('script', SCRIPT_FOR, async () => {
      const { type, text } = await this.#ask('widget.js');
      if (!/javascript/.test(type)) throw unreachable();
      return script(text);
    });
  }

  search(query: URLSearchParams): Promise<FaceAnswer> {
    const words = (query.get('q') ?? '').trim();
    if (words === '' || words.length > LONGEST_QUERY) {
      throw new FaceError('bad-request', `Write a question as ?q=, of ${LONGEST_QUERY} characters at most.`);
    }
    const limit = /^[1-9]\d?$/.test(query.get('limit') ?? '') ? query.get('limit')! : '10';
    return this.#once(`${limit} ${words}`, KEPT_FOR, async () => {
      const { host, pathname } = new URL(this.#site);
      const q = `(${closed(words)}) site:"${host}${pathname === '/' ? '' : pathname}"`;
      const { type, text } = await this.#ask(`search?${new URLSearchParams({ q, limit })}`);
      if (!/json/.test(type)) throw unreachable();
      return json({ ...this.#own(JSON.parse(text) as HomeAnswer), query: words });
    });
  }

  /** Whatever the question said, nothing of other sites leaves here. */
  #own(found: HomeAnswer): object {
    const isOwn = (url: unknown) =>
      typeof url === 'string' && url.startsWith(this.#site) && originOf(url) === originOf(this.#site);
    const hits = (found.hits ?? []).filter(({ url }) => isOwn(url));
    return { ...found, hits, facets: (found.facets ?? []).filter(({ name }) => name !== 'site') };
  }

  async #once(key: string, time: number, make: () => Promise<FaceAnswer>): Promise<FaceAnswer> {
    const known = this.#kept.get(key);
    if (known && this.#now() - known.at < time) return known.answer;
    const answer = await make();
    this.#kept.delete(key);
    this.#kept.set(key, { at: this.#now(), answer });
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    return answer;
  }

  async #ask(path: string): Promise<{ readonly type: string; readonly text: string }> {
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const answer = await fetch(this.#home + path, {
        redirect: 'error',
        signal,
        headers: { 'user-agent': 'skein-site' },
      });
      if (answer.status === 400) throw new FaceError('bad-request', 'The question cannot be understood.');
      if (answer.status !== 200) throw unreachable();
      return { type: answer.headers.get('content-type') ?? '', text: await bounded(answer) };
    } catch (error) {
      throw error instanceof FaceError ? error : unreachable();
    }
  }
}

const QUOTES = /["“”„«»]/g;

/**
 * The question as one that ends where it ends: parentheses that close what they have not opened would let its end stand
 * outside of the site, and how many pages of others there are is nobody's to know. Quotation marks are paired, and where
 * there are any parentheses count for nothing, so that neither hides the other.
 */
function closed(words: string): string {
  const marks = words.match(QUOTES)?.length ?? 0;
  const paired = marks % 2 === 0 ? words : `${words}"`;
  let depth = 0;
  for (const sign of words.match(/[()]/g) ?? []) {
    depth += sign === '(' ? 1 : -1;
    if (depth < 0) break;
  }
  return depth === 0 && marks === 0 ? words : paired.replace(/[()]/g, ' ');
}

function script(body: string): FaceAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'max-age=3600' },
    body,
  };
}

function unreachable(): FaceError {
  return new FaceError('not-ready', 'The search does not answer now.', 30);
}

async function bounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw unreachable();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
