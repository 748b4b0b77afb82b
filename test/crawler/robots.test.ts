import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { robotsOf } from '../../src/crawler/robots/page-robots.ts';
import { allowed, crawlDelay, parseRobots, ROBOTS_LIMIT, robotsTerms } from '../../src/crawler/robots/robots.ts';
import { randomly } from '../random.ts';

const ask = (body: string | Uint8Array, path: string, agent = 'skein') =>
  allowed(parseRobots(body), agent, `http://h${path}`).allowed;

test('groups: the named one, merged, else the star, else none', () => {
  const body =
    'User-agent: *\nDisallow: /a\n\nUser-agent: Skein/2\nDisallow: /b\nUser-agent: other\nDisallow: /c\nuser-agent: SKEIN\nDisallow: /d';
  assert.equal(ask(body, '/a'), true);
  assert.equal(ask(body, '/b'), false);
  assert.equal(ask(body, '/c'), true);
  assert.equal(ask(body, '/d'), false);
  assert.equal(ask(body, '/a', 'nobody'), false);
  assert.equal(ask('User-agent: other\nDisallow: /', '/'), true);
  assert.equal(ask('Disallow: /', '/'), true, 'a rule outside any group');
});

test('an empty Disallow allows, and still ends the list of agents', () => {
  assert.equal(ask('User-agent: skein\nDisallow:\nUser-agent: *\nDisallow: /', '/x'), true);
});

test('other records do not end a list of agents, and a delay counts for those named before it', () => {
  const robots = parseRobots(
    'User-agent: skein\nCrawl-delay: 2.5\nSitemap: http://h/s.xml\nUser-agent: b\nDisallow: /x',
  );
  assert.equal(allowed(robots, 'skein', 'http://h/x').allowed, false);
  assert.equal(allowed(robots, 'b', 'http://h/x').allowed, false);
  assert.equal(crawlDelay(robots, 'skein'), 2500);
  assert.equal(crawlDelay(robots, 'b'), 0);
  assert.deepEqual(robots.sitemaps, ['http://h/s.xml']);
});

test('the longest match decides, Allow wins among equals, and the verdict names the line', () => {
  const body =
    'User-agent: *\nDisallow: /shop\nAllow: /shop/open # yes\nDisallow: /*.pdf$\nAllow: /same\nDisallow: /same';
  const robots = parseRobots(body);
  const verdict = (path: string) => allowed(robots, 'skein', `https://h${path}`);
  assert.deepEqual(verdict('/shop/x'), { allowed: false, rule: 'Disallow: /shop' });
  assert.deepEqual(verdict('/shop/open?x'), { allowed: true, rule: 'Allow: /shop/open' });
  assert.deepEqual(verdict('/a.pdf'), { allowed: false, rule: 'Disallow: /*.pdf$' });
  assert.deepEqual(verdict('/a.pdf?x'), { allowed: true, rule: undefined });
  assert.equal(verdict('/same').allowed, true);
  assert.equal(verdict('/robots.txt').allowed, true);
});

test('escapes: one form of unreserved characters, UTF-8, and literal stars and dollars', () => {
  assert.equal(ask('User-agent: *\nDisallow: /%7Euser', '/~user'), false);
  assert.equal(ask('User-agent: *\nDisallow: /ツ', '/%E3%83%84'), false);
  assert.equal(ask('User-agent: *\nDisallow: /%e3%83%84', '/%E3%83%84'), false);
  assert.equal(ask('User-agent: *\nDisallow: /à', '/%C3%A0'), false, 'a blank of another encoding at the end');
  assert.equal(ask('User-agent: *\nDisallow: /a%2Fb', '/a/b'), true);
  assert.equal(ask('User-agent: *\nDisallow: /a%2Ab', '/a*b'), false);
  assert.equal(ask('User-agent: *\nDisallow: /a%2Ab', '/axb'), true);
  assert.equal(ask('User-agent: *\nDisallow: /a%24', '/a$c'), false);
  assert.equal(ask('User-agent: *\nDisallow: /a$b', '/a$b'), false);
  assert.equal(ask('User-agent: *\nDisallow: /a b', '/a%20b'), false);
  assert.equal(ask('User-agent: *\nDisallow: /?q={x}', '/?q={x}'), false);
});

test('bytes: a byte order mark, every line end, and no more than the limit', () => {
  assert.equal(ask('\ufeffUser-agent: *\rDisallow: /a\r\nDisallow: /b', '/b'), false);
  const filler = `# ${'x'.repeat(97)}\n`.repeat(ROBOTS_LIMIT / 100 - 1);
  const cut = parseRobots(
    `User-agent: *\nDisallow: /early\n${filler}${'y'.repeat(60)}\nDisallow: /late-and-long-enough-to-be-cut`,
  );
  assert.equal(cut.cut, true);
  assert.equal(allowed(cut, 'skein', 'http://h/early').allowed, false);
  assert.equal(allowed(cut, 'skein', 'http://h/late').allowed, true);
});

test('lines about use are recorded', () => {
  const robots = parseRobots(
    'License: https://h/l.xml\nUser-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: /x train-ai=n\nAllow: /',
  );
  assert.deepEqual(robots.uses, [
    { kind: 'license', value: 'https://h/l.xml', agents: [] },
    { kind: 'content-signal', value: 'search=yes, ai-train=no', agents: ['*'] },
    { kind: 'content-usage', value: '/x train-ai=n', agents: ['*'] },
  ]);
});

test('status: read, no rules, or nothing allowed', () => {
  const copy = (status: number) => ({ status, body: 'User-agent: *\nDisallow: /x', unreachableSince: 0, time: 1000 });
  const at = (status: number, path: string, now = 2000) => {
    const terms = robotsTerms(copy(status), now);
    return [allowed(terms.robots, 'skein', `http://h${path}`).allowed, terms.state];
  };
  assert.deepEqual(at(200, '/x'), [false, 'rules']);
  assert.deepEqual(at(200, '/y'), [true, 'rules']);
  for (const status of [301, 401, 403, 404, 410, 451]) assert.deepEqual(at(status, '/x'), [true, 'none']);
  for (const status of [0, 429, 500, 503, 599, 700]) assert.deepEqual(at(status, '/y'), [false, 'unreachable']);
  assert.equal(robotsTerms(copy(200), 0).expires, 1000 + DAY);
  assert.ok(robotsTerms(copy(503), 0).expires < 1000 + DAY, 'an unreachable one is tried again sooner');
  const since = { since: 1000, good: copy(200) };
  assert.equal(robotsTerms(copy(0), 1000 + 29 * DAY, since).state, 'unreachable');
  const late = robotsTerms(copy(0), 1001 + 30 * DAY, since);
  assert.equal(late.state, 'given-up');
  assert.equal(allowed(late.robots, 'skein', 'http://h/x').allowed, false);
  assert.equal(allowed(late.robots, 'skein', 'http://h/y').allowed, true);
  assert.deepEqual(at(0, '/x', 1001 + 30 * DAY), [true, 'given-up']);
});

/** The standard said the simple way: every rule tried, with a matcher that needs time quadratic in its input. */
function slowlyAllowed(lines: readonly string[], path: string): boolean {
  let best = { length: 0, allow: true };
  for (const line of lines) {
    const allow = line.startsWith('Allow');
    const pattern = line.slice(line.indexOf(' ') + 1);
    if (pattern === '' || !slowlyMatches(pattern, path)) continue;
    if (pattern.length > best.length || (pattern.length === best.length && allow))
      best = { length: pattern.length, allow };
  }
  return best.allow;
}

function slowlyMatches(pattern: string, path: string): boolean {
  let ends = new Set([0]); // places in the path that the pattern so far can reach
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    if (c === '$' && i === pattern.length - 1) return ends.has(path.length);
    const next = new Set<number>();
    for (const at of ends) {
      if (c === '*') for (let to = at; to <= path.length; to++) next.add(to);
      else if (path[at] === c) next.add(at + 1);
    }
    ends = next;
  }
  return ends.size > 0;
}

test('compiled rules decide as the standard does: 20,000 generated cases', () => {
  const random = randomly(5);
  const parts = ['/', 'a', 'b', 'ab', '/a', '/b', '*', '.c', 'c'];
  let refused = 0;
  for (let i = 0; i < 1000; i++) {
    const lines = Array.from({ length: 1 + random.below(12) }, () => {
      const pattern = random.pick(['/', '/', '*']) + random.text(parts, random.below(6)) + random.pick(['', '', '$']);
      return `${random.pick(['Allow', 'Disallow'])}: ${pattern}`;
    });
    const robots = parseRobots(`User-agent: *\n${lines.join('\n')}`);
    for (let j = 0; j < 20; j++) {
      const path = `/${random.text(['/', 'a', 'b', 'c', '.c'], random.below(8))}`;
      const verdict = allowed(robots, 'skein', `http://h${path}`).allowed;
      assert.equal(verdict, slowlyAllowed(lines, path), `${path} under ${lines.join(' | ')}`);
      if (!verdict) refused++;
    }
  }
  assert.ok(refused > 3000 && refused < 17_000, `${refused} refused`);
});

test('patterns made to be slow are not', () => {
  const stars = `/${'*a'.repeat(2000)}b$`;
  const nested = Array.from({ length: 900 }, (_, i) => `Disallow: /${'a'.repeat(i)}`).join('\n');
  const agents = 'User-agent: x\n'.repeat(10_000);
  const robots = parseRobots(`${agents}User-agent: *\nDisallow: ${stars}\n${nested}\n`);
  for (let i = 0; i < 200; i++) assert.equal(allowed(robots, 'skein', `http://h/${'a'.repeat(4000)}`).allowed, false);
});

test('10,000 malformed files and header fields are read without an error', () => {
  const random = randomly(13);
  const pieces = [
    'User-agent: *\n',
    'user-agent:skein\r',
    'Disallow: ',
    'Allow:/',
    '/a',
    '*',
    '$',
    '%',
    '%2',
    '%zz',
    ':',
    '#',
    '\n',
    '\r\n',
    '\0',
    '\ufeff',
  ];
  const more = [
    'Crawl-delay: -1\n',
    'Crawl-delay: 1e9\n',
    'Crawl-delay: ∞\n',
    'Sitemap:\n',
    'Content-Signal: \n',
    'noindex',
    ',',
    'skein:',
    'é',
    'constructor: x\n',
    '__proto__:y\n',
  ];
  for (let i = 0; i < 10_000; i++) {
    const text = i % 3 === 0 ? random.garbage(200) : random.text([...pieces, ...more], random.below(24));
    const robots = parseRobots(i % 2 === 0 ? text : i % 5 === 0 ? random.bytes(200) : Buffer.from(text));
    const verdict = allowed(
      robots,
      random.pick(['skein', '', '*', 'a b']),
      random.pick(['http://h/a', '', 'x', 'http://h', text]),
    );
    assert.equal(typeof verdict.allowed, 'boolean');
    assert.ok(crawlDelay(robots, 'skein') >= 0);
    robotsOf(text, 'skein');
  }
});

test('the delay that follows a name is the one meant for it', () => {
  const both = parseRobots('User-agent: skein\nCrawl-delay: 1\nUser-agent: *\nCrawl-delay: 10\nDisallow: /x\n');
  assert.equal(crawlDelay(both, 'skein'), 1000);
  assert.equal(crawlDelay(both, 'other'), 10_000);
  const shared = parseRobots('User-agent: *\nUser-agent: skein\nCrawl-delay: 3\nDisallow: /x\nCrawl-delay: 4\n');
  assert.equal(crawlDelay(shared, 'skein'), 4000);
  const first = parseRobots('User-agent: *\nCrawl-delay: 10\nUser-agent: skein\nCrawl-delay: 2\n');
  assert.equal(crawlDelay(first, 'skein'), 2000);
  assert.equal(crawlDelay(first, 'other'), 10_000);
});
