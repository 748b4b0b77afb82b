/** What code of the user's is shown of a page. */
import { LINK_NOFOLLOW, type Links, type Visit } from '../errand/visit.ts';
import { toUtf8 } from './analysis/charset.ts';
import type { Decider, PageQuestion } from './decider.ts';
import type { HookLink, HookPage } from './hooks.ts';
import type { Page, Response } from './stages.ts';

/** Beyond this a decider sees the beginning only, so that it knows how much memory it needs. */
const MOST_CONTENT = 1 << 20;

/** What came: the body without content coding, and the header lines. */
interface Came {
  readonly body: Uint8Array;
  readonly headers: Response['headers'];
}

export function questionOf({ wants }: Decider, visit: Visit, page: Page, came: Came): PageQuestion {
  const { url, title, language, mediaType, bytes, links, words } = page;
  const { status, depth, stage } = visit;
  const about = { url, title, language, mediaType, status, depth, bytes, words, first: stage === 'first' };
  if (wants === 'page') return { ...about, links: links.count, content: NOTHING, page: shownPage(about, page, came) };
  const content = wants === 'body' ? came.body : Buffer.from(wants === 'text' ? page.text() : '');
  return {
    ...about,
    links: links.count,
    content: content.length > MOST_CONTENT ? content.subarray(0, MOST_CONTENT) : content,
  };
}

const NOTHING = new Uint8Array(0);

type About = Omit<PageQuestion, 'links' | 'content' | 'page'>;

/** Its methods read what lies in this thread; nothing is made that is not asked for. */
function shownPage(about: About, page: Page, { body, headers }: Came): HookPage {
  return {
    ...about,
    header: name => headers.get(name.toLowerCase()),
    text: () => page.text(),
    html: () => Buffer.from(toUtf8(body, page.charset || 'utf-8')).toString(),
    body: () => Uint8Array.from(body), // a copy: this memory is used again
    links: () => linksOf(page.links),
  };
}

function linksOf({ count, urls, anchors, flags }: Links): HookLink[] {
  if (count === 0) return [];
  const texts = Buffer.from(anchors).toString().split('\n');
  const all = Buffer.from(urls).toString().split('\n');
  return all.map((url, i) => ({ url, text: texts[i] ?? '', nofollow: (flags[i]! & LINK_NOFOLLOW) !== 0 }));
}
