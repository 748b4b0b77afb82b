/** Hooks that run in the fetching threads: `skein crawl https://example.org --hooks title-hooks.ts`. */
import { defineHooks } from 'skein/hooks';

export default defineHooks({
  beforeRequest({ url }) {
    return url.includes('/print/') ? { skip: true } : { headers: { 'Accept-Language': 'en' } };
  },
  afterPage(page) {
    if (page.mediaType !== 'text/html') return { keep: false };
    return { data: { title: page.title, words: page.words } };
  },
});
