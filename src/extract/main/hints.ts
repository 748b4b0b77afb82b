/** What elements say of themselves: tags, roles and names that are about the page around the content, not about it. */
import { type ChildNode, type Element, firstOf, isTag, isText, plainText } from '../tree.ts';

const never: ReadonlySet<string> = new Set([
  ...['script', 'style', 'noscript', 'template', 'link', 'meta', 'iframe', 'object', 'embed', 'canvas', 'svg'],
  ...['button', 'input', 'select', 'textarea', 'nav', 'footer', 'dialog', 'menu', 'datalist', 'audio', 'video'],
]);
const roles =
  /^(?:navigation|banner|contentinfo|search|dialog|alertdialog|menu|menubar|complementary|toolbar|tablist)$/;

export function isNeverContent(element: Element): boolean {
  return (
    (never.has(element.name) && !isFormula(element) && !isDiagram(element)) || roles.test(element.attribs['role'] ?? '')
  );
}

/** As MathJax finds it in pages: TeX in a script. */
export function isFormula({ name, attribs }: Element): boolean {
  return name === 'script' && /^math\/tex\b/i.test(attribs['type'] ?? '');
}

/** A drawing with words in it; icons have none. */
function isDiagram(element: Element): boolean {
  return element.name === 'svg' && firstOf(element, ({ name }) => name === 'text') !== undefined;
}

export function isHidden({ attribs }: Element): boolean {
  return (
    attribs['hidden'] !== undefined ||
    attribs['aria-hidden'] === 'true' ||
    /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribs['style'] ?? '')
  );
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(word => word !== '');

/** Class and id, as words in small letters: the class `navHeader-top` is `nav header top`. */
function namesOf(element: Element): string[] {
  const classes = (element.attribs['class'] ?? '').replace(/([a-z])([A-Z])/g, '$1 $2');
  return [...wordsOf(classes), ...idWords(element)];
}

const labels = /^(?:h[1-6]|dt|dd|a)$/;

/**
 * Ids name elements, or what these explain. Documentation has `isPopupMenuVisible`, so that large letters take nothing apart,
 * `http.cookies.BaseCookie` and `skip(long)`; headings and terms are named after themselves, and sections after their
 * headings: `file-menu-shell-and-editor`. One word says too little to tell that from `related` or `footer`.
 */
function idWords(element: Element): string[] {
  const id = element.attribs['id'] ?? '';
  if (!/^[\w-]*$/.test(id) || labels.test(element.name)) return [];
  const words = wordsOf(id);
  if (words.length < 2 || !words.some(word => negative.has(word)) || !isSection(element)) return words;
  const heading = firstOf(element, ({ name }) => /^h[1-6]$/.test(name));
  const said = new Set(heading && wordsOf(plainText(heading)));
  return words.every(word => said.has(word)) ? [] : words;
}

function isSection({ name, attribs }: Element): boolean {
  return name === 'section' || /^(?:section|sect\d)$/.test(attribs['class'] ?? '');
}

const negative: ReadonlySet<string> = new Set(
  `nav navbar navigation navheader navfooter navbox menu sidebar aside footer breadcrumb breadcrumbs pagination pager paging
   disqus respond reply share sharing social sharedaddy related recommend recommended recommendations
   promo promotion promoted sponsor sponsored advert advertisement advertising ad ads adsense banner cookie cookies consent
   newsletter subscribe subscription signup login popup modal overlay toolbar skip tags tag taglist catlinks printfooter
   trending popular outbrain taboola masthead titlearea widget print hidden jump editsection`.split(/\s+/),
);
/** What an article shows of others on purpose. */
const shown: ReadonlySet<string> = new Set(['embed', 'embedded', 'tweet', 'quote', 'pullquote']);

/** Readers' comments begin so; what ends so may be a comment of the author's. */
const comments = /(?:^|\s)comments?(?![a-z])/i;

export function isComments({ attribs }: Element): boolean {
  return comments.test(attribs['class'] ?? '') || comments.test(attribs['id'] ?? '');
}

export function hasNegativeName(element: Element): boolean {
  // Rows are named after what they say.
  if (element.name === 'tr') return false;
  const names = namesOf(element);
  const named = names.some(word => negative.has(word)) || isComments(element);
  return (element.name === 'aside' || named) && !names.some(word => shown.has(word));
}

/** Who owns the rights of a page: on short ones that may be more than they say. */
export function isImprint(element: Element): boolean {
  return namesOf(element).includes('footer') && /©|\bcopyright\b/i.test(plainText(element).slice(0, 200));
}

const about: ReadonlySet<string> = new Set([
  'byline',
  'author',
  'authors',
  'dateline',
  'timestamp',
  'date',
  'credit',
  'pubdate',
  'bio',
]);

/** Who wrote an article, and when. */
export function isByline(element: Element): boolean {
  return element.name === 'h1' || element.name === 'time' || namesOf(element).some(word => about.has(word));
}

/** Nodes that are passed on the way back from a heading. */
const PASSED = 12;

/**
 * The fragment of the address that leads to a heading; empty = nothing does. Generators put the name on the heading, in it,
 * on the section that begins with it, or on an empty element right before it; a link in the heading gives it away, too.
 */
export function anchorOf(heading: Element): string {
  return nameOf(heading) || nameIn(heading) || linkIn(heading) || nameBefore(heading);
}

function nameOf({ name, attribs }: Element): string {
  return attribs['id'] ?? (name === 'a' ? (attribs['name'] ?? '') : '');
}

function nameIn(element: Element): string {
  const named = firstOf(element, each => nameOf(each) !== '');
  return named ? nameOf(named) : '';
}

function linkIn(heading: Element): string {
  const link = firstOf(heading, ({ attribs }) => /^#./.test(attribs['href'] ?? ''));
  return link ? decoded(link.attribs['href']!.slice(1)) : '';
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment; // percent signs that are no UTF-8
  }
}

/** On what stands before it and shows nothing, or on what begins with it. */
function nameBefore(heading: Element): string {
  let node: ChildNode = heading;
  for (let passed = 0; passed < PASSED; passed++) {
    const prev: ChildNode | null = node.prev;
    if (prev === null) {
      if (!node.parent || !isTag(node.parent) || node.parent.name === 'body') return '';
      node = node.parent;
    } else {
      if (shows(prev)) return '';
      node = prev;
    }
    const name: string = isTag(node) ? nameOf(node) || (node === prev ? nameIn(node) : '') : '';
    if (name !== '') return name;
  }
  return '';
}

function shows(node: ChildNode): boolean {
  if (isText(node)) return /\S/.test(node.data);
  return isTag(node) && (node.name === 'img' || node.children.some(shows));
}
