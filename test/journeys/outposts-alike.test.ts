/** From wherever a web is crawled, every URL of it ends alike: by threads here, through ssh, by an outpost that joined. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { noSshd, openSshd } from '../transfer/sshd.ts';
import { FEATURES, openWeb } from '../web/web.ts';
import { invite, startOutpost } from './outpost-processes.ts';
import { fast, pagesOf, start, workplace } from './skein.ts';

const missing = noSshd();

/** Where near-identical pages go on without end: which of them are under way when that is noticed, nobody can say. */
const ENDLESS = /\/(?:calendar|filter)\b/;

/** Every URL with its outcome and reason; those of other traps, too, which are endless but for the limits. */
async function endings(data: string): Promise<string[]> {
  const pages = [...(await pagesOf(data)).values()];
  const noticed = pages.filter(({ reason }) => reason === 'near-identical');
  assert.ok(noticed.length > 0 && noticed.every(({ url }) => ENDLESS.test(url)), `${noticed.length} near-identical`);
  return pages
    .filter(({ url }) => !url.endsWith('/e/flapping') && !ENDLESS.test(url)) // the first answers each request otherwise
    .map(({ url, outcome, reason }) => `${url} ${outcome} ${reason}`)
    .sort();
}

test('the same pages are found and the same refused for the same reasons, traps included', async t => {
  using place = workplace();
  await using web = await openWeb({ seed: 9, servers: 2, pagesPerServer: 20, features: FEATURES });
  const crawl = async (name: string, ...more: string[]) => {
    const data = join(place.path, name);
    const ran = await start(['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--depth', '8', ...fast, ...more])
      .ended;
    assert.equal(ran.code, 0, ran.stderr);
    return endings(data);
  };
  const port = await freePort();
  const outpost = await startOutpost('a', place.path, await invite(join(place.path, 'joined'), port));
  await using sshd = missing === '' ? await openSshd(place.path, { node: dirname(process.execPath) }) : undefined;
  if (!sshd) t.diagnostic(`not tried through ssh: ${missing}`);
  const path = process.env['PATH'];
  process.env['PATH'] = sshd ? `${sshd.bin}:${path}` : path;
  try {
    // Side by side, because each waits for what servers ask to wait for.
    const [near, joined, far] = await Promise.all([
      crawl('near', '--set', 'threads=1'),
      crawl('joined', '--set', 'threads=0', '--listen', `127.0.0.1:${port}`),
      sshd && crawl('far', '--outpost', sshd.url),
    ]);
    const reasons = new Set(near.map(line => line.split(' ').at(-1)));
    for (const reason of ['repeated-path', 'robots', 'nofollow']) {
      assert.ok(reasons.has(reason), `something is refused as ${reason}`);
    }
    assert.deepEqual(joined, near);
    assert.deepEqual(far ?? near, near);
  } finally {
    process.env['PATH'] = path;
    await outpost.kill();
  }
});
