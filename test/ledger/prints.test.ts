/** One URL is found in a ledger of any size, whether or not its chunk is full, by the writer and by a reader beside it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { CHUNK } from '../../src/ledger/pages/prints.ts';

const urlOf = (page: number) => `http://s.test/${page}`;

function add(ledger: Ledger, pages: number): void {
  ledger.begin();
  for (let left = pages; left > 0; left--) {
    const url = urlOf(ledger.pages.size + 1);
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    const row = { high, low, server: 1, url, parent: 0, depth: 0, hops: 0, relevance: 0, found: 0 };
    ledger.pages.add({ ...row, refused: null, role: 0, lastmod: null });
  }
}

function find(ledger: Ledger, url: string): number | undefined {
  const { high, low } = fingerprint(url, { high: 0, low: 0 });
  const page = ledger.pages.find(high, low);
  if (page) assert.equal(page.url, url);
  return page?.id;
}

test('pages of full chunks and of the last one are found, and no others', context => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-prints-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const writer = new Ledger(directory, 'write');
  add(writer, 10);
  writer.commit();
  const reader = new Ledger(directory, 'read');
  assert.equal(find(reader, urlOf(10)), 10);

  add(writer, 2 * CHUNK);
  writer.commit();
  for (const id of [1, 10, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 2 * CHUNK + 10]) {
    for (const ledger of [writer, reader]) assert.equal(find(ledger, urlOf(id)), id);
  }
  assert.equal(find(reader, urlOf(2 * CHUNK + 11)), undefined);
  // The lower half alone does not make a page of another.
  const { high, low } = fingerprint(urlOf(7), { high: 0, low: 0 });
  assert.equal(reader.pages.find(high ^ 1, low), undefined);

  add(writer, CHUNK);
  writer.abandon();
  assert.equal(find(reader, urlOf(2 * CHUNK + 11)), undefined);
  reader.close();
  writer.close();

  const next = new Ledger(directory, 'write');
  add(next, CHUNK);
  next.commit();
  assert.equal(find(next, urlOf(3 * CHUNK + 1)), 3 * CHUNK + 1);
  assert.equal(find(next, urlOf(2 * CHUNK + 5)), 2 * CHUNK + 5);
  next.close();
});
