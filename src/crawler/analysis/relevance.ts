/**
 * How much a link promises to a focused crawl, 0–255: what its anchor and its URL say, and how much the page it stands
 * on is about the keywords. A page without a match passes little on, so branches that lead away fade out.
 */
/** The page that links stand on. */
interface PageContext {
  /** Keywords; empty = relevance is 0. */
  readonly focus: readonly string[];
  /** What is visible of it. */
  readonly text: string;
}

/** Share of the link's own words; the rest comes from the page. */
const OWN = 0.65;
/** What one matching keyword is worth, before the share of keywords that match. */
const FIRST_MATCH = 0.6;
/** Mentions on a page after which a keyword counts in full. */
const ENOUGH = 3;

/** Relevance of each URL; all 0 without keywords. */
export function relevanceOf(page: PageContext, urls: readonly string[], anchors: Uint8Array): Uint8Array {
  const result = new Uint8Array(urls.length);
  const keywords = page.focus.map(word => word.toLowerCase()).filter(word => word !== '');
  if (keywords.length === 0) return result;
  const parent = pageRelevance(page.text, keywords);
  const texts = Buffer.from(anchors).toString().toLowerCase().split('\n');
  for (let i = 0; i < urls.length; i++) {
    const own = linkRelevance(`${texts[i]} ${decoded(urls[i]!)}`, keywords);
    result[i] = Math.round(255 * (OWN * own + (1 - OWN) * parent));
  }
  return result;
}

/** How much a text is about the keywords, 0–1. */
function pageRelevance(text: string, keywords: readonly string[]): number {
  const lower = text.toLowerCase();
  let sum = 0;
  for (const word of keywords) {
    let mentions = 0;
    for (let at = lower.indexOf(word); at >= 0 && mentions < ENOUGH; at = lower.indexOf(word, at + word.length))
      mentions++;
    sum += mentions / ENOUGH;
  }
  return sum / keywords.length;
}

function linkRelevance(text: string, keywords: readonly string[]): number {
  const matches = keywords.filter(word => text.includes(word)).length;
  return matches === 0 ? 0 : FIRST_MATCH + (1 - FIRST_MATCH) * (matches / keywords.length);
}

/** Path and query as words: the host says little that is not on every link. */
function decoded(url: string): string {
  const path = url.slice(url.indexOf('/', 8)).toLowerCase();
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // not UTF-8 behind the escapes: the plain letters still count
  }
}
