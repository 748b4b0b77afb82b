/** The guide to the papers names tests that exist, files that are there, and settings that are understood. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { options, values } from '../src/cli/options/options.ts';
import { detectorNames } from '../src/crawler/detect/compare.ts';
import { parsePvalue } from '../src/frontier/orders/pvalue-terms.ts';
import { parseThresholds } from '../src/revisit/pmcs.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const guide = readFileSync(join(root, 'docs', 'guides', 'papers.md'), 'utf8');

/** `test/a.test.ts`: the name of a test, or how it begins or ends. */
const named = [...guide.matchAll(/`(test\/[\w/.-]+\.test\.ts)`: ([^|;)]+?)(?= \||;|\))/g)];

test('every test that the guide names exists', () => {
  assert.ok(named.length > 40, `${named.length} tests are named`);
  assert.equal(named.length, guide.match(/`test\//g)!.length, 'each file is followed by the name of a test');
  for (const [, file, name] of named) {
    const titles = [...readFileSync(join(root, file!), 'utf8').matchAll(/\btest\(\s*(['"`])(.*?)\1,/gs)].map(
      match => match[2]!,
    );
    assert.ok(
      titles.some(title => title.includes(name!.trim())),
      `${file} has no test "${name}"`,
    );
  }
});

test('every setting and option that the guide names is one', async () => {
  const settings = [...guide.matchAll(/`--set (\w[\w-]*)=([^`]+)`/g)];
  assert.ok(settings.length > 10);
  for (const [, name, value] of settings) {
    await values({ set: [`${name}=${value}`] }, Object.keys(options) as (keyof typeof options)[]);
    if (name === 'pvalue') parsePvalue(value!);
    if (name === 'thresholds') parseThresholds(value!);
  }
  const flags = [...guide.matchAll(/`--([a-z-]+) /g)].map(match => match[1]!).filter(flag => flag !== 'set');
  for (const flag of flags) assert.ok(flag in options, `--${flag}`);
});

test('every detector of the papers is in the guide', () => {
  for (const name of detectorNames) {
    if (['content', 'raw', 'last-modified'].includes(name)) continue;
    assert.ok(guide.includes(name), name);
  }
});

test('what the guide points to is there', () => {
  for (const [, target] of guide.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
    assert.ok(existsSync(join(root, 'docs', 'guides', target!)), target!);
  }
});
