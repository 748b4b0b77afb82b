/**
 * From what a page says to the HTML around it. The template has the furniture of real pages (navigation, footer, style,
 * script), which a redesign replaces, and slots for noise, which differ at every request.
 */
import type { Noise } from './options.ts';
import { hashOf, mix, share } from './random.ts';
import type { Hit } from './site.ts';
import { sentence, title as titleOf } from './words.ts';

export interface Link {
  readonly href: string;
  readonly anchor: string;
  readonly rel?: string;
}

export interface Document {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** Paragraphs under one heading each, instead of one run of them. */
  readonly sections: boolean;
  readonly links: readonly Link[];
  /** URLs of pictures. */
  readonly images: readonly string[];
  /** Lines for the head, such as meta robots. */
  readonly head: readonly string[];
  readonly language: string;
}

export interface Dress {
  /** How often the site was redesigned. */
  readonly design: number;
  readonly noise: readonly Noise[];
  readonly hit: Hit;
  /** Makes the noise of this page differ from that of others. */
  readonly hash: number;
}

export const blank: Document = {
  title: '',
  paragraphs: [],
  sections: false,
  links: [],
  images: [],
  head: [],
  language: 'en',
};

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}

export function render(page: Document, dress: Dress): string {
  const { design } = dress;
  const box = design % 2 === 0 ? 'div' : 'section';
  const name = `d${design}-${(hashOf(design, 5) & 0xfff).toString(16)}`;
  const noisy = (kind: Noise): string => (dress.noise.includes(kind) ? noise(kind, dress) : '');
  return `<!DOCTYPE html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<title>${escapeHtml(page.title)}</title>
${page.head.join('\n')}
<style>.${name} { margin: ${design + 1}em; }</style>
<script>var page = "<a href='/not-a-link.html'>";</script>
${noisy('csrf')}
</head>
<body class="${name}">
<header><p>Synthetic web, design ${design}</p>${noisy('personal')}</header>
<${box} class="${name} content"><main>
<h1>${escapeHtml(page.title)}</h1>
${page.paragraphs.map((text, index) => block(text, index, page.sections)).join('\n')}
${page.images.map(source => `<img src="${source}" alt="picture">`).join('\n')}
${list(page.links)}
</main></${box}>
${noisy('ad')}
<footer>${noisy('timestamp')}${noisy('counter')}<p>End of page</p></footer>
</body>
</html>
`;
}

function block(text: string, index: number, sections: boolean): string {
  return sections
    ? `<section><h2>Part ${index + 1}</h2><p>${escapeHtml(text)}</p></section>`
    : `<p>${escapeHtml(text)}</p>`;
}

function list(links: readonly Link[]): string {
  if (links.length === 0) return '';
  const items = links.map(({ href, anchor, rel }) => {
    const relation = rel === undefined ? '' : ` rel="${rel}"`;
    return `<li><a href="${escapeHtml(href)}"${relation}>${escapeHtml(anchor)}</a></li>`;
  });
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

/** Each kind changes with the number of requests or with time, and never with the content. */
function noise(kind: Noise, { hit, hash }: Dress): string {
  const fresh = hashOf(hash, hit.count, Math.floor(hit.time / 1000));
  switch (kind) {
    case 'csrf':
      return `<meta name="csrf-token" content="${hex(fresh)}${hex(mix(fresh, 1))}">`;
    case 'timestamp':
      return `<p class="time">Generated ${new Date(hit.time).toISOString()} in ${(share(fresh) * 90).toFixed(1)} ms</p>`;
    case 'counter':
      return `<p class="counter">${1000 + hit.count} visitors</p>`;
    case 'ad':
      return `<aside class="advertisement"><a href="http://advertiser.invalid/c?id=${hex(fresh)}">${titleOf(fresh)}</a> <span>${sentence(fresh)}</span></aside>`;
    case 'personal':
      return `<div class="greeting">Good day, visitor ${fresh % 1000}. ${sentence(mix(fresh, 2))}</div>`;
  }
}

function hex(hash: number): string {
  return hash.toString(16).padStart(8, '0');
}
