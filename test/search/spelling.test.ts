import assert from 'node:assert/strict';
import { test } from 'node:test';
import { document, found, indexOf, NOW, pagesOf, put } from './documents.ts';

const pages = [
  document(1, { title: 'Replication slots', text: 'A replication slot keeps what a standby has not read yet.' }),
  document(2, { title: 'Databases', text: 'One server has many databases. Each database has tables.' }),
  document(3, { title: 'Häuser', text: 'Die Häuser stehen am See, und das Haus am Wald nicht.', language: 'de' }),
  document(4, { title: 'Tables', text: 'How to create a table: a table has columns.' }),
];

test('a word that no page has is taken for the one that it nearly is', context => {
  const search = indexOf(context, pages);
  const meant = (query: string) => search.query(query).corrected;
  assert.equal(meant('replicatoin'), 'replication', 'a mistake in an ending that stemming would have cut');
  assert.equal(meant('databse'), 'database', 'the word that is nearest as it is written');
  assert.equal(meant('Databse replicaton -tables'), 'database replication -tables');
  assert.equal(meant('tabel columns'), 'table columns', 'though some pages have the other word');
  assert.equal(meant('häusser'), 'häuser');
  assert.deepEqual(found(search, 'databse'), [2]);
});

test('nothing is guessed where there is nothing to guess, or the words were found', context => {
  const search = indexOf(context, pages);
  for (const query of ['table', 'xylophone', 'slo', 'r2d2x', '"databse"', 'databs*', 'title:databse', 'slot columns'])
    assert.equal(search.query(query).corrected, undefined, query);
  assert.equal(indexOf(context, []).query('databse').corrected, undefined, 'an empty index');
});

test('a corrected answer is not kept: a page that has the word itself is found at once', context => {
  const search = indexOf(context, pages);
  assert.equal(search.query('databse').corrected, 'database');
  put(search, [document(9, { title: 'Databse', text: 'a name' })]);
  const { corrected, hits } = search.query('databse');
  assert.deepEqual([corrected, hits.map(hit => hit.page)], [undefined, [9]]);
});

test('what a page has misspelt, too, is found as it is meant, and that page with it', context => {
  const many = Array.from({ length: 60 }, (_, at) =>
    document(20 + at, { title: `Part ${at}`, text: `Numbers of a sequence, number ${at}.` }),
  );
  const search = indexOf(context, [
    ...many,
    document(1, { title: 'Sequence', text: 'One after the other.' }),
    document(2, { title: 'Other', text: 'Somebody wrote sequnce here.' }),
    document(3, { title: 'Inheritance', text: 'What a table has of another.' }),
    document(4, { title: 'Inherited', text: 'What was inherited, inherits, and inherits.' }),
    document(5, { title: 'Sequents', text: 'A calculus.' }),
  ]);
  assert.equal(found(search, 'sequnce')[0], 1);
  assert.ok(pagesOf(search.query('sequnce', { limit: 100 })).includes(2));
  assert.equal(found(search, 'inheritence')[0], 3, 'no page writes it so, though it has the stem of another word');
  assert.deepEqual(found(search, '"sequnce"'), [2], 'in quotation marks it is left as it is');
});

test('small words of a question are not looked for, unless there is little else', context => {
  const search = indexOf(context, [
    ...pages,
    document(5, { title: 'Who we are', text: 'This is what we do.' }),
    document(6, { title: 'Creation', text: 'Tables that people create are made of wood.' }),
  ]);
  assert.deepEqual(pagesOf(search.query('how do I create a table')).slice(0, 2).sort(), [4, 6]);
  assert.deepEqual(found(search, 'who we are'), [5]);
  assert.deepEqual(found(search, '"create a table"'), [4]);
});

test('what is written in one stands apart in a name, and a mistake is no word of a rare language', context => {
  const many = Array.from({ length: 60 }, (_, at) =>
    document(100 + at, { title: `Part ${at}`, text: `What a commit keeps, number ${at}.` }),
  );
  const search = indexOf(context, [
    ...many,
    document(1, { title: 'git-cherry-pick(1)', text: 'Takes a change from elsewhere.' }),
    document(2, { title: 'Changes', text: 'A cherrypick of somebody.' }),
    document(3, { title: 'Atomic commit', text: 'All or nothing.' }),
    document(4, { title: 'Atomique', text: 'On compte les choses de la page com pour les gens.', language: 'fr' }),
    document(5, { title: 'Hooks', text: 'Written by the comitter.' }),
  ]);
  assert.equal(pagesOf(search.query('cherrypick', { now: NOW }))[0], 1);
  assert.equal(pagesOf(search.query('atomic comit', { now: NOW }))[0], 3);
});

test('a page is called by the first part of its title, too', context => {
  const search = indexOf(context, [
    document(1, { title: '_thread — Low-level threading API', text: 'Lock and acquire, acquire a Lock, threading.' }),
    document(2, {
      title: 'threading — Thread-based parallelism',
      text: 'threading: a Lock that all acquire in the end, perhaps.',
    }),
  ]);
  assert.equal(pagesOf(search.query('threading.Lock acquire', { now: NOW }))[0], 2);
});
