/**
 * Stemmers by language: the Snowball algorithms as @orama/stemmers ships them, and a small one for Korean particles.
 * Each is loaded the first time a page or a query needs it. A language that is not listed is indexed word by word.
 */
import { createRequire } from 'node:module';

type Stemmer = (word: string) => string;

/** BCP 47 primary tag → module. `no` is the macro language of `nb` and `nn`. */
const modules: Readonly<Record<string, string>> = {
  ar: 'arabic',
  bg: 'bulgarian',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  uk: 'ukrainian',
};

/** English words that the rules would cut to another word, or not to their own: word, and its stem if it is another. */
const english = new Map(
  [
    ...['inning', 'outing', 'canning', 'herring', 'earring', 'news', 'atlas', 'bias', 'proceed', 'exceed', 'succeed'],
    ...[
      'herrings herring',
      'earrings earring',
      'innings inning',
      'indices index',
      'matrices matrix',
      'vertices vertex',
    ],
  ]
    .map(line => line.split(' '))
    .map(([word = '', stem = word]) => [word, stem]),
);

const load = createRequire(import.meta.url);
const loaded = new Map<string, Stemmer | undefined>([['ko', korean]]);

/** Longest first, so that a compound particle goes whole. */
const particles = [
  '에서는',
  '으로는',
  '에게서',
  '까지',
  '부터',
  '에서',
  '에게',
  '으로',
  '처럼',
  '보다',
  '하고',
  '이나',
];
const shortParticles = '은는이가을를에의로와과도만';

/** Cuts the particle that Korean writes onto its nouns; what remains has two syllables at least. */
function korean(word: string): string {
  for (const particle of particles) {
    if (word.length >= particle.length + 2 && word.endsWith(particle)) return word.slice(0, -particle.length);
  }
  return word.length >= 3 && shortParticles.includes(word.at(-1)!) ? word.slice(0, -1) : word;
}

/** Languages whose I has no dot: they are put into lower case in their own way. */
const turkic = new Set(['tr', 'az']);

/** BCP 47 for "no linguistic content": words as they stand. */
export const NO_RULES = 'zxx';

/** Languages without rules, in whose pages words in Latin letters are mostly English ones. */
const withoutSpaces = new Set(['zh', 'ja', 'th', 'lo', 'km', 'my']);

/**
 * The language whose rules apply: itself, or NO_RULES for all that have none. Pages can claim thousands of languages;
 * the tables kept per language are only as many as there are rules.
 *
 * Where the language is not known, English rules apply. They leave other scripts alone, and two spellings of one term
 * in one collection do harm: the rarer one looks telling to BM25, and drew pages without a language to the top.
 */
export function rulesOf(language: string): string {
  if (language === '' || withoutSpaces.has(language)) return 'en';
  return language === 'ko' || turkic.has(language) || Object.hasOwn(modules, language) ? language : NO_RULES;
}

export function lowerCase(word: string, language: string): string {
  return turkic.has(language) ? word.toLocaleLowerCase('tr') : word.toLowerCase();
}

/** A word that the rules cannot read stays as it is: those for Bulgarian throw at some (`изображения`). */
function careful(rules: Stemmer): Stemmer {
  return word => {
    try {
      return rules(word);
    } catch {
      return word; // found as it is written, which is better than a page that cannot be indexed
    }
  };
}

export function stemmerFor(language: string): Stemmer | undefined {
  if (!loaded.has(language)) {
    const name = Object.hasOwn(modules, language) ? modules[language] : undefined;
    const rules: Stemmer | undefined = name === undefined ? undefined : load(`@orama/stemmers/${name}`).stemmer;
    loaded.set(language, language === 'en' ? word => english.get(word) ?? rules!(word) : rules && careful(rules));
  }
  return loaded.get(language);
}

/** `en` of `en-GB`, empty for nonsense. */
export function primaryLanguage(tag: string): string {
  return /^[a-z]{2,3}(?=$|[-_])/i.exec(tag)?.[0].toLowerCase() ?? '';
}
