/** What is told of chunks: what changed and little else, once each, however the reader or the writer ends. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { allowAgain, forgetIn } from '../../src/engine/house/forget.ts';
import { chunkChanges, chunksOf } from '../../src/extract/chunks.ts';
import { extractPage } from '../../src/extract/page.ts';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { openPages, type Pages } from '../journeys/pages.ts';
import { skein, start, workplace } from '../journeys/skein.ts';

const place = workplace();
after(() => place[Symbol.dispose]());
const schema = join(place.path, 'schema.json');
writeFileSync(schema, '{"fields": {"name": "h1"}}');

const PAGES = 40;
const SECTIONS = 10;

/** A site of documentation whose paragraphs can be edited one by one. */
class Docs {
  readonly #pages: Pages;
  readonly #edits = new Map<string, string>();

  constructor(pages: Pages) {
    this.#pages = pages;
    for (let page = 0; page < PAGES; page++) this.show(page);
    pages.set('/', {
      body: `<body>${Array.from({ length: PAGES }, (_, p) => `<a href=/${p}>${p}</a>`).join(' ')}</body>`,
    });
  }

  edit(page: number, section: number, text: string): void {
    this.#edits.set(`${page} ${section}`, text);
    this.show(page);
  }

  show(page: number): void {
    const sections = Array.from({ length: SECTIONS }, (_, n) => {
      const words = `Paragraph ${n} of page ${page} tells, in some words, what part ${n * page} does and why it does so.`;
      return `<h2>Section ${n}</h2><p>${words} ${this.#edits.get(`${page} ${n}`) ?? ''}</p><pre>run ${page}\n  ${n}</pre>`;
    });
    const [path, title] = [`/${page}`, `Page ${page}`];
    this.#pages.set(path, {
      body: `<html><head><title>${title}</title></head><body><main><h1>${title}</h1>${sections.join('')}</main></body></html>`,
    });
  }

  /** All but the first section go. */
  shorten(page: number): void {
    this.#pages.set(`/${page}`, {
      body: `<title>Page ${page}</title><main><h1>Page ${page}</h1><h2>Section 0</h2><p>All that is left of page ${page} is this.</p></main>`,
    });
  }

  drop(page: number): void {
    this.#pages.set(`/${page}`, { status: 410, body: 'gone' });
  }
}

interface Line {
  readonly kind: 'added' | 'changed' | 'removed' | 'cleared';
  readonly id: string;
  readonly hash: string;
  readonly url: string;
}

/** Keeps something for each chunk, as a vector store does, and insists that it is told each thing once. */
class Store {
  readonly held = new Map<string, string>();
  readonly #urls = new Map<string, string>();
  cursor = '0';
  told = 0;

  take(lines: readonly string[]): void {
    for (const line of lines.slice(0, -1)) {
      const { kind, id, hash, url } = JSON.parse(line) as Line;
      if (kind === 'cleared') {
        for (const each of [...this.held.keys()].filter(key => this.#urls.get(key) === url)) this.held.delete(each);
        continue;
      }
      this.#urls.set(id, url);
      assert.equal(this.held.has(id), kind !== 'added', `${kind} ${id}`);
      assert.notEqual(this.held.get(id), kind === 'removed' ? undefined : hash);
      if (kind === 'removed') this.held.delete(id);
      else this.held.set(id, hash);
      this.told++;
    }
    this.cursor = (JSON.parse(lines.at(-1)!) as { cursor: string }).cursor;
  }
}

async function chunksNow(collection: Collection): Promise<Map<string, string>> {
  const { stdout } = await skein(['export', '--format', 'chunks', '--data', collection.directory]);
  const lines = stdout.toString().trim().split('\n');
  return new Map(lines.map(line => JSON.parse(line) as Line).map(({ id, hash }) => [id, hash]));
}

/** Lines but for the last. */
async function asked(collection: Collection, after: string): Promise<Line[]> {
  const { stdout } = await skein(asking(collection, after));
  const lines = stdout.toString().trim().split('\n').slice(0, -1);
  return lines.map(line => JSON.parse(line) as Line);
}

const extracting = ({ directory }: Collection, after: string) =>
  ['extract', '--schema', schema, '--after', after, '--json', '--data', directory] as const;
const cursorIn = (json: string) => (JSON.parse(json) as { cursor: string }).cursor;

const asking = (collection: Collection, after: string) =>
  ['changes', '--format', 'chunks', '--after', after, '--data', collection.directory] as const;

async function tell(collection: Collection, store: Store): Promise<void> {
  const { code, stdout, stderr } = await skein(asking(collection, store.cursor));
  assert.equal(code, 0, stderr);
  store.take(stdout.toString().trim().split('\n'));
}

test('an edit of 1% of the sections of a site tells at most 3% of its chunks; pages that go take theirs along', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const docs = new Docs(pages);
  await collection.crawl([`${pages.origin}/`]);
  const store = new Store();
  await tell(collection, store);
  assert.ok(store.held.size >= PAGES * SECTIONS);
  assert.deepEqual(store.held, await chunksNow(collection));
  for (const n of [3, 11, 20, 35]) docs.edit(n, n % SECTIONS, `Edited: this part is about ${n} other things now.`);
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  store.told = 0;
  await tell(collection, store);
  assert.ok(store.told >= 4 && store.told <= 0.03 * store.held.size, `${store.told} of ${store.held.size}`);
  assert.deepEqual(store.held, await chunksNow(collection));
  docs.drop(7);
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  store.told = 0;
  await tell(collection, store);
  assert.equal(store.told, SECTIONS, 'the chunks of the page that went');
  docs.show(7);
  collection.pass(40);
  await collection.refresh({ budget: '100%' });
  await tell(collection, store);
  assert.deepEqual(store.held, await chunksNow(collection));
  store.told = 0;
  await tell(collection, store);
  assert.equal(store.told, 0, 'nothing new, nothing told');
});

test('kill -9 of whoever tells, at any moment, loses nothing and repeats nothing', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const docs = new Docs(pages);
  await collection.crawl([`${pages.origin}/`]);
  const store = new Store();
  const file = join(collection.directory, 'told.jsonl');
  for (let round = 0; round < 3; round++) {
    for (let kill = 0; kill < 4; kill++) {
      const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
      const running = start([...asking(collection, store.cursor), '--out', file]);
      await pause(60 + 110 * kill + 30 * round);
      running.child.kill('SIGKILL');
      await running.ended;
      const now = existsSync(file) ? readFileSync(file, 'utf8') : '';
      // A file under its name is whole: the reader takes it, and its cursor with it.
      if (now !== before) store.take(now.trim().split('\n'));
    }
    await tell(collection, store);
    assert.deepEqual(store.held, await chunksNow(collection), `round ${round}`);
    docs.edit(round, 4, `In round ${round} this was edited, so that it is told.`);
    docs.drop(20 + round);
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  await tell(collection, store);
  assert.deepEqual(store.held, await chunksNow(collection));
});

test('whoever kept chunks of a page that is forgotten is told once, also where it was allowed to come back', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  new Docs(pages);
  await collection.crawl([`${pages.origin}/`]);
  const store = new Store();
  await tell(collection, store);
  const extracted = await skein(extracting(collection, '0'));
  const all = store.held.size;
  await forgetIn(collection.directory, [`${pages.origin}/7`, `${pages.origin}/1*`]);
  const clears = async () => (await asked(collection, store.cursor)).filter(({ kind }) => kind === 'cleared');
  assert.equal((await clears()).length, 12);
  const rows = await skein(extracting(collection, cursorIn(extracted.stderr)));
  assert.equal(rows.stdout.toString().match(/"gone":true/g)?.length, 12);
  await tell(collection, store);
  assert.equal(store.held.size, all - 12 * SECTIONS);
  assert.deepEqual(store.held, await chunksNow(collection));
  assert.deepEqual(await clears(), [], 'once');
  await forgetIn(collection.directory, [`${pages.origin}/8`]);
  allowAgain(collection.directory, [`${pages.origin}/8`]);
  await collection.crawl([`${pages.origin}/8`]);
  await tell(collection, store);
  assert.deepEqual(store.held, await chunksNow(collection));
});

test('a reader that stands where versions and looks are kept no more still ends with what the collection holds', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const docs = new Docs(pages);
  await collection.crawl([`${pages.origin}/`], { keepVersions: 1 });
  const store = new Store();
  await tell(collection, store);
  docs.shorten(5);
  docs.edit(6, 2, 'Edited before the reader asks again.');
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  docs.edit(6, 3, 'And edited once more.');
  docs.drop(9);
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  store.told = 0;
  await tell(collection, store);
  assert.deepEqual(store.held, await chunksNow(collection));
  assert.ok(store.told < 5 * SECTIONS, `${store.told} for three pages`);
  // The visit that the cursor names is deleted with other looks of long ago.
  for (let month = 0; month < 3; month++) {
    collection.pass(35);
    docs.edit(10 + month, 1, 'A month later.');
    await collection.refresh({ budget: '100%' });
  }
  assert.equal(
    collection.look(ledger => ledger.visits.get(Number(store.cursor.split('-')[0]))),
    undefined,
  );
  await tell(collection, store);
  assert.deepEqual(store.held, await chunksNow(collection));
});

test('a cursor that is none, or is of another collection, is refused with what to do', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  new Docs(pages);
  await collection.crawl([`${pages.origin}/`]);
  for (const [after, says] of [
    ['x', /"x" is not a cursor/],
    ['1-5', /belongs to another collection/],
  ] as const) {
    const { code, stderr } = await skein(asking(collection, after));
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
  }
  assert.match(
    (await skein(['changes', '--after', '0', '--data', collection.directory])).stderr,
    /works only with --format chunks/,
  );
});

const DOCS = '/usr/share/doc/postgresql-doc-15/html';

test('real documentation: 1% of its pages rewritten tell at most 3% of its chunks; an edit tells little but its own', {
  skip: !existsSync(DOCS) && 'postgresql-doc-15 is not installed',
}, () => {
  const names = globSync('*.html', { cwd: DOCS }).sort();
  const tell = (edits: (page: number, paragraph: number) => boolean) => {
    let [paragraph, edited, all, told] = [0, 0, 0, 0];
    for (const [page, name] of names.entries()) {
      const html = readFileSync(join(DOCS, name), 'utf8');
      const other = html.replace(/<\/p>/g, end => {
        if (!edits(page, ++paragraph)) return end;
        edited++;
        return ` One more sentence.${end}`;
      });
      const before = chunksOf(extractPage(html, `http://a.org/${name}`), name);
      all += before.length;
      if (other === html) continue;
      const changes = chunkChanges(before, chunksOf(extractPage(other, `http://a.org/${name}`), name));
      told += changes.added.length + changes.changed.length + changes.removed.length;
    }
    return { edited, all, told };
  };
  const rewritten = tell(page => page % 100 === 50);
  assert.ok(rewritten.told > 20 && rewritten.told <= 0.03 * rewritten.all, JSON.stringify(rewritten));
  // A chunk holds several paragraphs, so edits of 1% of them, each elsewhere, are in more than 1% of the chunks.
  const spread = tell((_, paragraph) => paragraph % 100 === 0);
  assert.ok(spread.told <= 1.25 * spread.edited, JSON.stringify(spread));
});
