/** Private addresses stay closed to every request, whatever names, redirects and name servers say: in a world of its own. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root, workplace } from '../journeys/skein.ts';

const world = fileURLToPath(new URL('./private-world.ts', import.meta.url));
const impossible = spawnSync('unshare', ['-rnm', 'ip', 'link', 'set', 'lo', 'up']).status !== 0;

interface Seen {
  readonly code: number | null;
  readonly said: string;
  readonly asked: readonly string[];
  /** What the public addresses were asked for. */
  readonly heard?: readonly string[];
  readonly pages: string;
  readonly turns: readonly (readonly [string, number])[];
}

async function seenIn(place: string, how: string): Promise<Seen> {
  const resolver = join(place, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\noptions timeout:2 attempts:2\n');
  const enter = ['-rnm', 'sh', '-c', 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"', 'sh', resolver];
  const words = [...enter, process.execPath, world, place, join(root, 'bin', 'skein.js'), how];
  const { stdout } = await promisify(execFile)('unshare', words, { timeout: 180_000, maxBuffer: 1e7 });
  return JSON.parse(stdout) as Seen;
}

const options = { skip: impossible && 'needs unshare with user, network and mount namespaces', timeout: 200_000 };

for (const how of ['threads', 'outpost']) {
  const who = how === 'threads' ? 'home' : 'an outpost';
  test(`no request of ${who} reaches a private address that nobody opened`, options, async t => {
    using place = workplace();
    const { code, said, asked, pages, turns } = await seenIn(place.path, how);
    assert.equal(code, 0, said);
    assert.deepEqual(asked, []);
    const reasons = new Map<string, string>();
    for (const line of pages.split('\n').filter(Boolean)) {
      const { url, outcome, reason } = JSON.parse(line) as { url: string; outcome: string; reason: string };
      reasons.set(url, `${outcome} ${reason}`);
    }
    t.diagnostic(`${reasons.size} pages; names asked for: ${turns.map(each => each.join(' ')).join(', ')}`);
    assert.equal(reasons.get('http://10.0.0.5/secret'), 'refused private-address');
    assert.equal(reasons.get('http://private.test/page'), 'refused private-address');
    if (how === 'threads') assert.ok((new Map(turns).get('rebind.test') ?? 0) > 1, 'the name was rebound');
  });
}

test('no webhook and no subscriber leads to a private address that the user did not name', options, async () => {
  using place = workplace();
  const { asked, heard } = await seenIn(place.path, 'pushes');
  assert.deepEqual(asked, ['10.0.0.5 10.0.0.5/named']);
  for (const path of ['public.test/hook', 'public.test/to-address', 'public.test/cb?'])
    assert.ok(
      heard?.some(line => line.includes(path)),
      `${path} was not asked for: the trial shows nothing`,
    );
});

test(
  'the same world opened by --allow-private is reached by page, image, sitemap, robots.txt and hub',
  options,
  async () => {
    using place = workplace();
    const { asked } = await seenIn(place.path, 'open');
    for (const path of [
      '10.0.0.5/hub',
      '10.0.0.5/secret',
      '10.0.0.5/picture.png',
      '10.0.0.5/sitemap.xml',
      '192.168.7.7/robots.txt',
    ]) {
      assert.ok(
        asked.some(line => line.endsWith(path)),
        `${path} was not asked for: the trial shows nothing`,
      );
    }
  },
);
