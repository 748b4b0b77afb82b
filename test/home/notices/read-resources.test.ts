/** Of which pages a ResourceSync source tells: its silence about any other means nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollSync } from '../../../src/home/notices/reading/read-sync.ts';
import { asking, origin, reading } from './answers.ts';

test('a source whose resource list can be read says of which pages its change lists tell', async () => {
  const entry = (path: string, terms: string) => `<url><loc>${origin}/${path}</loc><rs:md ${terms}/></url>`;
  const list = (capability: string, ...entries: string[]) => ({
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md capability="${capability}"/>${entries.join('')}</urlset>`,
  });
  const capabilities = [entry('changes', 'capability="changelist"'), entry('resources', 'capability="resourcelist"')];
  const changes = list('changelist', entry('a', 'change="updated" datetime="2025-01-02T00:00:00Z"'));
  const { asking: ask, asked } = asking({
    '/rs': list('capabilitylist', ...capabilities),
    '/changes': changes,
    '/resources': list('resourcelist', entry('a', ''), entry('b', '')),
  });
  const face = { kind: 'resourcesync' as const, url: `${origin}/rs`, state: {} };
  const parts = reading(ask, `${origin}/a`, `${origin}/b`, `${origin}/app`);
  const first = await pollSync(parts, face);
  assert.deepEqual(first.unspoken, [`${origin}/app`]);
  assert.equal(first.state.listed, true);
  assert.deepEqual(
    first.notices.map(({ url }) => url),
    [`${origin}/a`],
  );
  const again = await pollSync(parts, { ...face, state: { listed: true } });
  assert.deepEqual([again.unspoken, again.state.listed], [[], true]);
  assert.deepEqual(
    asked.map(({ url }) => url.slice(origin.length)),
    ['/rs', '/changes', '/resources', '/rs', '/changes'],
    'it is read once',
  );
  // One that cannot be read, or has no end, says nothing of any page, and its changes are told all the same.
  const circle = list('resourcelist', entry('resources', ''));
  circle.body = circle.body
    .replaceAll('urlset', 'sitemapindex')
    .replaceAll('<url>', '<sitemap>')
    .replaceAll('</url>', '</sitemap>');
  for (const resources of [{ status: 500 }, circle, changes]) {
    const { asking: other } = asking({
      '/rs': list('capabilitylist', ...capabilities),
      '/changes': changes,
      '/resources': resources,
    });
    const done = await pollSync(reading(other, `${origin}/app`), face);
    assert.deepEqual([done.unspoken, done.state.listed, done.notices.length], [[], false, 1]);
  }
  const { asking: gone } = asking({ '/rs': list('capabilitylist', ...capabilities), '/changes': changes });
  assert.equal((await pollSync(reading(gone, `${origin}/app`), face)).state.listed, false);
});
