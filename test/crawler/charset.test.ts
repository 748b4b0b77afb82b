import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { charsetOf, toUtf8 } from '../../src/crawler/analysis/charset.ts';

const suite = new URL('../../../shared/suites/encoding/', import.meta.url);

test('html5lib: the encoding of every page', { skip: !existsSync(suite) && 'no ../shared/suites/encoding' }, () => {
  let count = 0;
  for (const file of readdirSync(suite).filter(name => name.endsWith('.dat'))) {
    const text = readFileSync(new URL(file, suite), 'latin1');
    for (const part of text.split(/(?:^|\n)#data\n/).slice(1)) {
      const [data, expected] = part.split('\n#encoding\n');
      const found = charsetOf(Buffer.from(data!, 'latin1'), undefined);
      assert.equal(found.name, expected!.trim().split('\n')[0]!.toLowerCase(), `${file}: ${data}`);
      count++;
    }
  }
  assert.ok(count >= 80, `${count} checks`);
});

test('byte order mark wins over the server, the server over the page', () => {
  const page = Buffer.from('<meta charset=koi8-r>x');
  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), page]);
  assert.deepEqual(charsetOf(marked, 'text/html; charset=iso-8859-1'), { name: 'utf-8', source: 'bom' });
  assert.deepEqual(charsetOf(page, 'text/html; charset="ISO-8859-1"'), { name: 'windows-1252', source: 'http' });
  assert.deepEqual(charsetOf(page, 'text/html'), { name: 'koi8-r', source: 'meta' });
  assert.deepEqual(charsetOf(page, 'text/html; charset=nonsense'), { name: 'koi8-r', source: 'meta' });
  assert.equal(toUtf8(marked, 'utf-8').length, page.length);
});

/** Bytes of a text in an encoding, by trying all bytes and pairs of bytes. */
function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const table = new Map<string, number[]>();
  for (let a = 0; a < 256; a++) {
    const one = decoder.decode(Uint8Array.of(a));
    if (one.length === 1 && one !== '\ufffd') table.set(one, [a]);
  }
  if (/euc|jis|gb|big/.test(encoding)) {
    for (let a = 0x81; a < 255; a++) {
      for (let b = 0x40; b < 255; b++) {
        const pair = decoder.decode(Uint8Array.of(a, b));
        if (pair.length === 1 && pair !== '\ufffd' && !table.has(pair)) table.set(pair, [a, b]);
      }
    }
  }
  return Buffer.from([...text].flatMap(c => table.get(c) ?? assert.fail(`${c} is not in ${encoding}`)));
}

const russian = 'Страница обновляется каждый день, и поэтому её нужно читать снова. Москва и Петербург.';
const japanese = 'このページは毎日更新されるので、もう一度読む必要があります。東京と大阪。カタカナ';
const samples: readonly (readonly [string, string])[] = [
  ['windows-1251', russian],
  ['koi8-r', russian],
  ['euc-jp', japanese],
  ['shift_jis', japanese],
  ['gb18030', '这个网页每天都会更新,所以我们要再看一次。他们在中国的大学里说的是中文,不是别的。'],
  ['big5', '這個網頁每天都會更新,所以我們要再看一次。他們在中國的大學裡說的是中文,不是別的。'],
  ['euc-kr', '이 페이지는 매일 바뀌기 때문에 다시 읽어야 합니다. 서울과 부산.'],
  ['windows-1253', 'Η σελίδα αλλάζει κάθε μέρα και πρέπει να διαβαστεί ξανά.'],
  ['windows-1255', 'הדף משתנה כל יום ולכן צריך לקרוא אותו שוב'],
  ['windows-1256', 'تتغير الصفحة كل يوم ولذلك يجب قراءتها مرة أخرى'],
  ['windows-874', 'หน้านี้เปลี่ยนทุกวันจึงต้องอ่านอีกครั้ง'],
  ['windows-1252', 'Größe, façade, naïve, español – “quoted” text with a price of 5 €.'],
  ['utf-8', russian],
];

for (const [name, text] of samples) {
  test(`a page that does not say so is read as ${name}`, () => {
    const bytes = name === 'utf-8' ? Buffer.from(text) : encode(text, name);
    assert.equal(charsetOf(bytes, undefined).name, name);
    assert.equal(Buffer.from(toUtf8(bytes, name)).toString(), text);
  });
}

test('ASCII and UTF-8 are not copied', () => {
  const page = Buffer.from('<p>plain');
  assert.equal(toUtf8(page, 'windows-1252'), page);
  assert.equal(toUtf8(page, 'utf-8'), page);
});

test('windows-1252 has its own characters from 0x80 to 0x9f', () => {
  assert.equal(Buffer.from(toUtf8(Uint8Array.of(0x93, 0x80, 0x94), 'windows-1252')).toString(), '“€”');
});

test('a cut UTF-8 page is still UTF-8', () => {
  const bytes = Buffer.from(russian);
  assert.equal(charsetOf(bytes.subarray(0, 51), undefined).name, 'utf-8');
});
