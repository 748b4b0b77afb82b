/**
 * Servers that answer 200 where they have no page ("soft 404"). A short page whose title says that something was not
 * found, or one that is another than when it was last seen, raises the suspicion; then a path that cannot exist is asked
 * for beside that page, once a server. What comes back is kept as a print, and every page with the same print is gone.
 * The address is left out of the print, because such pages like to repeat it. Where that other page still says what it said
 * before, and the path that cannot exist does not, there is no such print: the server answers any path with one template.
 *
 * The front page of a server is never taken for missing.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Facts, unpackFacts } from '../../errand/facts.ts';
import type { Page } from '../stages.ts';

/** Bytes of a print; an empty one says that the server answers as it should. */
const PRINT_BYTES = 16;
/** Pages with more words say more than that something is missing. */
const MOST_WORDS = 400;
const SUSPICIOUS =
  /\b404\b|not found|no longer (?:available|exists)|does ?n[o']t exist|page (?:is )?missing|nicht gefunden|introuvable|no encontrad|non trovat|não encontrad|niet gevonden|nie znaleziono|hittades inte|ikke fundet|ei löyty|не найден|bulunamadı|見つかりません|找不到|찾을 수 없/i;

export class MissingPages {
  #print: Uint8Array | undefined;
  /** The one look for the not-found page, so that walks side by side do not repeat it. */
  looking: Promise<void> | undefined;

  /** `print`: what home knows; undefined = nobody has looked yet. */
  constructor(print: Uint8Array | undefined) {
    this.#print = print;
  }

  /** Undefined until someone has looked. */
  get print(): Uint8Array | undefined {
    return this.#print;
  }

  /** Worth looking for the server's not-found page. `before`: the page as it was last seen. */
  suspects(page: Page, before: Facts | undefined): boolean {
    if (this.#print !== undefined || page.words > MOST_WORDS) return false;
    const odd = SUSPICIOUS.test(page.title) || (before !== undefined && !isSame(before, page.facts));
    return odd && isShort(page);
  }

  /** The page is the server's not-found page. */
  has(page: Page): boolean {
    const print = this.#print;
    return print !== undefined && print.length > 0 && isShort(page) && Buffer.compare(print, printOf(page)) === 0;
  }

  /** `page`: what came for a path that cannot exist; undefined = no page, as it should be. `suspect`: who raised the suspicion. */
  learn(page: Page | undefined, suspect?: Suspect): void {
    const tells = page && isShort(page) && !(suspect && keepsItsOwn(suspect, page));
    this.#print = tells ? printOf(page) : new Uint8Array(0);
  }
}

interface Suspect {
  readonly page: Page;
  /** Facts of the page as it was last seen. */
  readonly before: Uint8Array | undefined;
}

/**
 * It still says what it said before, and what comes for a path that cannot exist does not say it: a server that answers any
 * path with one template has no page for those that are missing.
 */
function keepsItsOwn({ page, before }: Suspect, missing: Page): boolean {
  const known = before && unpackFacts(before);
  if (!known) return false;
  const template = new Set(unpackFacts(missing.facts)!.blocks);
  const now = new Set(unpackFacts(page.facts)!.blocks);
  return known.blocks.some(block => now.has(block) && !template.has(block));
}

function isSame(before: Facts, after: Uint8Array): boolean {
  return Buffer.compare(before.content, unpackFacts(after)!.content) === 0;
}

function isShort(page: Page): boolean {
  return page.words <= MOST_WORDS && new URL(page.url).pathname !== '/';
}

function printOf(page: Page): Uint8Array {
  const { pathname } = new URL(page.url);
  const segments = pathname.split('/').filter(segment => segment.length > 2);
  let text = `${page.title}\n${page.text()}`.replaceAll(pathname, '');
  for (const segment of segments) text = text.replaceAll(segment, '');
  return new Uint8Array(hash('sha256', text.replace(/\s+/g, ' '), 'buffer').subarray(0, PRINT_BYTES));
}

/** Whether impossibleUrl made it. */
export function isImpossible(url: string): boolean {
  return /\/no-such-page-[0-9a-f]{16}(?:\.[a-z0-9]{1,5})?$/i.test(url);
}

/** An address beside `url` that no page has. */
export function impossibleUrl(url: string): string {
  const ending = /\.[a-z0-9]{1,5}$/i.exec(new URL(url).pathname)?.[0] ?? '';
  return new URL(`no-such-page-${randomBytes(8).toString('hex')}${ending}`, url).href;
}
