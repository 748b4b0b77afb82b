/** Google's compliance suite for robots.txt, read from beside the project. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allowed, parseRobots } from '../../src/crawler/robots/robots.ts';

const suite = new URL('../../../shared/suites/robots/', import.meta.url);

interface Check {
  readonly name: string;
  readonly robots: Uint8Array;
  readonly url: string;
  readonly agent: string;
  readonly allowed: boolean;
}

const ownFile = 'Google leaves the exception to its crawler; RFC 9309 §2.2.2 has /robots.txt itself always allowed.';

/** The checks that we fail on purpose. */
const taste: Readonly<Record<string, string>> = {
  'correctness/index-page foobot http://foo.com/allowed-slash/':
    'Google lets an Allow of index.html also open its directory; RFC 9309 knows no such rule.',
  'correctness/non-ascii-paths FooBot http://foo.bar/foo/bar/baz':
    'The suite follows the draft, where %62 and b differ; RFC 9309 §2.2.2 has escaped unreserved characters decoded.',
  'stress/327748 asdfbot http://m.example.com/robots.txt': ownFile,
  'stress/369883 AB http://example.com/robots.txt': ownFile,
  'stress/369883 BarBot http://example.com/robots.txt': ownFile,
  'stress/860237 XYZ http://example.com/robots.txt': ownFile,
};

/** Messages of protobuf's text format as nested lists of fields; strings are kept as bytes, one character each. */
function readTextproto(text: string): Check[] {
  const checks: Check[] = [];
  const tokens = text.matchAll(/#[^\n]*|"((?:[^"\\]|\\.)*)"|([A-Za-z_]+)(:?)|[[\]{},]/gs);
  let field = '';
  let robots = '';
  let check: Record<string, string> = {};
  let depth = 0;
  for (const [token, quoted, word, colon] of tokens) {
    if (quoted !== undefined) {
      if (field === 'robotstxt') robots += unescaped(quoted);
      else check[field] = (check[field] ?? '') + unescaped(quoted);
    } else if (word !== undefined && colon === ':') {
      field = word;
      if (field === 'robotstxt') robots = '';
    } else if (word !== undefined) check[field] = word;
    else if (token === '{') depth++;
    else if (token === '}' && --depth === 1) {
      checks.push({
        name: '',
        robots: Buffer.from(robots, 'latin1'),
        url: Buffer.from(check['testurl'] ?? '', 'latin1').toString(),
        agent: check['useragent'] ?? '',
        allowed: check['expected_outcome'] === 'ALLOWED',
      });
      check = {};
    }
  }
  return checks;
}

function unescaped(quoted: string): string {
  const latin = Buffer.from(quoted).toString('latin1');
  const named: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
  return latin.replace(/\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)/gs, (_, code: string) => {
    if (code.startsWith('x')) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    return named[code] ?? code;
  });
}

function allChecks(): Check[] {
  return ['correctness', 'stress'].flatMap(folder =>
    readdirSync(new URL(folder, suite))
      .filter(file => file.endsWith('.textproto'))
      .flatMap(file =>
        readTextproto(readFileSync(new URL(`${folder}/${file}`, suite), 'utf8')).map(check => ({
          ...check,
          name: `${folder}/${file.replace('.textproto', '')} ${check.agent} ${check.url}`,
        })),
      ),
  );
}

test("Google's checks, all but the ones that are its own taste", t => {
  if (!existsSync(suite)) return t.skip('../shared/suites/robots is not there');
  const checks = allChecks();
  assert.equal(checks.length, 400, 'the reader found all checks');
  const missed = new Set<string>();
  for (const check of checks) {
    const verdict = allowed(parseRobots(check.robots), check.agent, check.url);
    if (verdict.allowed !== check.allowed) missed.add(check.name);
  }
  assert.deepEqual([...missed].sort(), Object.keys(taste).sort());
});
