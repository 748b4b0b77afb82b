/** Which copies are named to a server as dictionaries, by the pattern that the server gave with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask, Fetcher } from '../../../src/crawler/stages.ts';
import { DictionaryFetcher } from '../../../src/home/notices/bulk/dictionary-fetcher.ts';

async function isNamed(pattern: string, path: string): Promise<boolean> {
  const asked: Ask[] = [];
  const wire = { up: 0, down: 0, firstByte: 0, total: 0 };
  const fetcher: Fetcher = {
    fetch: ask => {
      asked.push(ask);
      return Promise.resolve({ kind: 'failure', reason: 'connect-refused', detail: '', wire });
    },
    release: () => {},
    close: () => Promise.resolve(),
  };
  const headers = new Map([['use-as-dictionary', `match="${pattern}"`]]);
  const held = () => Promise.resolve({ headers, body: Buffer.from('old') });
  const url = `http://127.0.0.1:1${path}`;
  await new DictionaryFetcher(fetcher, held).fetch({ url, maxBytes: 1000, allowPrivate: true });
  return asked[0]!.dictionary !== undefined;
}

test('a copy is named where the pattern that came with it matches', async () => {
  for (const [pattern, path] of [
    ['/a.html', '/a.html'],
    ['/a.html', '/a.html?x=1'],
    ['/docs/*', '/docs/one/two.html'],
    ['*', '/anything'],
    ['/*/two.*', '/one/two.html'],
    ['/a*a', '/aa'],
  ] as const)
    assert.ok(await isNamed(pattern, path), `${pattern} ${path}`);
});

test('and nowhere else', async () => {
  for (const [pattern, path] of [
    ['/a.html', '/axhtml'],
    ['/docs/*', '/doc/one'],
    ['/a*a', '/a'],
    ['/*b*c', '/cb'],
    ['/:name', '/x'],
    ['/(x)', '/x'],
  ] as const)
    assert.ok(!(await isNamed(pattern, path)), `${pattern} ${path}`);
});

// With a regular expression this one does not come back.
test('a hostile pattern over a long path costs one pass', async () => {
  assert.ok(!(await isNamed(`/${'*a'.repeat(900)}*b`, `/${'a'.repeat(7000)}`)));
});
