import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { compileKeep, type KeepCandidate, keepAll, parseKeep } from '../../src/errand/scope/keep.ts';
import { foldText, mentions } from '../../src/errand/scope/words.ts';

interface Given {
  url?: string;
  mediaType?: string;
  language?: string;
  bytes?: number;
  text?: string;
}

function candidate(given: Given): KeepCandidate {
  const { url = 'https://e.org/a.html', mediaType = 'text/html', language = 'en', bytes = 1000, text = '' } = given;
  return { url, page: { mediaType, language, bytes, text: () => text } };
}

function check(filter: string, kept: Given[], dropped: Given[]): void {
  const keeps = compileKeep(parseKeep(filter));
  for (const given of kept) assert.equal(keeps(candidate(given)), true, `${filter} keeps ${JSON.stringify(given)}`);
  for (const given of dropped) assert.equal(keeps(candidate(given)), false, `${filter} drops ${JSON.stringify(given)}`);
}

test('an empty filter keeps everything', () => {
  assert.deepEqual(parseKeep(''), keepAll);
  check(' ; ', [{}, { bytes: 0, mediaType: '', language: '' }], []);
});

test('media types, with wildcards', () => {
  check('type=Text/HTML,image/*', [{}, { mediaType: 'image/png' }], [{ mediaType: 'text/plain' }, { mediaType: '' }]);
  check('type=*/*', [{ mediaType: 'x/y' }], []);
});

test('extensions; none stands for pages without one', () => {
  check(
    'ext=html,.PDF',
    [{}, { url: 'https://e.org/x/b.PDF?v=1.zip' }],
    [{ url: 'https://e.org/' }, { url: 'https://e.org/a.b/c' }, { url: 'https://e.org/x?f=a.html' }],
  );
  check('ext=none', [{ url: 'https://e.org/' }, { url: 'https://e.org/.htaccess' }], [{}]);
});

test('sizes', () => {
  check('size=<5kB', [{ bytes: 5000 }], [{ bytes: 5001 }]);
  check('size=>1kB,<2MB', [{ bytes: 1000 }, { bytes: 2e6 }], [{ bytes: 999 }, { bytes: 2e6 + 1 }]);
  check('size=<=1.5KiB', [{ bytes: 1536 }], [{ bytes: 1537 }]);
});

test('languages by their primary tag; unknown stands for those without', () => {
  check('lang=en,de-CH', [{ language: 'en-US' }, { language: 'de' }], [{ language: 'fr' }, { language: '' }]);
  check('lang=unknown', [{ language: '' }], [{ language: 'en' }]);
});

test('paths and keywords', () => {
  check('path=/docs/**,*.txt', [{ url: 'https://e.org/docs/x' }, { url: 'https://e.org/y/z.txt' }], [{}]);
  check(
    'word=Geese, wild  goose,où,雁',
    [
      { text: 'Two geese fly.' },
      { text: 'the Wild goose' },
      { text: 'GEESE' },
      { text: 'sais-tu ou' },
      { text: '空に雁がいる' },
    ],
    [{ text: 'mongeese' }, { text: 'wildgoose chase' }, { text: 'source' }, { text: 'geese2' }, { text: '' }],
  );
});

test('all parts must hold, and the text is not made where a cheaper part decides', () => {
  const keeps = compileKeep(parseKeep('type=text/plain;word=x'));
  const page = { mediaType: 'text/html', language: '', bytes: 1, text: () => assert.fail('text was made') };
  assert.equal(keeps({ url: 'https://e.org/', page }), false);
});

test('what is wrong with a filter is named', () => {
  const wrong: [string, RegExp][] = [
    ['tpye=text/html', /no part named "tpye"/],
    ['text/html', /no part named "text\/html"/],
    ['type', /nothing after "type"/],
    ['type= , ', /nothing after "type"/],
    ['type=html', /"html" is not a media type/],
    ['size=5MB', /"5MB" is not a limit/],
    ['size=>5MB,<1MB', /No size fits/],
    ['lang=en;lang=de', /"lang" twice/],
  ];
  for (const [text, message] of wrong) {
    assert.throws(
      () => parseKeep(text),
      (error: unknown) => error instanceof SkeinError && error.code === 'bad-option' && message.test(error.message),
      text,
    );
  }
});

test('text is folded, and mentions are counted as whole words', () => {
  assert.equal(foldText('ÀÉÎ Straße ﬁ'), 'aei straße fi');
  assert.equal(mentions('a goose, goose-goose gooses goose', 'goose', 9), 4);
  assert.equal(mentions('a goose, goose-goose gooses goose', 'goose', 2), 2);
  assert.equal(mentions('ägoose goosé', 'goose', 9), 0);
});
