/**
 * Crawls documentation and tells what a vector store has to do (RAG): a line of JSON for each chunk that came, changed or
 * went since the last run. Only those need a new embedding. A line `cleared` says that all chunks of its page go first.
 *
 *   node docs-to-chunks.ts https://docs.example ./collection | your-embedder
 *
 * The cursor is kept after all is told. A run that is killed before tells the same again, under the same ids.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'skein';

const [seed, data = './collection'] = process.argv.slice(2);
if (seed === undefined) throw new Error('Name the documentation.');

const file = join(data, 'told-up-to.txt');
const after = existsSync(file) ? readFileSync(file, 'utf8') : undefined;

const skein = await open({ data, pace: Number(process.env['PACE'] ?? 1), maxPages: 5000 });
try {
  if (after === undefined) await skein.crawl(seed).summary();
  else await skein.refresh({ budget: { share: 1 } }).summary();
  const { cursor } = await skein.chunks(process.stdout, { after });
  writeFileSync(`${file}.part`, cursor);
  renameSync(`${file}.part`, file);
} finally {
  await skein.close();
}
