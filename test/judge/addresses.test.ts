/** Mail addresses in disguise, which differ at each request and say the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { type Edit, editsBetween } from '../../src/judge/edits.ts';
import { plainAddress } from '../../src/judge/stems.ts';

function edits(before: string, after: string): readonly Edit[] {
  const pieces = (body: string) =>
    piecesOf({
      headers: new Map([['content-type', 'text/html']]),
      body: Buffer.from(`<p>Some text</p>${body}<p>More</p>`),
    })!;
  return editsBetween(pieces(before), pieces(after)).edits.filter(({ list }) => list !== 'tags');
}

test('a mail address is the same however it is written', () => {
  assert.equal(plainAddress('mailto:%41nn@Example.TEST'), 'mailto:ann@example.test');
  assert.equal(plainAddress('mailto:%2541nn@example.test'), 'mailto:ann@example.test', 'twice');
  const escaped = '<a href="mailto:&amp;#x61;&amp;#110;n&amp;#64;example.test">Write</a>';
  assert.deepEqual(
    edits('<a href="mailto:&amp;#97;nn&amp;#x40;example.test">Write</a>', escaped),
    [],
    'entities twice',
  );
  const disguised = '<a href="&#109;ailto:&#97;%6e&#x6e;@example.test">Write</a>';
  assert.deepEqual(edits('<a href="mailto:ann@example.test">Write</a>', disguised), []);
  assert.equal(
    edits('<a href="mailto:ann@example.test">Write</a>', '<a href="mailto:bob@example.test">Write</a>').length,
    1,
  );
  const covered = (key: number, address: string) =>
    `<a href="/x/email-protection#${Buffer.from([key, ...[...Buffer.from(address)].map(sign => sign ^ key)]).toString('hex')}">Mail</a>`;
  assert.deepEqual(edits(covered(7, 'ann@example.test'), covered(99, 'ann@example.test')), [], 'under another key');
  assert.equal(edits(covered(7, 'ann@example.test'), covered(7, 'bob@example.test')).length, 1);
});
