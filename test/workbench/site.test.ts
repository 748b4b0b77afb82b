/** A `skein site` on the same machine, in the workbench: what the process that runs it says, and nothing when it ended. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWorkbench } from '../../src/workbench/server.ts';
import { makeCollection } from '../journeys/collection.ts';
import { folder, page, startSite, write } from '../site/site-here.ts';

test('the workbench shows the site that runs on this machine', async context => {
  using collection = makeCollection();
  await collection.crawl(['http://127.0.0.1:9/']);
  const www = folder(context);
  write(www, 'index.html', page('Front', 'One page.'));
  const data = join(folder(context), 'state');
  const { directory } = collection;
  const workbench = await openWorkbench({ directory, port: 0, version: 'test', site: data });
  context.after(() => workbench.close());
  const ask = async () => (await fetch(`http://127.0.0.1:${workbench.port}/api/v1/site`)).json();
  assert.deepEqual(await ask(), { site: null });
  const here = await startSite(context, { directory: www, data, hubs: ['own'] });
  const { site } = (await ask()) as { site: { public: string; pages: number; sources: { problem: string }[] } };
  assert.deepEqual(
    [site.public, site.pages, site.sources.map(each => each.problem)],
    ['https://example.org/', 1, ['']],
  );
  await here.close();
  assert.deepEqual(await ask(), { site: null });
});
