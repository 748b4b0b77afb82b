/**
 * The user's choice of what is stored. It is data, so that it can travel with an errand, and it is decided where the
 * page is read. A page that is left out is still read for links.
 */
import { SkeinError } from '../../base/errors.ts';
import type { Keep } from '../errand.ts';
import { compileGlob } from './glob.ts';
import { foldKeywords, foldText, mentions } from './words.ts';

/** Everything is kept. A limit of 0 bytes is none. */
export const keepAll: Keep = {
  extensions: [],
  types: [],
  minBytes: 0,
  maxBytes: 0,
  paths: [],
  languages: [],
  keywords: [],
};

/** What the filter looks at. */
export interface KeepCandidate {
  readonly url: string;
  readonly page: {
    readonly mediaType: string;
    readonly language: string;
    /** Decoded. */
    readonly bytes: number;
    text(): string;
  };
}

/** Stands in the filter for pages without an extension, and for pages whose language is not known. */
const NO_EXTENSION = 'none';
const NO_LANGUAGE = 'unknown';

/** The test whether a page is kept; every part of the filter that is given must hold, the costly ones come last. */
export function compileKeep(keep: Keep): (candidate: KeepCandidate) => boolean {
  const tests: ((candidate: KeepCandidate) => boolean)[] = [];
  const { minBytes, maxBytes } = keep;
  if (minBytes > 0) tests.push(({ page }) => page.bytes >= minBytes);
  if (maxBytes > 0) tests.push(({ page }) => page.bytes <= maxBytes);
  if (keep.types.length > 0) tests.push(typeTest(keep.types));
  if (keep.extensions.length > 0) {
    const extensions = new Set(keep.extensions.map(each => each.toLowerCase().replace(/^\./, '')));
    tests.push(({ url }) => extensions.has(extensionOf(url)));
  }
  if (keep.languages.length > 0) {
    const languages = new Set(keep.languages.map(primaryTag));
    tests.push(({ page }) => languages.has(primaryTag(page.language) || NO_LANGUAGE));
  }
  if (keep.paths.length > 0) {
    const globs = keep.paths.map(compileGlob);
    tests.push(({ url }) => globs.some(matches => matches(pathOf(url))));
  }
  const keywords = foldKeywords(keep.keywords);
  if (keywords.length > 0) tests.push(({ page }) => mentionsAny(page.text(), keywords));
  return candidate => tests.every(holds => holds(candidate));
}

/** Path and query of a normalised URL. */
export function pathOf(url: string): string {
  const slash = url.indexOf('/', 8);
  return slash < 0 ? '/' : url.slice(slash);
}

function typeTest(types: readonly string[]): (candidate: KeepCandidate) => boolean {
  const exact = new Set(types.map(type => type.toLowerCase()));
  if (exact.has('*/*') || exact.has('*')) return () => true;
  return ({ page }) => exact.has(page.mediaType) || exact.has(`${page.mediaType.split('/', 1)[0]}/*`);
}

function extensionOf(url: string): string {
  const path = pathOf(url).split('?', 1)[0]!;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? NO_EXTENSION : name.slice(dot + 1).toLowerCase();
}

function primaryTag(language: string): string {
  return language.toLowerCase().split(/[-_]/, 1)[0]!;
}

function mentionsAny(text: string, keywords: readonly string[]): boolean {
  const folded = foldText(text);
  return keywords.some(keyword => mentions(folded, keyword, 1) > 0);
}

const EXAMPLE = 'Write it as in "type=text/html,image/*;size=<5MB;lang=en;ext=html,none;path=/docs/**;word=geese".';

const listKeys: Readonly<Record<string, 'types' | 'extensions' | 'languages' | 'paths' | 'keywords'>> = {
  type: 'types',
  ext: 'extensions',
  lang: 'languages',
  path: 'paths',
  word: 'keywords',
};

/** Reads `type=text/html,image/*;size=>1kB,<5MB;lang=en`: parts that must all hold, each with values any of which will do. */
export function parseKeep(text: string): Keep {
  const keep = { ...keepAll };
  const seen = new Set<string>();
  for (const part of text.split(';')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const key = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    const list = listKeys[key];
    if (list === undefined && key !== 'size') {
      throw wrong(`The filter has no part named "${key}".`, `Its parts are size, ${Object.keys(listKeys).join(', ')}.`);
    }
    if (seen.has(key)) throw wrong(`The filter names "${key}" twice.`, 'Put its values together, with commas.');
    seen.add(key);
    const values = valuesOf(part.slice(equals + 1));
    if (equals < 0 || values.length === 0) throw wrong(`The filter says nothing after "${key}".`);
    if (list === undefined) for (const value of values) limitBytes(keep, value);
    else keep[list] = values.map(value => checked(key, value));
  }
  if (keep.maxBytes > 0 && keep.minBytes > keep.maxBytes) throw wrong('No size fits both limits of the filter.');
  return keep;
}

function valuesOf(text: string): string[] {
  const values = text.split(',').map(value => value.trim());
  return values.filter(value => value !== '');
}

function checked(key: string, value: string): string {
  if (key === 'type' && !/^(\*|[\w.+-]+)\/(\*|[\w.+-]+)$/.test(value)) {
    throw wrong(`"${value}" is not a media type.`, 'Write it as text/html or image/*.');
  }
  if (key === 'lang' && value !== NO_LANGUAGE && !/^[a-z]{2,3}([-_]\w+)*$/i.test(value)) {
    throw wrong(
      `"${value}" is not a language.`,
      `Write it as en or pt-BR; ${NO_LANGUAGE} = pages without a declared language.`,
    );
  }
  return value;
}

function limitBytes(keep: { minBytes: number; maxBytes: number }, value: string): void {
  const match = /^([<>])=?\s*(\d+(?:\.\d+)?)\s*([kmg]?)(i?)b?$/i.exec(value);
  if (!match) throw wrong(`"${value}" is not a limit of size.`, 'Write it as <5MB or >1kB.');
  const power = ' kmg'.indexOf(match[3]!.toLowerCase() || ' ');
  const bytes = Math.round(Number(match[2]) * (match[4] === '' ? 1000 : 1024) ** power);
  if (match[1] === '<') keep.maxBytes = bytes;
  else keep.minBytes = bytes;
}

function wrong(message: string, hint = EXAMPLE): SkeinError {
  return new SkeinError('bad-option', message, hint);
}
