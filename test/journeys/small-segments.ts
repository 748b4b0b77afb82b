/** A crawl as a process of its own whose archive rolls early: `node small-segments.ts DATA BYTES SEED…`. */
import { crawlHere } from './skein.ts';

const [data, bytes, ...seeds] = process.argv.slice(2);
await crawlHere({ data, threads: 1, connections: 2, scope: '*' }, seeds, { archive: { segmentBytes: Number(bytes) } });
