import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import type { Scope } from '../../src/errand/errand.ts';
import { keepAll } from '../../src/errand/scope/keep.ts';
import { commonDomains, compileScope, parseScope } from '../../src/errand/scope/scope.ts';

const open: Scope = { domains: [], include: [], exclude: [], focus: [], keep: keepAll };

function check(outside: (url: string) => unknown, inside: string[], others: string[]): void {
  for (const url of inside) assert.equal(outside(url), undefined, `${url} is inside`);
  for (const url of others) assert.equal(outside(url), 'out-of-scope', `${url} is outside`);
}

test("without domains a crawl stays on its seeds' hosts, with and without www", () => {
  check(
    compileScope(open, ['https://example.org/start', 'http://www.other.net/', 'http://127.0.0.1:8081/']),
    [
      'https://example.org/x',
      'http://example.org/',
      'https://www.example.org/',
      'http://other.net/',
      'http://127.0.0.1:8081/a',
    ],
    [
      'https://sub.example.org/',
      'https://example.org:8443/',
      'https://example.com/',
      'http://127.0.0.1:8082/',
      'http://127.0.0.1/',
    ],
  );
});

test('a domain includes its subdomains and every port; with a port only that one', () => {
  check(
    compileScope({ ...open, domains: ['example.org', 'port.net:8080', '[::1]:81', 'safe.net:443'] }, [
      'https://seed.org/',
    ]),
    [
      'https://example.org/',
      'http://a.b.example.org:99/x',
      'http://port.net:8080/',
      'http://x.port.net:8080/',
      'http://[::1]:81/',
      'https://safe.net/',
    ],
    [
      'https://notexample.org/',
      'https://org/',
      'https://example.org.evil.net/',
      'http://port.net/',
      'http://[::1]/',
      'http://safe.net/',
      'https://seed.org/',
    ],
  );
});

test('anywhere is anywhere', () => {
  check(compileScope({ ...open, domains: ['*'] }, ['https://seed.org/']), ['https://x.net/', 'http://10.0.0.1/'], []);
  check(compileScope(open), ['https://x.net/'], []);
});

test('paths: inside one that is included, and in none that is excluded', () => {
  check(
    compileScope({ ...open, include: ['/docs/**', '/faq'], exclude: ['**.pdf', '/docs/old/'] }, ['https://e.org/']),
    ['https://e.org/docs/a', 'https://e.org/faq?x=1', 'https://e.org/docs/'],
    ['https://e.org/', 'https://e.org/docs/a.pdf', 'https://e.org/docs/old/x', 'https://f.org/docs/a'],
  );
});

test('a scope is read from what users write', () => {
  const scope = parseScope([
    ' Example.ORG',
    '*.bücher.example',
    'https://host.net:8080/path',
    '/docs/**',
    '!/old/**',
    '! **.pdf',
    '',
  ]);
  assert.deepEqual(scope, {
    domains: ['example.org', 'xn--bcher-kva.example', 'host.net:8080'],
    include: ['/docs/**'],
    exclude: ['/old/**', '**.pdf'],
  });
  assert.deepEqual(parseScope(['*']).domains, ['*']);
  assert.deepEqual(parseScope(['localhost:80', '[::1]:9']).domains, ['localhost:80', '[::1]:9']);
  assert.deepEqual(parseScope([]), { domains: [], include: [], exclude: [] });
});

test('what is no scope is named', () => {
  for (const part of ['exa mple.org', '!example.org', 'a:b:c', '*.', 'user@host.net', 'type=text/html']) {
    assert.throws(
      () => parseScope([part]),
      (error: unknown) => error instanceof SkeinError && error.code === 'bad-option' && error.message.includes(part),
      part,
    );
  }
});

test('two lists of domains narrow each other', () => {
  assert.deepEqual(commonDomains([], ['a.org']), ['a.org']);
  assert.deepEqual(commonDomains(['*'], ['a.org']), ['a.org']);
  assert.deepEqual(commonDomains(['a.org', 'b.org'], ['www.a.org', 'c.org']), ['www.a.org']);
  assert.deepEqual(commonDomains(['a.org:8080'], ['a.org']), ['a.org:8080']);
  assert.equal(commonDomains(['a.org'], ['b.org', 'xa.org']), undefined);
});
