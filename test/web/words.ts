/** Text of the synthetic web: pronounceable words made from the seed, so that no page holds anybody else's sentence. */
import { mix, share } from './random.ts';

const ONSETS = [
  'b',
  'br',
  'd',
  'dr',
  'f',
  'g',
  'gl',
  'h',
  'k',
  'l',
  'm',
  'n',
  'p',
  'pl',
  'r',
  's',
  'st',
  't',
  'tr',
  'v',
];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'oo'];
const CODAS = ['', '', 'l', 'm', 'n', 'r', 's', 't', 'nd', 'rk'];
const GENERAL = ['the', 'of', 'and', 'a', 'to', 'in', 'is', 'was', 'that', 'for', 'with', 'as', 'by', 'on', 'from'];
const VOCABULARY = 3000;

/** Word number `index` of the vocabulary; the same everywhere. */
export function word(index: number): string {
  let h = mix(0x5eed, index % VOCABULARY);
  let text = '';
  const syllables = 2 + (h % 2);
  for (let i = 0; i < syllables; i++) {
    h = mix(h, i);
    text += ONSETS[h % ONSETS.length]! + VOWELS[(h >>> 8) % VOWELS.length]! + CODAS[(h >>> 16) % CODAS.length]!;
  }
  return text;
}

const vocabulary = Array.from({ length: VOCABULARY }, (_, index) => word(index));

/** A word chosen by the hash: two in five are general words, the rest lean to the front of the vocabulary. */
export function someWord(hash: number): string {
  if (hash % 5 < 2) return GENERAL[(hash >>> 4) % GENERAL.length]!;
  const lean = share(mix(hash, 1));
  return vocabulary[Math.floor(lean * lean * VOCABULARY)]!;
}

export function sentence(hash: number): string {
  const length = 7 + (hash % 9);
  let text = '';
  let h = hash;
  for (let i = 0; i < length; i++) {
    h = mix(h, i);
    text += i === 0 ? capital(someWord(h)) : ` ${someWord(h)}`;
  }
  return `${text}.`;
}

export function paragraph(hash: number, sentences = 4): string {
  const all: string[] = [];
  for (let i = 0; i < sentences; i++) all.push(sentence(mix(hash, 1000 + i)));
  return all.join(' ');
}

/** Two or three words without general ones: a title or an anchor. */
export function title(hash: number): string {
  const count = 2 + (hash % 2);
  const words: string[] = [];
  for (let i = 0; i < count; i++) words.push(vocabulary[mix(hash, i) % VOCABULARY]!);
  return capital(words.join(' '));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
