/** What a page says of itself for machines: JSON-LD, microdata, and meta elements such as OpenGraph's. */
import { addressOf } from './inline.ts';
import { type Document, type Element, elementsOf, everyOf, plainText } from './tree.ts';

/** A thing with properties; `@type` names what it is. */
export type Thing = { readonly [name: string]: unknown };

/** Levels of a thing that are read: strangers write them. */
const DEEPEST = 40;

export function jsonLdOf(tree: Document): Thing[] {
  const scripts = everyOf(tree, ({ name, attribs }) => name === 'script' && /ld\+json/i.test(attribs['type'] ?? ''));
  return scripts.flatMap(script => {
    try {
      return thingsIn(JSON.parse(script.children.map(child => ('data' in child ? child.data : '')).join('')), 0);
    } catch {
      return []; // What is no JSON says nothing; browsers pass over it, too.
    }
  });
}

/** Every object, outermost first, also those inside others. */
function thingsIn(value: unknown, depth: number): Thing[] {
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(each => thingsIn(each, depth + 1));
  return Array.isArray(value) ? inside : [value as Thing, ...inside];
}

export function microdataOf(tree: Document, base: string): Thing[] {
  const items = everyOf(tree, ({ attribs }) => attribs['itemscope'] !== undefined);
  return items.map(item => itemOf(item, base));
}

function itemOf(item: Element, base: string): Thing {
  const found: Record<string, unknown[]> = Object.create(null);
  const visit = (node: Element): void => {
    for (const child of elementsOf(node)) {
      const nested = child.attribs['itemscope'] !== undefined;
      for (const name of (child.attribs['itemprop'] ?? '').split(/\s+/).filter(Boolean)) {
        found[name] ??= [];
        found[name].push(nested ? itemOf(child, base) : propertyOf(child, base));
      }
      if (!nested) visit(child);
    }
  };
  visit(item);
  const type = item.attribs['itemtype']?.trim().split(/\s+/) ?? [];
  return { ...found, '@type': type.map(each => each.split(/[/#]/).at(-1)!) };
}

function propertyOf(element: Element, base: string): string {
  const { name, attribs } = element;
  if (attribs['content'] !== undefined) return attribs['content'];
  const address =
    attribs['href'] ?? (['img', 'source', 'video', 'audio', 'embed'].includes(name) ? attribs['src'] : undefined);
  if (address !== undefined) return addressOf(address, base) ?? '';
  return attribs['datetime'] ?? attribs['value'] ?? plainText(element);
}

/** Contents of `<meta property=…>` and `<meta name=…>`. */
export function metaOf(tree: Document, wanted: string): string[] {
  return everyOf(tree, ({ name, attribs }) => {
    const key = attribs['property'] ?? attribs['name'] ?? attribs['itemprop'] ?? '';
    return name === 'meta' && key.toLowerCase() === wanted.toLowerCase();
  }).map(({ attribs }) => attribs['content'] ?? '');
}

/** `Product.offers.price`: things of that type, then property by property; lists on the way are gone into. */
export function valuesAt(things: readonly Thing[], path: string): unknown[] {
  const [type = '', ...names] = path.split('.');
  let found: unknown[] = things.filter(thing => [thing['@type']].flat().includes(type));
  for (const name of names) {
    found = found.flatMap(each =>
      typeof each === 'object' && each !== null && Object.hasOwn(each, name) ? [(each as Thing)[name]].flat() : [],
    );
  }
  return found.filter(value => value !== null && value !== undefined && value !== '');
}
