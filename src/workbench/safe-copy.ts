/**
 * A stored page made fit to be shown: what a reader sees of it, and nothing that could act. Every tag is written anew
 * from a list of harmless elements and attributes, so whatever a browser would make of the original does not matter: the
 * output holds no `<` that was not written here. Links lead nowhere; images and style sheets must be in the page itself or
 * in the collection, from where they are written into the copy, so that nothing is ever asked of anybody; forms and everything that loads or runs is left out. The server adds a policy that forbids all of it once more.
 */
import { MARK_SHEET } from './marked-copy.ts';

/** Characters of a page that are shown. */
const MOST = 3_000_000;

const SHOWN = new Set(
  `a abbr address article aside b bdi bdo blockquote body br caption center cite code col colgroup dd del details dfn
   div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd li main mark nav ol p pre q
   rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var
   wbr label legend fieldset dialog menu`.split(/\s+/),
);
/** Left out with all that is in them. */
const SILENT = new Set(
  'script template textarea title iframe object applet audio video canvas svg math select xmp noembed noframes'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  `align alt bgcolor border cellpadding cellspacing class color colspan datetime dir height lang open reversed rowspan
   scope span start style title valign width`.split(/\s+/),
);
const IMAGE = /^data:image\/(png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]*$/i;
const NAME = /[a-zA-Z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;

/** What the collection has of the files that a page is shown with. Undefined: it has none, or it may not be shown. */
export interface PageAssets {
  /** A `data:` URL. */
  image(source: string): string | undefined;
  /** The text of a style sheet. */
  sheet(href: string): string | undefined;
}

const NO_ASSETS: PageAssets = { image: () => undefined, sheet: () => undefined };

/** Of HTML source; the result is the inside of a body. */
export function safeHtml(source: string, assets = NO_ASSETS): string {
  const html = source.length > MOST ? source.slice(0, MOST) : source;
  const out: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    out.push(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    at = tag(html, open, out, assets);
  }
  return out.join('');
}

/** Writes what may be shown of the tag at `open`; returns where the text goes on. */
function tag(html: string, open: number, out: string[], assets: PageAssets): number {
  const after = html[open + 1] ?? '';
  if (html.startsWith('<!--', open)) return endOf(html, '-->', open + 4);
  if (after === '!' || after === '?') return endOf(html, '>', open + 2);
  NAME.lastIndex = open + (after === '/' ? 2 : 1);
  const name = NAME.exec(html)?.[0].toLowerCase();
  if (name === undefined) {
    out.push('&lt;');
    return open + 1;
  }
  if (after === '/') {
    if (SHOWN.has(name)) out.push(`</${name}>`);
    return endOf(html, '>', open + 2);
  }
  const { attributes, end } = attributesOf(html, NAME.lastIndex);
  if (name === 'style') return style(html, end, out);
  if (SILENT.has(name)) return skip(html, name, end);
  if (name === 'img') out.push(image(attributes, assets));
  else if (name === 'link') out.push(linkedSheet(attributes, assets));
  else if (SHOWN.has(name)) out.push(`<${name}${written(attributes)}>`);
  return end;
}

function attributesOf(html: string, from: number): { attributes: Map<string, string>; end: number } {
  const attributes = new Map<string, string>();
  let at = from;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(html);
    if (!found) break;
    at = ATTRIBUTE.lastIndex;
    const name = found[1]!.toLowerCase();
    if (!attributes.has(name)) attributes.set(name, found[2] ?? found[3] ?? found[4] ?? '');
  }
  return { attributes, end: endOf(html, '>', at) };
}

function written(attributes: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [name, value] of attributes) {
    if (ATTRIBUTES.has(name)) text += ` ${name}="${quoted(name === 'style' ? harmlessStyle(value) : value)}"`;
    // Where a link would lead can be read, but not followed.
    else if (name === 'href' && !attributes.has('title')) text += ` title="${quoted(value)}"`;
  }
  return text;
}

function image(attributes: ReadonlyMap<string, string>, assets: PageAssets): string {
  const given = attributes.get('src') ?? '';
  const source = IMAGE.test(given) ? given : (assets.image(plainUrl(given)) ?? given);
  const text = attributes.get('alt') ?? '';
  if (IMAGE.test(source)) return `<img src="${quoted(source)}"${written(attributes)}>`;
  // Where it was can be read, too.
  return `<span class="skein-image" title="${quoted(source.slice(0, 200))}">${text === '' ? 'image' : quoted(text)}</span>`;
}

/** As an address is meant in an attribute. */
const plainUrl = (value: string): string => value.replaceAll('&amp;', '&').trim();

function linkedSheet(attributes: ReadonlyMap<string, string>, assets: PageAssets): string {
  const kinds = (attributes.get('rel') ?? '').toLowerCase().split(/\s+/);
  if (!kinds.includes('stylesheet') || kinds.includes('alternate')) return '';
  const css = assets.sheet(plainUrl(attributes.get('href') ?? ''));
  return css === undefined ? '' : `<style>${harmlessCss(css)}</style>`;
}

function style(html: string, from: number, out: string[]): number {
  const end = skip(html, 'style', from);
  out.push(`<style>${harmlessCss(html.slice(from, end).replace(/<\/style[\s\S]*$/i, ''))}</style>`);
  return end;
}

/** What CSS loads or runs things by. */
const LOADS = /@import|@namespace|\b(?:url|src|image|expression)\s*\(|image-set\s*\(|-moz-binding/gi;

/**
 * No `<`, so that it cannot end the element; nothing that would load, though the policy forbids that already. Escapes are
 * resolved first: `\75rl(` is `url(` to a browser. None is left, so that what is looked for is what a browser reads.
 */
function harmlessCss(css: string): string {
  return unescaped(css).replaceAll('<', '').replace(LOADS, 'none');
}

/** As an attribute: a browser resolves its entities first, and few of them are needed there. */
function harmlessStyle(value: string): string {
  const css = value.replace(/&(?:quot|apos|#39|#34);/gi, "'");
  return /&[#a-z]/i.test(css) ? '' : harmlessCss(css);
}

function unescaped(css: string): string {
  if (!css.includes('\\')) return css;
  return css
    .replace(
      /\\(?:([0-9a-f]{1,6})(?:\r\n|[ \t\r\n\f])?|\r\n|([^\\]))/gi,
      (_, code: string | undefined, plain: string | undefined) => {
        if (code === undefined) return plain === undefined || /[\r\n\f]/.test(plain) ? '' : plain;
        const point = Number.parseInt(code, 16);
        return point === 0 || point > 0x10ffff || point === 92 ? '' : String.fromCodePoint(point);
      },
    )
    .replaceAll('\\', '');
}

function skip(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}(?=[\\s/>]|$)`, 'gi');
  close.lastIndex = from;
  const found = close.exec(html);
  return found ? endOf(html, '>', close.lastIndex) : html.length;
}

function endOf(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found + mark.length;
}

/** For between double quotes, and for text. References that are there already stay what they are. */
function quoted(text: string): string {
  return text.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function escaped(text: string): string {
  return quoted(text.replaceAll('&', '&amp;'));
}

const SHEET = `html{color-scheme:light;background:#fff;color:#1b1f24;font:15px/1.5 system-ui,sans-serif}
body{margin:16px;overflow-wrap:anywhere}a{color:#0b5a8a;text-decoration:underline}pre{white-space:pre-wrap}
.skein-image{display:inline-block;border:1px dashed #8a929b;border-radius:4px;padding:1px 6px;color:#5a626b;font-size:13px}
img{max-width:100%;height:auto}table{max-width:100%}`;

export function safeDocument(body: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><style>${SHEET}${MARK_SHEET}</style></head><body>${body}</body></html>`;
}
