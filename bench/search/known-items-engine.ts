/** One engine with all pages, asked all queries: `node known-items-engine.ts NAME DIRECTORY CHECKOUT SHELF`. Tells its parent. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { queriesFor } from './by-hand.ts';
import type { Asked } from './known-items.ts';
import { type Material, realPages } from './pages.ts';
import { openPeer } from './peers.ts';
import { xapian } from './xapian.ts';

const BATCH = 400;
/** Results looked at. */
const SHOWN = 20;

interface Engine {
  fill(material: Material): unknown;
  query(text: string): number[];
}

const root = join(import.meta.dirname, '..', '..');
const [name = '', directory = '', before = '', shelf = ''] = process.argv.slice(2);

function milliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Skein as it is in that checkout. */
async function skein(checkout: string): Promise<Engine> {
  const module = pathToFileURL(join(checkout, 'src', 'search', 'index.ts')).href;
  const { openSearch } = (await import(module)) as typeof import('../../src/search/index.ts');
  const search = openSearch(join(directory, `${name}.db`));
  // Checkouts of before have what changes an index in the index itself.
  const updates = search.updates ?? (search as unknown as typeof search.updates);
  return {
    fill({ documents, said }) {
      for (let at = 0; at < said.length; at += BATCH)
        updates.apply({ changed: [], gone: [], said: said.slice(at, at + BATCH) });
      for (let at = 0; at < documents.length; at += BATCH)
        updates.apply({ changed: documents.slice(at, at + BATCH), gone: [] });
      while (updates.settle(false));
    },
    query: text => search.query(text, { limit: SHOWN }).hits.map(hit => hit.page),
  };
}

/** A peer, which gets what links say of a page as one more field. */
async function peer(): Promise<Engine> {
  const opened = name === 'xapian' ? xapian(root, directory) : await openPeer(root, name, true);
  return {
    async fill({ documents, said }) {
      const texts = new Map<number, Set<string>>();
      for (const { target, text } of said.flatMap(({ links }) => links))
        texts.set(target, (texts.get(target) ?? new Set()).add(text));
      const told = documents
        .filter(({ noindex }) => !noindex)
        .map(page => ({ ...page, anchors: [...(texts.get(page.page) ?? [])].slice(0, 20).join('\n') }));
      for (let at = 0; at < told.length; at += BATCH) await opened.put(told.slice(at, at + BATCH));
    },
    query: text => opened.query(text),
  };
}

const material = realPages(root, shelf);
const items = queriesFor(shelf, material.documents);
const engine = name === 'skein' ? await skein(root) : name === 'before' ? await skein(before) : await peer();
const started = milliseconds();
await engine.fill(material);
const filled = milliseconds();
const ranks = items.map(({ query, pages }) => {
  try {
    const place = engine.query(query).findIndex(page => pages.has(page));
    return place < 0 ? 0 : 1 / (place + 1);
  } catch {
    return 0; // the query was refused
  }
});
const filling = (filled - started) / material.documents.length;
const asking = (milliseconds() - filled) / items.length;
process.send?.({ name, filling, asking, ranks } satisfies Asked, () => process.exit(0));
