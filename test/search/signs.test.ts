import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signTerms, textSigns } from '../../src/search/terms/signs.ts';
import { document, indexOf, NOW } from './documents.ts';

/** Terms as they were written. */
const read = (terms: readonly string[]) =>
  terms.map(term => term.replace(/[\ue100-\ue17f]/g, each => String.fromCharCode(each.charCodeAt(0) - 0xe100)));

const texts: readonly (readonly [text: string, signs: readonly string[]])[] = [
  ['select a ->> b, or x := 5; see “=..”, && and %>%.', ['->>', ':=', '&&', '%>%']],
  ['the operators "->", (::) and `=..` stand alone', ['->', '::', '=..']],
  ['a @property takes *args, **kwargs, $var and $1', ['@property', '*args', '**kwargs', '$var']],
  [
    'with --option, -x, %TYPE, \\d, &mut and #include <stdio.h>',
    ['--option', '-x', '%type', '\\d', '&mut', '#include', '<stdio'],
  ],
  [
    'C++17 or C#, HEAD^ and vec![] beside __init__ and __cplusplus',
    ['c++', 'c++17', 'c#', 'head^', 'vec![]', '__init__', '__cplusplus'],
  ],
  ["compares by operator<=> and casts 'A'::text", ['operator<=>', '::text']],
  ['Ends. Why? Look! And so on... well-known, and/or, 5.3, -5 e.g. http://x.example/y', []],
  ['----------- ***** a = b, 1 < 2', []],
];

test('signs are read from running text where they are names or belong to one', () => {
  for (const [text, signs] of texts) assert.deepEqual(read(textSigns(text)), signs, text);
});

test('a name is kept as often as it stands there, within bounds', () => {
  assert.equal(textSigns('a ->> b\n'.repeat(5)).length, 5);
  assert.equal(textSigns('a ->> b\n'.repeat(500)).length, 16);
  assert.equal(textSigns(Array.from({ length: 5000 }, (_, at) => `@name${at}`).join(' ')).length, 200);
});

test('what is read from a text is read from a query in the same way', () => {
  for (const [text, signs] of texts)
    for (const sign of signs) assert.ok(read(signTerms(sign)).includes(sign), text + sign);
});

test('a hostile text costs time that grows with its length only', () => {
  for (const piece of ['_', '#', 'a#', '__', '++', 'a_', '-a', '$'])
    assert.ok(textSigns(piece.repeat(400_000 / piece.length)).length <= 200 * 16);
});

const filler = 'Much is said here about other things, and more about others still.';
const manual = [
  document(1, { title: 'init', text: `Makes an empty one. ${filler}` }),
  document(2, { title: 'Classes', text: `Objects are made by __init__ first. Then @property and *args. ${filler}` }),
  document(3, { title: 'Property of the company', text: `Its property is large. ${filler}` }),
  document(4, { title: 'JSON', text: `Get a field as text: ->> gives text, -> gives JSON. ${filler}` }),
  document(5, { title: 'Pattern matching', text: `Without regard to case: ~* matches. ${filler}` }),
  document(6, { title: 'Declarations', text: `The type of a column is copied by name%TYPE or %TYPE alone. ${filler}` }),
  document(7, { title: 'Type', text: `A type of types. ${filler}` }),
];

test('a name with its signs in a text comes before its letters in a title', async context => {
  const search = indexOf(context, manual);
  for (const [query, page] of [
    ['__init__', 2],
    ['init', 1],
    ['@property', 2],
    ['property', 3],
    ['*args', 2],
    ['->>', 4],
    ['->', 4],
    ['~*', 5],
    ['%TYPE', 6],
  ] as const)
    await context.test(query, () => assert.equal(search.query(query, { now: NOW }).hits[0]?.page, page));
});
