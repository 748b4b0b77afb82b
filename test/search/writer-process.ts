/** Writes batches into an index until it is killed: batch n holds page n, and rewrites page 1 to say so. */
import { openSearch } from '../../src/search/index.ts';
import { document } from './documents.ts';

const search = openSearch(process.argv[2]!);
for (let n = Number(search.updates.cursor() || 1) + 1; ; n++) {
  const filler = `batch number ${n} `.repeat(500);
  search.updates.apply({
    changed: [document(1, { text: `state${n}` }), document(n, { text: `page${n} ${filler}` })],
    gone: n % 5 === 0 ? [n - 1] : [],
    cursor: String(n),
    from: search.updates.cursor(),
  });
  if (n % 3 === 0) process.stdout.write('.');
}
