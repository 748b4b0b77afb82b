/** What a stored page says of itself that the ledger does not keep: description, translations, requisites. */
import { Parser } from 'htmlparser2';
import { normalise } from '../base/url.ts';

interface Markup {
  readonly description: string;
  /** hreflang: language and URL. */
  readonly translations: readonly { readonly language: string; readonly url: string }[];
  /** Images, styles, scripts and media that the page needs, each once. */
  readonly requisites: readonly string[];
}

/** Most requisites that are read of one page. */
const MOST = 2000;
const needed = new Set(['stylesheet', 'icon', 'apple-touch-icon', 'mask-icon', 'manifest', 'preload', 'modulepreload']);
/** Elements whose `src` is part of the page. */
const sources = new Set(['img', 'script', 'source', 'video', 'audio', 'track', 'embed', 'input']);

export function readMarkup(html: string, url: string): Markup {
  let base = url;
  let description = '';
  const translations: { language: string; url: string }[] = [];
  const requisites = new Set<string>();
  const need = (reference: string | undefined) => {
    const target = reference === undefined || reference.trim() === '' ? undefined : normalise(reference, base);
    if (target !== undefined && requisites.size < MOST) requisites.add(target);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      const { href, rel = '', src } = attributes;
      if (name === 'base' && href !== undefined) base = normalise(href, url) ?? base;
      else if (name === 'meta' && attributes['name']?.toLowerCase() === 'description')
        description ||= (attributes['content'] ?? '').replace(/\s+/g, ' ').trim();
      else if (name === 'link' && href !== undefined) {
        const words = rel.toLowerCase().split(/\s+/);
        const language = attributes['hreflang'];
        const target = normalise(href, base);
        if (words.includes('alternate') && language !== undefined && target !== undefined)
          translations.push({ language: language.toLowerCase(), url: target });
        else if (words.some(word => needed.has(word))) need(href);
      } else if (sources.has(name)) need(src);
      if (name === 'object') need(attributes['data']);
      if (name === 'video') need(attributes['poster']);
      for (const part of (attributes['srcset'] ?? '').split(/,\s+/)) need(part.trim().split(/\s+/, 1)[0]);
    },
  });
  parser.end(html);
  return { description, translations, requisites: [...requisites] };
}
