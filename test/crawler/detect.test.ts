import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { differingBlocks, differingSpots } from '../../src/crawler/detect/blocks.ts';
import { determinant, imageCode, imageFacts, imagesDiffer } from '../../src/crawler/detect/image.ts';
import {
  changedContents,
  changedLevels,
  levelCounts,
  levelTable,
  tagStrings,
} from '../../src/crawler/detect/structure.ts';
import { sameCode, textCode1, textCode2, textCode2Of } from '../../src/crawler/detect/text-codes.ts';
import { unpackFacts } from '../../src/errand/facts.ts';

/** How the scanner hashes strings of letters of tags. */
function tagHash(letters: string): number {
  let hash = 0;
  for (let i = 0; i < letters.length; i++) hash = Math.imul((hash ^ letters.charCodeAt(i)) | 0, 0x01000193);
  return hash >>> 0;
}

test('I-method of structure: the strings of the paper’s page, and the scanner’s hashes of them', () => {
  const names = ['html', 'head', 'title', 'body', 'h1', 'p', 'p', 'p'];
  assert.deepEqual(tagStrings(names), ['hhtbhppp', 'ldey1ppp']);
  const body = Buffer.from(names.map(name => `<${name}>`).join(''));
  const page = analyse({
    url: 'http://a.test/',
    headers: new Map(),
    body: Buffer.concat([body.subarray(0, 19), Buffer.from('</title>'), body.subarray(19)]),
  });
  const facts = unpackFacts(page.facts)!;
  assert.equal(facts.tagFirst, tagHash('hhtbhppp'));
  assert.equal(facts.tagLast, tagHash('ldey1ppp'));
});

test('I-method of structure cannot tell tags of the same first and last letters', () => {
  assert.deepEqual(tagStrings(['section', 'td']), tagStrings(['span', 'thead']));
});

const before = new Map<number, number[]>([
  [1, [2]],
  [2, [3, 4]],
  [3, [5]],
  [4, [6]],
  [6, [7]],
  [7, [8, 9]],
  [9, [10]],
  [10, [11, 12, 13, 14]],
  [12, [15]],
]);
/** Nodes 16 to 19 came in; 17 has two children, which the paper's own table forgets. */
const after = new Map<number, number[]>([...before, [8, [16]], [16, [17]], [17, [18, 19]]]);

test('II-method of structure: the paper’s tree before and after', () => {
  const old = levelTable(before, 1);
  assert.deepEqual(old.level, [1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 8, 8, 8, 9]);
  assert.deepEqual(old.id, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
  assert.deepEqual(old.child, [1, 2, 1, 1, 0, 1, 2, 0, 1, 4, 0, 1, 0, 0, 0]);
  assert.deepEqual(old.levelArray, [1, 1, 2, 2, 2, 2, 1, 2, 2, 1, 4, 4, 4, 4, 1], 'the paper leaves the last one out');
  const now = levelTable(after, 1);
  assert.deepEqual(now.id, [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 10, 17, 11, 12, 13, 14, 18, 19, 15]);
  assert.deepEqual(now.levelArray, [1, 1, 2, 2, 2, 2, 1, 2, 2, 2, 2, 5, 5, 5, 5, 5, 3, 3, 3]);
  assert.equal(
    now.child.reduce((sum, each) => sum + each),
    18,
    'the paper prints 17 for 19 nodes',
  );
  assert.deepEqual(levelCounts(old.level), [1, 1, 2, 2, 1, 2, 1, 4, 1]);
  assert.deepEqual(levelCounts(now.level), [1, 1, 2, 2, 1, 2, 2, 5, 3]);
  assert.deepEqual(changedLevels(levelCounts(old.level), levelCounts(now.level)), [7, 8, 9]);
});

test('CONTENT VALUE: what each node says, as a code of the second method', () => {
  const says = (texts: Record<number, string>) => levelTable(before, 1, node => textCode2Of(texts[node] ?? ''));
  const old = says({ 5: 'goose', 11: 'a' });
  assert.equal(old.content[10], 97);
  assert.equal(
    old.content[4],
    textCode2(
      'goose'.split('').reduce((sum, c) => sum + c.charCodeAt(0) ** 2, 0),
      5,
    ),
  );
  assert.deepEqual(changedContents(old, says({ 5: 'goose', 11: 'b' })), [8]);
  assert.deepEqual(changedContents(old, says({ 5: 'egoos', 11: 'a' })), [], 'letters in another order have one code');
  assert.deepEqual(changedContents(old, levelTable(after, 1)), [4], 'levels 7 to 9 have other numbers of nodes');
});

const opening =
  'March 26, 2007 issue - The stereotype of the "dumb jock" has never sounded right to Charles Hillman. A jock himself, he ';
const middle =
  " times a week, but when he isn't body-checking his opponents on the ice, he's giving his mind a comparable workout in his neuroscience and kinesiology lab at the University of ";
const ending =
  ". Nearly every semester in his classroom, he says, students on the women's cross-country team set the curve on his exams. So recently he started wondering if there was a vital and overlooked link between brawn and brains—if long hours at the gym could somehow build up not just muscles, but minds.";
const first = `${opening}plays hockey four${middle}Illinois${ending}`;
const second = `${opening}used to play hockey five${middle}Florida${ending}`;

test('I-method of text: the paper’s numbers, read as its program read them', () => {
  const options = { charset: 'cp1252', signed: true, countEof: true } as const;
  assert.deepEqual(textCode1(first, options), { sum: 56_652, characters: 619, distinct: 43, code: 56_652 / 43 });
  assert.deepEqual(textCode1(second, options), { sum: 57_113, characters: 625, distinct: 43, code: 57_113 / 43 });
  assert.equal(Math.fround(56_652 / 43).toFixed(6), '1317.488403');
  assert.equal(Math.fround(57_113 / 43).toFixed(6), '1328.209351');
  assert.deepEqual(textCode1(first), { sum: 64_970, characters: 618, distinct: 44, code: 64_970 / 44 });
});

test('II-method of text: the paper’s sums give its codes', () => {
  assert.equal(Math.fround(textCode2(2_830_106, 296)).toFixed(6), '5.683418');
  assert.equal(Math.fround(textCode2(2_876_660, 300)).toFixed(6), '5.653573');
});

test('text codes are not unique, whatever the paper says', () => {
  assert.equal(textCode1('listen').code, textCode1('silent').code);
  assert.equal(textCode1('dog bit man 12').code, textCode1('man bit dog 21').code);
  // One letter in 300,000: lost in the second method's decimals.
  assert.ok(sameCode(textCode2(3e9, 300_000), textCode2(3e9 + 101 ** 2 - 97 ** 2, 300_000)));
});

test('determinants are exact', () => {
  assert.equal(determinant([[3n]]), 3n);
  assert.equal(
    determinant([
      [0n, 2n],
      [3n, 4n],
    ]),
    -6n,
  );
  assert.equal(
    determinant([
      [2n, 0n, 1n],
      [1n, 3n, 2n],
      [1n, 1n, 4n],
    ]),
    18n,
  );
  assert.equal(
    determinant([
      [1n, 2n],
      [2n, 4n],
    ]),
    0n,
  );
  const large = 10n ** 30n;
  assert.equal(
    determinant([
      [large, 1n],
      [1n, large],
    ]),
    large * large - 1n,
  );
});

test('ival: a number of the two-tone image, 0 for images of low rank', () => {
  const bits = new Uint8Array(32 * 32);
  assert.equal(imageCode(bits, 32), 0n);
  for (let row = 0; row < 32; row++) bits[row * 32 + (row % 32)] = 1;
  // Rows 0–15 have one bit in the first number, rows 16–31 in the second: sums of squares of the powers of two.
  const sum = Array.from({ length: 16 }, (_, i) => 4n ** BigInt(i)).reduce((a, b) => a + b);
  assert.equal(imageCode(bits, 32), sum * sum);
  assert.equal(imageCode(new Uint8Array(16 * 16).fill(1), 16), 16n * 0xffffn ** 2n);
});

async function picture(shift: number): Promise<Buffer> {
  const side = 64;
  const pixels = Buffer.alloc(side * side * 3);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++)
      pixels.fill((x * x + y * 3 + shift * (x > 30 ? y * 4 : 0)) & 255, (y * side + x) * 3, (y * side + x) * 3 + 3);
  }
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .png()
    .toBuffer();
}

test('images: bytes say changed, the look says how much', async () => {
  const [one, other] = [await imageFacts(await picture(0)), await imageFacts(await picture(1))];
  const again = await imageFacts(
    await sharp(await picture(0))
      .png({ compressionLevel: 1 })
      .toBuffer(),
  );
  assert.ok(imagesDiffer([one], [other]) && imagesDiffer([one], [other], 'ival'));
  assert.ok(imagesDiffer([one], [again]), 'other bytes');
  assert.equal(lookDistance(one.look, again.look), 0);
  assert.equal(one.ival, again.ival);
  assert.ok(lookDistance(one.look, other.look) > 5);
  assert.ok(!imagesDiffer([one], [one]));
  assert.ok(imagesDiffer([one], [one, one]));
  const broken = await imageFacts(Buffer.from('no image'));
  assert.deepEqual([broken.look, broken.ival], [0n, 0n]);
});

test('blocks: where two versions differ', () => {
  const spots = (a: number[], b: number[]) => differingSpots(Uint16Array.from(a), Uint16Array.from(b));
  assert.deepEqual(spots([1, 2, 3], [1, 2, 3]), []);
  assert.deepEqual(spots([1, 2, 3], [1, 9, 3]), [{ before: [1, 2], after: [1, 2] }]);
  assert.deepEqual(spots([1, 2, 3], [1, 3]), [{ before: [1, 2], after: [1, 1] }]);
  assert.deepEqual(spots([1, 3], [1, 2, 3, 4]), [
    { before: [1, 1], after: [1, 2] },
    { before: [2, 2], after: [3, 4] },
  ]);
  assert.deepEqual(spots([], [5]), [{ before: [0, 0], after: [0, 1] }]);
  assert.deepEqual(differingBlocks(spots([1, 2, 3], [1, 3]), Uint16Array.of(1, 3)), [1]);
  assert.deepEqual(differingBlocks(spots([1], []), new Uint16Array(0)), []);
});

/** Bits in which two looks differ; up to about 10 of 64 look the same. */
function lookDistance(a: bigint, b: bigint): number {
  let count = 0;
  for (let bits = a ^ b; bits > 0n; bits &= bits - 1n) count++;
  return count;
}
