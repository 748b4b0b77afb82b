/**
 * A hostile outpost brings well-made parcels with false pages, and says of each what is true of the page that the server
 * shows. Home looks at every page itself: it must find the difference in what it stored, not in what it was told.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derive } from '../../src/crawler/analysis/derive.ts';
import { payloadDigest } from '../../src/errand/warc/warc.ts';
import { collected, lookInto, pagesOf } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';
import { openTarget } from './home.ts';
import { FORGED, type Lie, pageOf, startLiar, visitOf } from './liar.ts';

/** True facts, title and links beside a false body. */
const forge: Lie = async (errand, { parcel }) => {
  const visits = await Promise.all(
    errand.pages.map(async known => {
      const answer = await fetch(known.url);
      const body = new Uint8Array(await answer.arrayBuffer());
      const headers = new Map([...answer.headers]);
      const stored = { url: known.url, status: 200, headers, body, digest: payloadDigest(body), truncated: '' };
      const truth = derive(stored, errand, 'skein')!;
      const page = pageOf(
        Buffer.from(body)
          .toString()
          .replace(/<p\b[^>]*>/g, `$&${FORGED} `),
      );
      return { visit: { ...visitOf(known), ...truth }, page };
    }),
  );
  parcel({ visits });
};

test('false pages with true facts are found out, and none is left', { timeout: 120_000 }, async () => {
  await using web = await openWeb({ seed: 9, servers: 1, pagesPerServer: 20, validators: ['right'] });
  await using home = await openTarget(web.seeds, { audit: 1 });
  await using _ = await startLiar('forger', home.token(), forge);
  const { audit } = home.opened.outposts!;
  const state = () => home.opened.home.dispatch.posts.carriers[0]?.status?.state;
  let over = false;
  void home.ended.then(() => (over = true));
  while (!over && state() !== 'quarantined') await new Promise(resolve => setTimeout(resolve, 100));
  assert.ok(audit.contradicted > 0);
  await using __ = await home.honest('honest');
  await home.ended;
  assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
  assert.deepEqual(await home.problems(), []);
  using look = lookInto(home.directory);
  for (const url of web.mustFind()) assert.ok(!Buffer.from(look.body(url)).toString().includes(FORGED), url);
});
