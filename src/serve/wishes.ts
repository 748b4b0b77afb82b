/**
 * What the owner of a public search wants beyond the index: words that mean the same, and pages that come first for a
 * question. Both are files that people write, checked when the port opens.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SkeinError, systemWords } from '../base/errors.ts';

const word = z.string().trim().toLowerCase().min(1).max(100);
/** Lists of words that mean the same. */
const synonyms = z.array(z.array(word).min(2).max(20)).max(5000);
/** Question → pages, the first one first. */
const pins = z.record(word, z.array(z.url().max(2000)).min(1).max(10));

export type Synonyms = ReadonlyMap<string, readonly string[]>;
export type Pins = ReadonlyMap<string, readonly string[]>;

export function readSynonyms(file: string): Synonyms {
  const groups = parsed(file, synonyms, '[["database", "db"], ["sign in", "log in"]]');
  const map = new Map<string, string[]>();
  for (const group of groups)
    for (const each of group) map.set(each, [...(map.get(each) ?? []), ...group.filter(other => other !== each)]);
  return map;
}

export function readPins(file: string): Pins {
  const given = parsed(file, pins, '{"install": ["https://example.org/install.html"]}');
  return new Map(Object.entries(given).map(([query, urls]) => [plainQuery(query), urls]));
}

function parsed<T>(file: string, schema: z.ZodType<T>, example: string): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new SkeinError('bad-option', `${file} cannot be read: ${systemWords(error)}.`);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const where = issue ? `at ${issue.path.join('.') || 'its beginning'}: ${issue.message}` : 'it is not JSON';
    throw new SkeinError('bad-option', `${file} is not valid: ${where}.`, `Write it like ${example}.`);
  }
}

/** As questions are compared with pins. */
export function plainQuery(query: string): string {
  return query.trim().toLowerCase().replace(/\s+/g, ' ');
}

/** Signs that mean something in the query language; who uses them says exactly what is wanted. */
const exact = /["“”„«»():|*]|\b(?:AND|OR|NOT)\b|(?:^|\s)-/;

/** The question with other words for its words allowed. */
export function widened(query: string, synonyms: Synonyms): string {
  if (synonyms.size === 0 || exact.test(query)) return query;
  const words = query.trim().split(/\s+/);
  const out: string[] = [];
  for (let at = 0; at < words.length; ) {
    const { length, others } = longestKnown(words, at, synonyms);
    const said = words.slice(at, at + length).join(' ');
    out.push(others ? `(${[said, ...others].map(quoted).join(' OR ')})` : said);
    at += length;
  }
  return out.join(' ');
}

function longestKnown(words: readonly string[], at: number, synonyms: Synonyms) {
  for (let length = Math.min(4, words.length - at); length > 0; length--) {
    const others = synonyms.get(
      words
        .slice(at, at + length)
        .join(' ')
        .toLowerCase(),
    );
    if (others) return { length, others };
  }
  return { length: 1, others: undefined };
}

const quoted = (text: string) => (/^[\p{L}\p{N}_]+$/u.test(text) ? text : `"${text.replace(/"/g, ' ')}"`);
