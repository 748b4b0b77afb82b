/**
 * The door of a fetching thread. Threads do not share compiled code: without the cache each of them strips and compiles
 * the crawler anew, which took a third of a second of a crawl that takes three.
 */
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./thread-work.ts');
