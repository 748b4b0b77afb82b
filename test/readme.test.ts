import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root, skein, workplace } from './journeys/skein.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The fenced blocks of one language. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(match => match[1]!);
}

/** Words of a command line; quotes hold words together. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(match => match[1] ?? match[2]!);
}

/** Figures, times and ports differ from run to run. */
const masked = (line: string): string =>
  line
    .replace(/\d+(?:[.,:]\d+)*/g, '#')
    .replace(/\s+/g, ' ')
    .trim();

test('every file that a document names in code marks is there', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/{*,guides/*}.md', { cwd: root })];
  const named = documents.flatMap(document =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/`((?:src|test|bin|bench|scripts)\/[\w./-]+)`/g)].map(
      ([, path]) => [document, path!] as const,
    ),
  );
  assert.ok(named.length > 50);
  for (const [document, path] of named) assert.ok(existsSync(join(root, path)), `${document} names ${path}`);
});

test('every command and option that the README names exists', async () => {
  const lines = blocks('sh').flatMap(block => block.split('\n'));
  const commands = lines
    .filter(line => line.includes('npx skein '))
    .map(line => words(line.slice(line.indexOf('npx skein ') + 10)));
  assert.ok(commands.length >= 8);
  for (const [name, ...rest] of commands) {
    const help = await skein([name!, '--help']);
    assert.equal(help.code, 0, `skein ${name} --help`);
    for (const word of rest.filter(each => each.startsWith('--'))) {
      assert.ok(String(help.stdout).includes(word), `skein ${name} knows ${word}`);
    }
  }
});

test('every file that the README points to is there', () => {
  const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(match => match[1]!);
  assert.ok(targets.length > 5);
  for (const target of targets) assert.ok(existsSync(join(root, target)), target);
});

test('the tour prints what the README shows', async () => {
  const place = workplace();
  after(() => place[Symbol.dispose]?.());
  const data = join(place.path, 'demo');
  let origins: string[] = [];
  for (const block of blocks('console')) {
    const [first, ...shown] = block.trimEnd().split('\n');
    const told = [...readme.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(match => match[0]);
    const sites = [...new Set(told)];
    const args = words(first!.replace('$ npx skein ', '')).map(word => {
      const site = sites.findIndex(each => word.startsWith(each));
      if (site >= 0 && origins[site]) return word.replace(sites[site]!, origins[site]!);
      return word === 'demo' && !first!.startsWith('$ npx skein demo --keep') ? data : word;
    });
    const run = await skein(first!.startsWith('$ npx skein demo') ? ['demo', '--keep-data', data] : args);
    assert.equal(run.code, 0, `${first}\n${run.stderr}`);
    if (origins.length === 0)
      origins = [...String(run.stdout).matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(match => match[0]);
    const printed = String(run.stdout).split('\n').map(masked);
    assert.ok(printed.includes(masked(shown[0]!)), `${first} prints: ${shown[0]}\n${run.stdout}`);
  }
  const guide = readFileSync(join(root, 'docs', 'guides', 'search.md'), 'utf8');
  const [asked, ...answer] = /^```\n\$ skein (search .*?)^```/ms.exec(guide)![1]!.trimEnd().split('\n');
  const run = await skein(words(asked!).map(word => (word === 'demo' ? data : word)));
  const printed = String(run.stdout).split('\n').map(masked);
  // How long ago it was checked is another each time.
  const told = answer.map(masked).filter(line => !line.startsWith('checked'));
  assert.ok(told.length > 6);
  for (const line of told) assert.ok(printed.includes(line), `the search guide says: ${line}\n${run.stdout}`);
});
