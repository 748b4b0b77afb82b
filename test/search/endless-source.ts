/** A source whose batches never come: what a feeder on a very busy machine looks like. */
import type { SearchSource } from '../../src/search/feed/feed.ts';

export function openSource(): SearchSource {
  return {
    since() {
      for (;;);
    },
  };
}
