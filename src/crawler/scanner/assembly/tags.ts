/** Start and end tags: what each does to structure, regions, text, links. */
import {
  CLASS,
  drawing,
  has,
  ID,
  ITEMPROP,
  present,
  ROLE,
  readAttributes,
  selfClosing,
  valueEnd,
  valueStart,
} from './attributes';
import { addToMain } from './block';
import {
  close,
  closeLast,
  count,
  implyEnds,
  inAd,
  inSvg,
  inTemplate,
  lastClosedAt,
  lastInfo,
  leaveSvg,
  markAd,
  markForeign,
  markStamp,
  markTemplate,
  push,
} from './elements';
import { all, key as keyFor, keyOf, lettersEnd, mix } from './hash';
import { base, language, meta } from './head';
import { noteTag, noteValue, noting, PICTURE } from './journal';
import { wordInfo } from './lexicon';
import { anchorLink, button, closeAnchor, draw, frameLink, image, mediaLink, relationLink } from './links';
import { CLASSES, SPARE_TAG } from './memory';
import {
  BLOCK,
  CLASS_AD,
  CLASS_AD_SHORT,
  CLASS_ANY,
  CLASS_SLOT,
  CLASS_STAMP,
  KIND_A,
  KIND_AREA,
  KIND_BASE,
  KIND_BREAK,
  KIND_FRAME,
  KIND_HTML,
  KIND_IMAGE,
  KIND_INPUT,
  KIND_LINK,
  KIND_MEDIA,
  KIND_META,
  KIND_SVG,
  KIND_TITLE,
  LAST_WITH_VALUES,
  NAME_END,
  RAW,
  ROLE_TEMPLATE,
  SILENT,
  SKIP,
  SPACE,
  tagInfo,
  VOID,
} from './tables';
import {
  classesAt,
  closesItself,
  infoAt,
  keyAt,
  lastLetterAt,
  lengthAt,
  placeFor,
  putAttributes,
  putLength,
  putName,
  recall,
  tagEnd,
} from './tag-memory';
import { endBlock, lineBreak, stampBlock, out as text } from './text';

/** Hashes of the strings of first and of last letters of all opening tags. */
export let tagFirst: u32 = 0;
export let tagLast: u32 = 0;
/** Hash of the opening tags that mean something to a reader. */
export let structure: u64 = 0;
export let titleStart: usize = 0;
export let titleEnd: usize = 0;
/** Name of the raw text element just opened; 0 = the tag opened none. */
export let raw: u64 = 0;
export let rawInfo: u32 = 0;

/** XML: every element may close itself, none is raw. */
let xml: bool = false;

export function resetTags(isXml: bool): void {
  tagFirst = 0;
  tagLast = 0;
  structure = 0;
  titleStart = 0;
  titleEnd = 0;
  xml = isXml;
}

let nameKey: u64 = 0;
/** Length of the name if its key is the name itself, as it stands there or in small letters; else 0. */
let nameLength: usize = 0;

/** Reads the name at `p`, in XML without its prefix; returns its end. */
function readName(p: usize): usize {
  const v = v128.load(p);
  const signs = v128.or(i8x16.eq(v, all(47)), i8x16.eq(v, all(62)));
  const ends: u32 = i8x16.bitmask(v128.or(signs, i8x16.le_u(v, all(32))));
  const end = p + ctz(ends);
  // Hardly a name is so long; control characters that are no white space are part of one.
  if (xml || ends === 0 || (load<u8>(CLASSES + load<u8>(end)) & NAME_END) === 0) return readOddName(p);
  nameKey = keyOf(p, end);
  nameLength = end - p > 8 ? 0 : end - p;
  return end;
}

function readOddName(p: usize): usize {
  let start = p;
  let end = p;
  let c: u32 = load<u8>(end);
  while ((load<u8>(CLASSES + c) & NAME_END) === 0 || c === 61) {
    if (c === 58 && xml) start = end + 1;
    c = load<u8>(++end);
  }
  nameKey = keyOf(start, end);
  nameLength = 0;
  return end;
}

/**
 * Reads a start tag and returns what it says, as tag-memory.ts keeps it; 0 = the input ends inside of it. `stop` is
 * where its first `>` stands, 0 = the tag is not to be kept.
 */
function readTag(p: usize, end: usize, stop: usize): usize {
  const nameEnd = readName(p);
  const info = tagInfo(nameKey);
  afterTag = readAttributes(nameEnd, end, inSvg());
  if (afterTag === 0) return 0;
  const kind = (info >> 8) & 255;
  // With a `>` inside of an attribute it would never be found.
  const tag = stop + 1 !== afterTag || hasValues(kind) ? SPARE_TAG : placeFor(p, stop);
  putName(tag, nameKey, info, load<u8>(nameEnd - 1));
  putLength(tag, nameLength);
  // A class on the root says something of the page, not of a region.
  putAttributes(tag, (present & CLASS_SLOTS) === 0 || kind === KIND_HTML ? 0 : readClasses(), selfClosing);
  return tag;
}
/** Where the tag read last ends. */
let afterTag: usize = 0;

/** `<a …`, the commonest of the tags that are never kept. */
function isLink(p: usize): bool {
  return (<u32>load<u16>(p) | 0x20) === 0x2061;
}

/** Whether someone may ask for the value of an attribute. */
function hasValues(kind: u32): bool {
  return kind !== 0 && kind <= LAST_WITH_VALUES;
}

/** `p` is at the first letter of the name. Returns the address behind the tag, 0 at the end of the input. */
export function openTag(p: usize, end: usize): usize {
  // Of the root of a drawing only that it is there: its own attributes are about its place on the page.
  let inside = inSvg();
  const stop: usize = inside || xml || isLink(p) ? 0 : tagEnd(p);
  let next = stop + 1;
  let tag: usize = stop === 0 || stop >= end ? 0 : recall(p, stop);
  if (tag === 0) {
    tag = readTag(p, end, stop);
    if (tag === 0) return 0;
    next = afterTag;
  }
  const key = keyAt(tag);
  const info = infoAt(tag);
  const kind = (info >> 8) & 255;
  raw = 0;
  tagFirst = (tagFirst ^ (<u32>load<u8>(p) | 32)) * 0x01000193;
  tagLast = (tagLast ^ (lastLetterAt(tag) | 32)) * 0x01000193;
  if (inside && !xml && breaksOut(info, kind)) {
    leaveSvg();
    inside = false;
  }
  if (inside || kind === KIND_SVG) {
    implyEnds(info);
    count();
    if (!inAd()) {
      const shape = inside ? mix(drawing, key) : key;
      if (noting) noteValue(PICTURE, shape, 0, 0);
      draw(shape);
    }
    if (inside && kind === KIND_A) anchorLink();
    if (!closesItself(tag)) {
      push(key, info, lengthAt(tag));
      if (inside && key === KEY_FOREIGN) markForeign();
    }
    return next;
  }
  // One question for most of the tags that are only a piece of a line: each that goes both ways is often guessed wrong.
  if ((info & ENDS_SOMETHING) !== 0) {
    implyEnds(info);
    if ((info & BLOCK) !== 0) endBlock();
  }
  count();
  // `<object/>` is no end tag by the standard, but who writes it means one, and else the rest of the page would be hidden.
  const opens = (info & VOID) === 0 && !(closesItself(tag) && (xml || (info & (SKIP | RAW)) === SKIP));
  if (opens) push(key, info, lengthAt(tag));
  if (classesAt(tag) !== 0 && opens) markRegions(classesAt(tag));
  if ((info & SILENT) === 0 && !inAd()) {
    structure = mix(structure, key);
    if (noting) noteTag(key);
    if (!inTemplate()) addToMain(key);
  }
  if (kind !== 0) act(kind);
  if (opens && (info & RAW) !== 0 && !xml) {
    raw = key;
    rawInfo = info;
  }
  return next;
}

const KEY_FOREIGN: u64 = keyFor('foreignobject');

/** No drawing has such an element, but the page around it does: the standard ends the drawing there, too. */
function breaksOut(info: u32, kind: u32): bool {
  return (info & (BLOCK | RAW)) === BLOCK || kind === KIND_IMAGE || kind === KIND_BREAK;
}

/** Ends a block, or elements of its group. */
const ENDS_SOMETHING: u32 = BLOCK | (15 << 16);

const CLASS_SLOTS: u32 = (1 << CLASS) | (1 << ID) | (1 << ITEMPROP) | (1 << ROLE);

function act(kind: u32): void {
  if (kind === KIND_A || kind === KIND_AREA) anchorLink();
  else if (kind === KIND_IMAGE) image();
  else if (kind === KIND_BREAK) lineBreak();
  else if (kind === KIND_LINK) relationLink();
  else if (kind === KIND_META) meta();
  else if (kind === KIND_BASE) base();
  else if (kind === KIND_FRAME) frameLink();
  else if (kind === KIND_MEDIA) mediaLink();
  else if (kind === KIND_INPUT) button();
  else if (kind === KIND_HTML) language();
  else if (kind === KIND_TITLE && titleStart === 0) titleStart = text;
}

/**
 * Closes the element opened last if `p` is at the name of exactly its end tag, as nearly every end tag is. Returns the
 * address behind the tag, 0 = it is another.
 */
export function closeOpened(p: usize, end: usize): usize {
  const length = lastClosedAt(p);
  if (length === 0 || p + length >= end) return 0;
  const info = lastInfo();
  if (info !== 0) endContent(info);
  if ((info & VOID) === 0) closeLast();
  return p + length + 1;
}

/** Any end tag. `p` is at the first letter of the name. Returns the address behind the tag, 0 at the end of the input. */
export function closeTag(p: usize, end: usize): usize {
  const behind = readName(p);
  const key = nameKey;
  const next = load<u8>(behind) === 62 && behind < end ? behind + 1 : readAttributes(behind, end, false);
  if (next === 0) return 0;
  const info = tagInfo(key);
  endContent(info);
  if ((info & VOID) === 0) close(key);
  return next;
}

/** The element is about to be closed. */
function endContent(info: u32): void {
  const kind = (info >> 8) & 255;
  if (kind === KIND_A) closeAnchor();
  if (kind === KIND_TITLE && titleStart !== 0 && titleEnd === 0) titleEnd = text;
  if ((info & BLOCK) !== 0) endBlock();
}

/** What class, id, itemprop and role say of the region: CLASS_AD, CLASS_STAMP, ROLE_TEMPLATE. */
function readClasses(): u32 {
  let flags: u32 = 0;
  if (has(CLASS)) flags |= readClassWords(valueStart(CLASS), valueEnd(CLASS));
  if (has(ID)) flags |= readClassWords(valueStart(ID), valueEnd(ID));
  if (has(ITEMPROP)) flags |= readClassWords(valueStart(ITEMPROP), valueEnd(ITEMPROP));
  flags &= CLASS_AD | CLASS_STAMP;
  // Only a role is believed: classes like "nav" also stand on tables of contents and on whole pages.
  return has(ROLE) ? flags | (readClassWords(valueStart(ROLE), valueEnd(ROLE)) & ROLE_TEMPLATE) : flags;
}

function markRegions(classes: u32): void {
  if ((classes & CLASS_AD) !== 0) markAd();
  if ((classes & ROLE_TEMPLATE) !== 0) markTemplate();
  if ((classes & CLASS_STAMP) !== 0) {
    markStamp();
    stampBlock();
  }
}

/** Words are runs of letters: `last-updated` is two of them. */
function readClassWords(start: usize, end: usize): u32 {
  let flags: u32 = 0;
  let p = start;
  let shortAd: bool = false;
  while (p < end) {
    const from = p;
    const to = lettersEnd(from, end);
    p = to + 1;
    if (to < from + 2) continue;
    const info = wordInfo(keyOf(from, to));
    if ((info & CLASS_ANY) === 0) {
      shortAd = false;
      continue;
    }
    flags |= info;
    // "ad-slot", "ad-banner" … are advertising; "ad" alone and "ad-hoc" are not.
    if (shortAd && (info & CLASS_SLOT) !== 0) flags |= CLASS_AD;
    shortAd = (info & CLASS_AD_SHORT) !== 0 && to < end && !isBlank(to);
  }
  return flags;
}

function isBlank(p: usize): bool {
  return (load<u8>(CLASSES + load<u8>(p)) & SPACE) !== 0;
}
