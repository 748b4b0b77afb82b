/**
 * The language of a page that does not say: by script where one script means one language, else by the small words
 * that every sentence has. Wrong is worse than unknown (the page would be stemmed by foreign rules), so it answers
 * only when the evidence is clear.
 */
const small: Readonly<Record<string, string>> = {
  en: 'the of and to in is that for with are this you not from have',
  de: 'der die und das nicht mit ist den von eine auf für sich auch werden',
  fr: 'le la les des et une est dans pour que qui sur pas avec vous',
  es: 'el los las una que del por para con como está más son pero sus',
  it: 'il che di per una sono con non della gli alla nel questo più anche',
  pt: 'os uma para com não mais como dos foi são pelo você também pela seu',
  nl: 'het een van en niet dat voor zijn met op ook wordt deze naar bij',
  sv: 'och att det som en är på för inte med av till den har kan',
  da: 'og at det som er på ikke med af til den har kan blev også',
  nb: 'og det som er på ikke med av til den har kan ble også jeg',
  fi: 'ja on ei se että oli hän mutta kun myös tai ovat joka niin sen',
  tr: 've bir bu için ile çok daha olarak gibi ama değil olan var kadar sonra',
  ro: 'și din pentru este care sunt mai prin fost sau după această dar fi cu',
  hu: 'az és hogy nem egy van volt csak meg már mint azt ezt lehet vagy',
  id: 'yang dan di dengan untuk dari ini pada tidak dalam adalah akan oleh juga ke',
  ru: 'и в не на что как это по но для из его так же от',
  uk: 'і в не на що як це та але для із його так від є',
  bg: 'и на в за се че от не да са по като това с или',
};

/** Scripts that one language writes, or nearly. */
const scripts: readonly (readonly [RegExp, string])[] = [
  [/[\u3040-\u30ff]/g, 'ja'],
  [/[\uac00-\ud7af]/g, 'ko'],
  [/\p{Script=Han}/gu, 'zh'],
  [/[\u0e00-\u0e7f]/g, 'th'],
  [/[\u0370-\u03ff]/g, 'el'],
  [/[\u0590-\u05ff]/g, 'he'],
  [/[\u0600-\u06ff]/g, 'ar'],
];

/** Characters that are looked at. */
const SAMPLE = 4000;
/** Words below which there is too little to go by, and the share that small words must have. */
const LEAST = 20;
const SHARE = 0.08;
/** Different small words that a text must have: `com` is Portuguese, and part of many names. */
const DIFFERENT = 4;
/** What a language has of the small words of another that it is nearly. */
const KIN = 0.9;
/** Small words of another language that do not yet speak against the one that a page names: so many, and a share. */
const FEW = 1;
const LITTLE = 0.03;

const names = Object.keys(small);
/** Small words, and the places in `names` of the languages that have them. */
const languagesOf = new Map<string, number[]>();
names.forEach((name, language) => {
  for (const word of small[name]!.split(' ')) languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);
});

/** Words that people put around what they look for, when they ask as they would ask a person. */
const around =
  'a an i my me we our it its be am was were do does did can could should would will how what when where why who which by as at on or';
const smallWords = new Map(Object.entries(small).map(([language, list]) => [language, new Set(list.split(' '))]));
for (const word of around.split(' ')) smallWords.get('en')!.add(word);
/** What an English question begins with, and what says nothing in one that begins so. */
const openers = new Set('how what where why when which who can does do is are'.split(' '));
const inQuestions = new Set('work works use used using find get mean means make there'.split(' '));

export function isAsking(first: string, language: string): boolean {
  return language === 'en' && openers.has(first.toLowerCase());
}

/** Whether a word says nothing by itself, in that language; `asking`: in a question. */
export function isSmall(word: string, language: string, asking = false): boolean {
  const lower = word.toLowerCase();
  return (smallWords.get(language)?.has(lower) ?? false) || (asking && inQuestions.has(lower));
}

/** Small words of a query from which it is in another language than most pages: `per process` is not Italian. */
const TOLD = 2;

/**
 * The language of a query, of those that pages are in, by its small words. Undefined = it has none of them; empty = those
 * of several, or too few for a language that is not `main`, the one of most pages.
 */
export function languageAsked(asked: readonly string[], spoken: readonly string[], main: string): string | undefined {
  const lower = asked.map(word => word.toLowerCase());
  if (lower.length > TOLD && openers.has(lower[0]!) && spoken.includes('en')) return 'en';
  const counts = spoken.map(language => ({
    language,
    count: lower.filter(word => smallWords.get(language)?.has(word)).length,
  }));
  const [first, second] = counts.sort((a, b) => b.count - a.count);
  if (first === undefined || first.count === 0) return undefined;
  const least = first.language === main ? 1 : TOLD;
  return first.count >= least && first.count > (second?.count ?? 0) ? first.language : '';
}

/** Letters of a script of its own that stand for a word, and the share of a text's words that make it the text's. */
const LETTERS = 3;
const MAIN = 0.25;

/** The language that the script says, where one says it. */
function byScript(sample: string, words: number): string {
  if (!/[\u0370-\u03ff\u0590-\u06ff\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af]/.test(sample)) return '';
  for (const [script, language] of scripts)
    if ((sample.match(script)?.length ?? 0) / LETTERS > MAIN * words) return language;
  return '';
}

/** Letters that only one of the languages in Cyrillic script has, of those that share small words. */
const cyrillic: readonly (readonly [RegExp, string])[] = [
  [/[ыэ]/, 'ru'],
  [/[іїє]/, 'uk'],
];

/** How often the small words of each language stand in the words. */
function evidence(words: readonly string[], sample: string): SmallWords {
  const counts = new Int32Array(names.length);
  const said: string[] = [];
  for (const word of words) {
    const languages = languagesOf.get(word);
    if (languages === undefined) continue;
    said.push(word);
    for (const language of languages) counts[language]!++;
  }
  const only = cyrillic.find(([letters]) => letters.test(sample))?.[1];
  if (only !== undefined) for (const other of ['ru', 'uk', 'bg']) if (other !== only) counts[names.indexOf(other)] = 0;
  return { counts, said };
}

interface SmallWords {
  /** By the places in `names`. */
  readonly counts: Int32Array;
  /** The small words of any language, as they come. */
  readonly said: readonly string[];
}

/**
 * The language of a text: by its script or its small words. What the page says of itself (`named`, a primary tag) counts
 * only where the text does not speak against it: frameworks put `en` on pages in any language. Empty = not clear.
 */
export function languageOf(text: string, named = ''): string {
  // From a little way in: the beginning of a page is its menu.
  const from = text.length > 3 * SAMPLE ? SAMPLE : 0;
  // A quarter of it is enough for most.
  const soon = judge(text.slice(from, from + SAMPLE / 4), named);
  return soon.clear ? soon.language : judge(text.slice(from, from + SAMPLE), named).language;
}

const ascii = /^[\0-\x7f]*$/;

function judge(sample: string, named: string): { readonly language: string; readonly clear: boolean } {
  // The classes of Unicode take three times as long, and most samples need none.
  const isPlain = ascii.test(sample);
  const words = sample.toLowerCase().match(isPlain ? /[a-z]+/g : /\p{L}+/gu) ?? [];
  const script = isPlain ? '' : byScript(sample, words.length);
  if (script !== '') return { language: isOfScript(named, script) ? named : script, clear: false };
  const { counts, said } = evidence(words, sample);
  let [best, most, second] = [-1, 0, 0];
  counts.forEach((count, language) => {
    if (count > most) [best, most, second] = [language, count, most];
    else if (count > second) second = count;
  });
  const different = () => new Set(said.filter(word => languagesOf.get(word)!.includes(best))).size;
  const told = most >= DIFFERENT && different() >= DIFFERENT;
  const clear = told && words.length >= LEAST && most >= words.length * 1.5 * SHARE && second <= most / 2;
  // Kin share their small words (Danish and Norwegian): then the page knows better.
  if (most > 0 && (counts[names.indexOf(named)] ?? 0) >= most * KIN) return { language: named, clear };
  if (told && words.length >= LEAST && most >= words.length * SHARE && second <= most * KIN)
    return { language: names[best]!, clear };
  const silent = ownScript.has(named) || most > FEW + words.length * LITTLE;
  return { language: silent ? '' : named, clear: false };
}

const ownScript = new Set(scripts.map(([, language]) => language));
/** Languages that share the script of another. */
const alsoOf: Readonly<Record<string, readonly string[]>> = { ar: ['fa', 'ur', 'ps'], he: ['yi'] };

function isOfScript(named: string, script: string): boolean {
  return named === script || (alsoOf[script]?.includes(named) ?? false);
}
