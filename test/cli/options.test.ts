/** The options as a whole: few, documented, and each wrong value answered with one sentence. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exitCodes, type SkeinError } from '../../src/base/errors.ts';
import { seedUrl } from '../../src/base/url.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { dataOption, flags, type OptionName, options, settings, values } from '../../src/cli/options/options.ts';
import { chosen } from '../journeys/collection.ts';
import { fast, root, skein, skeinJson, workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

const place = workplace();
after(() => place[Symbol.dispose]());
const dashed = (name: string) => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

test('there are few options, each in the guide with its default', () => {
  assert.ok(Object.keys(flags).length <= 29, `${Object.keys(flags).length} flags`);
  const guide = readFileSync(join(root, 'docs', 'guides', 'options.md'), 'utf8');
  for (const { flag } of Object.values(flags)) assert.ok(guide.includes(`| \`${flag}\` |`), flag);
  for (const name of Object.keys(settings)) assert.ok(guide.includes(`| \`${dashed(name)}\` |`), name);
});

test('settings are set on the command line, several at once', async () => {
  const names = Object.keys(options) as OptionName[];
  const read = await values({ set: ['detector=counts', 'body-limit=2MB', 'images', 'threads=3'] }, names);
  const { detector, bodyLimit, images, threads, pace } = read;
  assert.deepEqual(
    { detector, bodyLimit, images, threads, pace },
    { detector: 'counts', bodyLimit: '2MB', images: 'store', threads: 3, pace: 1 },
  );
  assert.equal((await values({ set: ['images=no'] }, names)).images, 'off');
  assert.equal((await values({ set: ['images=store'] }, names)).images, 'store');
  assert.equal((await values({}, names)).images, 'watch');
});

test('a command that is suggested finds its collection, whatever the directory is called', () => {
  assert.equal(dataOption('skein-data'), '');
  assert.equal(dataOption('../a/b-1.2'), ' --data ../a/b-1.2');
  assert.equal(dataOption("Anna's pages"), ` --data 'Anna'\\''s pages'`);
});

const wrong: Record<string, readonly [string, RegExp]> = {
  config: ['none.json', /none\.json cannot be read/],
  pace: ['soon', /--pace cannot be "soon"/],
  connections: ['1000', /--connections cannot be "1000"/],
  maxPages: ['-5', /--max-pages cannot be "-5"/],
  depth: ['deep', /--depth cannot be "deep"/],
  scope: ['exa mple', /"exa mple" is not a domain or host/],
  keep: ['size=5', /"5" is not a limit of size/],
  decider: ['geese.txt', /geese\.txt is neither WebAssembly nor JavaScript/],
  hooks: ['geese.txt', /geese\.txt is not a module/],
  domains: ['edu', /"edu" is not a domain and its weight/],
  keepVersions: ['some', /--keep-versions/],
  keepDays: ['-1', /--keep-days/],
  maxDisk: ['large', /not a size/],
  archive: ['ftp://x', /ftp:\/\/x is not a place for an archive/],
  budget: ['all', /"all" is not a budget/],
  every: ['example.org soon', /--every cannot be "example\.org soon": "soon" is not an interval/],
  freshness: ['95', /--freshness cannot be "95"/],
  workbench: ['door', /--workbench cannot be "door"/],
  outpost: ['near.example.org', /near\.example\.org/],
  listen: ['everywhere', /"everywhere" is not an address/],
  levels: ['0', /--levels cannot be "0"/],
  engine: ['', /--engine cannot be "": it must not be empty/],
  peer: ['', /--peer cannot be "": it must not be empty/],
  capacity: ['-1', /--capacity cannot be "-1"/],
  agent: ['somebody', /--agent cannot be "somebody": it is not a web or mail address/],
  detector: ['eyes', /The setting detector cannot be "eyes"/],
  pvalue: ['sideways=1', /"sideways=1" is not a term of the order pvalue/],
  order: ['last', /The setting order cannot be "last"/],
  policy: ['never', /The setting policy cannot be "never"/],
  thresholds: ['0.8,0.1', /"0\.8,0\.1" is not a pair of thresholds/],
  estimator: ['guess', /The setting estimator cannot be "guess"/],
  images: ['some', /The setting images cannot be "some": it is one of watch, store, off/],
  threads: ['-1', /The setting threads cannot be "-1"/],
  partitions: ['0', /The setting partitions cannot be "0"/],
  perServer: ['none', /The setting per-server cannot be "none"/],
  bodyLimit: ['huge', /"huge" is not a size/],
  cagedHooks: ['yes', /The setting caged-hooks cannot be "yes"/],
  audit: ['2', /The setting audit cannot be "2"/],
  secondLook: ['-1', /The setting second-look cannot be/],
  notices: ['perhaps', /The setting notices cannot be "perhaps"/],
  public: ['nowhere', /The setting public cannot be "nowhere"/],
};
/** Anything that is text will do. */
const without = new Set(['data', 'seeds', 'allowPrivate', 'focus']);

test('a wrong value of every option gets one sentence and a hint', async () => {
  await using web = await openWeb({ pagesPerServer: 1 });
  const data = join(place.path, 'wrong');
  await skeinJson('crawl', ...web.seeds, '--data', data, ...fast);
  const names = Object.keys(options).filter(name => !without.has(name));
  assert.deepEqual(Object.keys(wrong).sort(), names.sort(), 'an option is missing from this test');
  for (const name of names) {
    const [value, says] = wrong[name]!;
    const given = name in flags ? { [name]: value } : { set: [`${dashed(name)}=${value}`] };
    await assert.rejects(
      async () => keepFresh('refresh', { ...chosen(data), ...(await values(given, [name as OptionName])) }, {}),
      (error: SkeinError) => {
        assert.equal(exitCodes[error.code], 2, `${name}: ${error.stack}`);
        assert.match(error.message, says);
        assert.doesNotMatch(`${error.message}${error.hint}`, /\n/);
        return error.hint !== undefined;
      },
      name,
    );
  }
});

test('an unknown setting is named, with the one that was meant', async () => {
  const { code, stderr } = await skein(['crawl', 'http://127.0.0.1:1/', '--data', place.path, '--set', 'detectr=raw']);
  assert.equal(code, 2);
  assert.match(stderr, /no setting "detectr" here\.\n.*"detector"/);
});

test('the User-Agent names the contact, else only the rules, which is said once where the sites are not our own', async () => {
  await using web = await openWeb({ pagesPerServer: 2 });
  const agents = () => new Set(web.log.map(({ agent }) => agent));
  const data = join(place.path, 'agent');
  const plain = await skein(['crawl', ...web.seeds, '--data', data, ...fast, '--max-pages', '1']);
  assert.doesNotMatch(plain.stderr, /names no contact/);
  assert.match([...agents()].join(), /^Skein\/\d+\.\d+\.\d+ \(\+https:\/\/www\.rfc-editor\.org\/rfc\/rfc9309\)$/);
  await skein(['crawl', '--data', data, ...fast, '--agent', 'me@example.org']);
  assert.match([...agents()].join(), /,Skein\/\d+\.\d+\.\d+ \(\+me@example\.org\)$/);
  await skein(['crawl', `${web.origins[0]}/another`, '--data', data, ...fast]);
  assert.match(web.log.at(-1)!.url, /\/another$/);
  assert.match(web.log.at(-1)!.agent, /\(\+me@example\.org\)$/, 'it is remembered');
  // A name that is too long to be asked for stands for somebody else's server.
  const far = ['crawl', `http://${'x'.repeat(64)}.invalid/`, '--data', join(place.path, 'far'), '--json'];
  const first = await skein(far);
  assert.match(first.stderr, /names no contact for the owners of these sites: give .* --agent/);
  assert.doesNotMatch((await skein(far)).stderr, /names no contact/);
});

test('a seed without a scheme is https, on this machine http', () => {
  const written = [
    'example.org',
    'example.org:8443/a',
    'localhost:3000',
    '127.0.0.1',
    '[::1]:80/x',
    'localhost.example',
  ];
  assert.deepEqual(written.map(seedUrl), [
    'https://example.org/',
    'https://example.org:8443/a',
    'http://localhost:3000/',
    'http://127.0.0.1/',
    'http://[::1]/x',
    'https://localhost.example/',
  ]);
  assert.throws(() => seedUrl('ftp://example.org/'), /Skein reads http and https, not ftp/);
  assert.throws(() => seedUrl('ht!tp://example.org/'), /not a URL that can be crawled/);
});
