/**
 * What programs that use Skein need for their own tests: `import { testWeb, testClock, testCollection } from
 * 'skein/testing'`. Real servers on loopback, a real collection on disk, and time that the test moves. Nothing here
 * asks a network, and nothing else loads it.
 */
export { DAY, HOUR } from '../base/clock.ts';
export { type TestClock, testClock } from './clock.ts';
export { type TestCollection, testCollection } from './collection.ts';
export { type MadeOptions, type MadePages, madePages } from './made-pages.ts';
export {
  type Asked,
  type TestAnswer,
  type TestPage,
  type TestRequest,
  type TestWeb,
  type TestWebOptions,
  testWeb,
} from './web.ts';
