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

const scripts: readonly (readonly [RegExp, string])[] = [
  [/[\u3040-\u30ff]/g, 'ja'],
  [/[\uac00-\ud7af]/g, 'ko'],
  [/[\u0e00-\u0e7f]/g, 'th'],
  [/[\u0370-\u03ff]/g, 'el'],
  [/[\u0590-\u05ff]/g, 'he'],
  [/[\u0600-\u06ff]/g, 'ar'],
  [/\p{Script=Han}/gu, 'zh'],
];

/** Characters that are looked at. */
const SAMPLE = 4000;
/** Words below which there is too little to go by, and the share that small words must have. */
const LEAST = 20;
const SHARE = 0.08;

const languagesOf = new Map<string, string[]>();
for (const [language, list] of Object.entries(small)) {
  for (const word of list.split(' ')) languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);
}

/** Words that people put around what they look for, when they ask as they would ask a person. */
const asking =
  'a an i my me we our it its be am was were do does did can could should would will how what when where why who which by as at on or';
const smallWords = new Map(Object.entries(small).map(([language, list]) => [language, new Set(list.split(' '))]));
for (const word of asking.split(' ')) smallWords.get('en')!.add(word);

/** Whether a word says nothing by itself, in that language. */
export function isSmall(word: string, language: string): boolean {
  return smallWords.get(language)?.has(word.toLowerCase()) ?? false;
}

/** BCP 47 primary tag, or empty when it is not clear. */
export function guessLanguage(text: string): string {
  // From a little way in: the beginning of a page is its menu.
  const from = text.length > 3 * SAMPLE ? SAMPLE : 0;
  const sample = text.slice(from, from + SAMPLE);
  for (const [script, language] of scripts) {
    if ((sample.match(script)?.length ?? 0) > sample.length / 5) return language;
  }
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < LEAST) return '';
  const counts = new Map<string, number>();
  for (const word of words)
    for (const language of languagesOf.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1);
  const [best, second] = [...counts].sort((a, b) => b[1] - a[1]);
  if (best === undefined || best[1] < words.length * SHARE) return '';
  return second !== undefined && second[1] > best[1] * 0.9 ? '' : best[0];
}
