/** Which page of an errand comes next, where the crawler follows links by itself: the papers' four vectors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { type Agenda, makeAgenda } from '../../src/crawler/agenda.ts';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import type { Errand } from '../../src/errand/errand.ts';
import type { Known } from '../../src/errand/known.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { plainErrand, plainPage } from '../errand/plain-errand.ts';

const ORIGIN = 'http://a.test';
const page = (path: string): Known => plainPage(ORIGIN + path);
const LIMITS = { ...plainErrand('1', ORIGIN).limits, pages: 100, follow: 100 };

function errandOf(more: Parameters<typeof plainErrand>[2] = {}): Errand {
  return plainErrand('1', ORIGIN, { kind: 'explore', pages: [page('/')], limits: LIMITS, ...more });
}

/** Visits the page: what it holds are links to these. */
function visit(agenda: Agenda, known: Known, links: readonly string[]): void {
  const body = Buffer.from(`<body>${links.map(href => `<a href="${href}">x</a>`).join('')}</body>`);
  const analysed = analyse({ url: known.url, headers: new Map([['content-type', 'text/html']]), body });
  agenda.learn({
    ...{ url: known.url, time: 0, outcome: 'fetched', reason: 'ok', status: 200, stage: 'first' },
    ...{ depth: known.depth, retryAfter: 0, links: analysed.links, facts: analysed.facts },
    cost: { up: 0, down: 0, cause: 'page', ms: 0 },
  } satisfies Visit);
}

/** Visits all, in order; each page links to what the map says. */
function walk(agenda: Agenda, web: Readonly<Record<string, readonly string[]>>): string[] {
  const visited: string[] = [];
  for (let known = agenda.next(); known; known = agenda.next()) {
    visited.push(known.url.slice(ORIGIN.length));
    visit(agenda, known, web[visited.at(-1)!] ?? []);
  }
  return visited;
}

test('first found, first searched; what was matched once is never searched again, the seed neither', async () => {
  const agenda = makeAgenda(errandOf());
  const web = { '/': ['/b', '/a', '/b'], '/b': ['/', '/c', '/a'], '/a': ['/d'], '/c': ['/b'], '/d': ['/'] };
  assert.deepEqual(walk(agenda, web), ['/', '/b', '/a', '/c', '/d']);
  assert.equal(agenda.more(), undefined, 'done');
});

test('what home knows already, other servers and what is out of scope are not followed', () => {
  const print = fingerprint(`${ORIGIN}/known`, { high: 0, low: 0 });
  const seen = new Uint8Array(8);
  new DataView(seen.buffer).setUint32(0, print.high, true);
  new DataView(seen.buffer).setUint32(4, print.low, true);
  const { scope } = errandOf();
  const agenda = makeAgenda(errandOf({ seen, scope: { ...scope, exclude: ['/old/**'] } }));
  assert.deepEqual(walk(agenda, { '/': ['/known', 'http://b.test/', '/old/x', '/new'] }), ['/', '/new']);
});

test('it ends at its limit of pages, where the paper’s loop would go on', () => {
  const agenda = makeAgenda(errandOf({ limits: { ...LIMITS, pages: 3 } }));
  assert.deepEqual(walk(agenda, { '/': ['/1', '/2', '/3', '/4'] }), ['/', '/1', '/2']);
});

test('one page that is refused ends nothing', () => {
  const agenda = makeAgenda(errandOf({ pages: [page('/'), page('/private'), page('/b')] }));
  const visited: string[] = [];
  for (let known = agenda.next(); known; known = agenda.next()) {
    visited.push(known.url);
    const { url, depth } = known;
    agenda.learn({
      ...{ url, time: 0, outcome: 'refused', reason: 'robots', status: 0, depth, retryAfter: 0 },
      cost: { up: 0, down: 0, cause: 'none', ms: 0 },
    });
  }
  assert.equal(visited.length, 3);
});
