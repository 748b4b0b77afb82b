/** Threads that bring pages faster than home takes them in do not keep it from anything else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { fetchOptions, values } from '../../src/cli/options/options.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { workplace } from './skein.ts';

const PAGES = 9000;

test('timers fire, so that Ctrl-C and orders are heard, while home has more to do than it can', async () => {
  using place = workplace();
  const module = new URL('../web/synthetic.ts', import.meta.url).href;
  const fetcher = { module, options: { servers: 20, pagesPerServer: PAGES, links: 30, sentences: 2 } };
  const given = { data: place.path, pace: 0, connections: 8, scope: '*', maxPages: PAGES, threads: 2 };
  const opened = await openHome(await values(given, fetchOptions), ['http://s0.test/'], { fetcher });
  let before = 0;
  let most = 0;
  const look = () => {
    const { pages } = opened.home.progress;
    most = Math.max(most, pages - before);
    before = pages;
  };
  const ticking = setInterval(look, 1);
  try {
    await opened.run(crawlSupply(opened, 0));
  } finally {
    clearInterval(ticking);
    look();
    await opened.close();
  }
  assert.ok(before >= PAGES, `${before} pages`);
  assert.ok(most < PAGES / 3, `${most} pages between two ticks of a clock`);
});
