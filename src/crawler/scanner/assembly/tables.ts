/**
 * What the scanner knows of HTML and of languages: classes of bytes, element names, entities, words. Written as plain
 * lists, entered into hash tables once when the module starts.
 */
import { entryOf, hashBytes, keyOf, putString } from './hash';
import { enterWord } from './lexicon';
import {
  ATTRIBUTE_BITS,
  ATTRIBUTE_NAMES,
  CLASSES,
  ENTITIES,
  ENTITY_BITS,
  SCRATCH,
  SPLATS,
  TAG_BITS,
  TAGS,
} from './memory';

// Classes of bytes.
export const SPACE: u32 = 1;
/** Part of a word: letters, digits, everything beyond ASCII. */
export const WORD: u32 = 2;
export const DIGIT: u32 = 4;
export const HEX: u32 = 8;
/** Ends a tag's or an attribute's name. */
export const NAME_END: u32 = 16;
export const LETTER: u32 = 32;
/** Stands for itself in the path of a URL; also `/`. The dot needs a look at what stands before it. */
export const PATH: u32 = 64;

// What an element is. The low bits are properties, the byte from bit 8 is the kind, the nibble from bit 16 a group of
// elements that end one another.
export const BLOCK: u32 = 1;
export const VOID: u32 = 2;
/** Its content is text up to its own end tag. */
export const RAW: u32 = 4;
/** Its text is not visible. */
export const SKIP: u32 = 8;
/** Says nothing to a reader; left out of the structure. */
export const SILENT: u32 = 16;
/** Repeated on every page of a site, unless it stands inside what the page is about. */
export const TEMPLATE: u32 = 32;
/** What a page is about. */
export const MAIN: u32 = 64;

export const KIND_A: u32 = 1;
export const KIND_AREA: u32 = 2;
export const KIND_LINK: u32 = 3;
export const KIND_BASE: u32 = 4;
export const KIND_META: u32 = 5;
export const KIND_IMAGE: u32 = 6;
export const KIND_FRAME: u32 = 7;
export const KIND_MEDIA: u32 = 8;
export const KIND_HTML: u32 = 9;
export const KIND_INPUT: u32 = 10;
/** Of the kinds behind this one nobody asks for a value of an attribute. */
export const LAST_WITH_VALUES: u32 = KIND_INPUT;
export const KIND_TITLE: u32 = 11;
export const KIND_BREAK: u32 = 12;
export const KIND_SVG: u32 = 13;
export const KIND_PARAGRAPH: u32 = 14;
export const KIND_BODY: u32 = 15;

// What a word is.
/** A general word: no keyword. */
export const STOP: u32 = 1;
/** Announces a volatile date: "updated", "generated" … */
export const STAMP: u32 = 2;
export const MONTH: u32 = 4;
export const UNIT: u32 = 8;
export const WEEKDAY: u32 = 16;
export const ZONE: u32 = 64;
/** "ago", behind an age, and the words that stand before one. */
export const AGO: u32 = 4096;
export const AGO_BEFORE: u32 = 8192;
/** Makes years volatile too. */
export const COPYRIGHT: u32 = 16384;
/** Announces a volatile date behind "last": "last update". */
export const STAMP_LAST: u32 = 32768;
export const LAST: u32 = 65536;
/** Announces a hash, which by chance may have no letters. */
export const HASHED: u32 = 1 << 17;
/** Two more pairs of words that announce one: "as of", 更新. The first word's bit is that of the second, shifted by one. */
export const OF: u32 = 1 << 18;
export const AS: u32 = 1 << 19;
export const NEW: u32 = 1 << 20;
export const RENEW: u32 = 1 << 21;
/** Words that, with the right one behind them, announce a volatile date. */
export const FIRSTS: u32 = LAST | AS | RENEW;
/** Of a class or id: advertising. */
export const CLASS_AD: u32 = 128;
/** Of a role: navigation, header, footer. */
export const ROLE_TEMPLATE: u32 = 256;
/** Of a class or id: a volatile date. */
export const CLASS_STAMP: u32 = 512;
/** "ad" is advertising only beside one of these: alone it also names what a market of small ads is about. */
export const CLASS_SLOT: u32 = 1024;
export const CLASS_AD_SHORT: u32 = 2048;
export const CLASS_ANY: u32 = CLASS_AD | ROLE_TEMPLATE | CLASS_STAMP | CLASS_SLOT | CLASS_AD_SHORT;

/** Entity values above this bit may stand without a semicolon. */
export const LEGACY: u32 = 1 << 24;

export function tagInfo(key: u64): u32 {
  return load<u32>(entryOf(TAGS, TAG_BITS, key), 8);
}

/** Code point, perhaps with LEGACY; 0 = no such entity. Capitals matter. */
export function entityInfo(start: usize, end: usize): u32 {
  return load<u32>(entryOf(ENTITIES, ENTITY_BITS, hashBytes(start, end)), 8);
}

/** Slot of the attribute + 1; 0 = nobody asks for it. */
export function attributeInfo(key: u64): u32 {
  return load<u32>(entryOf(ATTRIBUTE_NAMES, ATTRIBUTE_BITS, key), 8);
}

export function enterAttribute(list: string, slot: u32): void {
  enter(ATTRIBUTE_NAMES, ATTRIBUTE_BITS, list, slot + 1);
}

/** Enters every word of a list separated by blanks. */
export function enter(table: usize, bits: u64, list: string, value: u32): void {
  let from = 0;
  for (let i = 0; i <= list.length; i++) {
    if (i < list.length && list.charCodeAt(i) !== 32) continue;
    enterKey(table, bits, putString(SCRATCH, list, from, i), value);
    from = i + 1;
  }
}

export function enterWords(list: string, value: u32): void {
  let from = 0;
  for (let i = 0; i <= list.length; i++) {
    if (i < list.length && list.charCodeAt(i) !== 32) continue;
    enterWord(keyOf(SCRATCH, putString(SCRATCH, list, from, i)), value);
    from = i + 1;
  }
}

/** Enters the name at [SCRATCH, end). Lists are read in place: a substring would need a heap, and there is none. */
function enterKey(table: usize, bits: u64, end: usize, value: u32): void {
  if (end === SCRATCH) return;
  const key = table === ENTITIES ? hashBytes(SCRATCH, end) : keyOf(SCRATCH, end);
  const at = entryOf(table, bits, key);
  store<u64>(at, key);
  store<u32>(at, load<u32>(at, 8) | value, 8);
}

/** Enters entities with consecutive code points; `-` leaves one out. */
export function enterEntities(list: string, first: u32, flags: u32): void {
  let from = 0;
  let code = first;
  for (let i = 0; i <= list.length; i++) {
    if (i < list.length && list.charCodeAt(i) !== 32) continue;
    if (i > from + 1 || list.charCodeAt(from) !== 45)
      enterKey(ENTITIES, ENTITY_BITS, putString(SCRATCH, list, from, i), code | flags);
    code++;
    from = i + 1;
  }
}

export function enterClasses(): void {
  for (let c: u32 = 0; c < 256; c++) {
    const space = c === 32 || (c >= 9 && c <= 13 && c !== 11);
    const digit = c - 48 < 10;
    const letter = (c | 32) - 97 < 26;
    let classes: u32 = 0;
    if (space) classes |= SPACE | NAME_END;
    if (digit) classes |= DIGIT | HEX | WORD;
    if (letter) classes |= LETTER | WORD;
    if ((c | 32) - 97 < 6) classes |= HEX;
    if (c === 95 || c >= 0x80) classes |= WORD;
    if (c === 47 || c === 62 || c === 61) classes |= NAME_END;
    if (digit || letter || isPathSign(c)) classes |= PATH;
    store<u8>(CLASSES + c, classes);
    v128.store(SPLATS + (c << 4), i8x16.splat(<i8>c));
  }
}

/** - _ ~ ! $ & ( ) * + , = @ / */
function isPathSign(c: u32): bool {
  return (
    c === 45 ||
    c === 95 ||
    c === 126 ||
    c === 33 ||
    c === 36 ||
    c === 38 ||
    (c >= 40 && c <= 44) ||
    c === 61 ||
    c === 64 ||
    c === 47
  );
}

function tags(list: string, value: u32): void {
  enter(TAGS, TAG_BITS, list, value);
}

export function enterTags(): void {
  tags(
    'address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol optgroup option p pre section select summary table tbody td textarea tfoot th thead title tr ul iframe object noscript template script style',
    BLOCK,
  );
  // Of feeds: a link and what follows it are not one word.
  tags('author category channel content description entry guid item lastbuilddate pubdate published updated', BLOCK);
  tags('area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen', VOID);
  tags('script style iframe noembed noframes', RAW | SKIP);
  tags('textarea title xmp', RAW);
  tags('noscript template object svg', SKIP);
  tags('span font wbr script style link meta noscript template svg html head body title base', SILENT);
  tags('nav header footer', TEMPLATE);
  tags('main article', MAIN);
  tags('a', KIND_A << 8);
  tags('area', KIND_AREA << 8);
  tags('link', KIND_LINK << 8);
  tags('base', KIND_BASE << 8);
  tags('meta', KIND_META << 8);
  tags('img', KIND_IMAGE << 8);
  tags('frame iframe', KIND_FRAME << 8);
  tags('video audio embed source object', KIND_MEDIA << 8);
  tags('title', KIND_TITLE << 8);
  tags('br', KIND_BREAK << 8);
  tags('html', KIND_HTML << 8);
  tags('input', KIND_INPUT << 8);
  tags('svg', KIND_SVG << 8);
  tags('p', KIND_PARAGRAPH << 8);
  tags('body', KIND_BODY << 8);
  tags('option optgroup', 1 << 16);
  tags('li', 2 << 16);
  tags('dt dd', 3 << 16);
  tags('td th', 4 << 16);
  tags('tr', 5 << 16);
  tags('tbody thead tfoot', 6 << 16);
}
