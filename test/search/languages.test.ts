import assert from 'node:assert/strict';
import { test } from 'node:test';
import { document, indexOf, NOW } from './documents.ts';

test('pages come behind that are in another language than the query, or than most pages where the query does not tell', context => {
  const filler = (words: string) => `${words} `.repeat(12);
  const english = filler('the history of the firewall is not that of the network and you have this for it');
  const german = filler('die Geschichte der Firewall ist nicht die von dem Netz und das ist auch eine für sich');
  const search = indexOf(context, [
    document(1, { title: 'Firewall', text: german, language: 'de' }),
    document(2, { title: 'Firewall', text: `${english} and more`, language: 'en' }),
    ...[3, 4, 5, 6, 7, 8].map(page =>
      document(page, { title: `Page ${page}`, text: `${english.replaceAll('firewall', 'garden')} ${page}` }),
    ),
  ]);
  const firstOf = (query: string, language?: string) =>
    search.query(query, { now: NOW, unfold: true, ...(language && { language }) }).hits[0]?.page;
  assert.equal(firstOf('what is a firewall'), 2);
  assert.equal(firstOf('was ist eine Firewall und wie'), 1);
  assert.equal(firstOf('firewall'), 2);
  assert.equal(firstOf('firewall', 'de'), 1, 'the language of who asks counts more than that of most pages');
});
