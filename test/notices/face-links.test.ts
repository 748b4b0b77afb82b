/** Where sites say that they tell of changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksInHeader, linksInPage, linksInRobots } from '../../src/notices/face-links.ts';
import { believable, type Notice } from '../../src/notices/notice.ts';

const at = 'https://example.org/blog/';

test('Link headers name hubs, topics and faces', () => {
  const header =
    '<https://hub.example/>; rel="hub", </feed.xml>; rel=self, <style.css>; rel=preload, </.well-known/skein>; rel="skein"';
  assert.deepEqual(linksInHeader(header, at), [
    { kind: 'hub', url: 'https://hub.example/' },
    { kind: 'topic', url: 'https://example.org/feed.xml' },
    { kind: 'cursor', url: 'https://example.org/.well-known/skein' },
  ]);
});

test('pages name feeds and ResourceSync', () => {
  const html = `<head><link rel=stylesheet href=x.css><link rel="alternate" type="application/atom+xml" href="a.xml?x=1&amp;y=2">
    <LINK REL='resourcesync' HREF='/rs/capabilitylist.xml'><link rel="alternate" hreflang="de" href="/de"></head>`;
  assert.deepEqual(linksInPage(html, at), [
    { kind: 'feed', url: 'https://example.org/blog/a.xml?x=1&y=2' },
    { kind: 'resourcesync', url: 'https://example.org/rs/capabilitylist.xml' },
  ]);
});

test('robots.txt names them in lines', () => {
  const robots = `User-agent: *\nDisallow:\nSitemap: https://example.org/sitemap.xml\nsitemap: /resourcesync/changelist.xml
Skein: /.well-known/skein`;
  assert.deepEqual(linksInRobots(robots, at), [
    { kind: 'resourcesync', url: 'https://example.org/resourcesync/changelist.xml' },
    { kind: 'cursor', url: 'https://example.org/.well-known/skein' },
  ]);
});

test('however much is written, few links are taken', () => {
  assert.equal(linksInHeader('</a>; rel=hub,'.repeat(10_000), at).length, 20);
  assert.equal(linksInPage('<link rel=hub href=/a>'.repeat(10_000), at).length, 20);
  assert.equal(linksInRobots('Skein: /a\n'.repeat(10_000), at).length, 20);
  linksInPage(`<link ${'a="'.repeat(60_000)}`, at);
  linksInHeader(`<a>${'; rel="'.repeat(60_000)}`, at);
});

test('a site speaks of its own pages alone, once each, and of nothing to come', () => {
  const notice = (url: string, time = 5): Notice => ({ kind: 'feed', url, change: 'updated', time });
  const told = [notice('https://a.example/x'), notice('https://b.example/x'), notice('https://a.example/x', 99)];
  assert.deepEqual(believable(told, 'https://a.example', 50), [notice('https://a.example/x', 0)]);
});
