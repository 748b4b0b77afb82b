/** Every reading command answers the same of a collection, however many partitions it has. */
import assert from 'node:assert/strict';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeCollection, makePartition } from '../../src/ledger/collection/collection.ts';
import { fast, skein, workplace } from '../journeys/skein.ts';
import { openWeb, type Web } from '../web/web.ts';
import { splitCollection } from './split.ts';

const place = workplace();
const [one, four] = [join(place.path, 'one'), join(place.path, 'four')];
let web: Web;

before(async () => {
  // No feature gives two servers the same bytes: such a copy refers to one that is then in another partition.
  web = await openWeb({ servers: 7, pagesPerServer: 12, features: ['errors', 'duplicates'] });
  const ran = await skein(['crawl', ...web.origins, '--data', one, ...fast]);
  assert.equal(ran.code, 0, ran.stderr);
  splitCollection(one, four, 4);
});
after(async () => {
  await web.close();
  place[Symbol.dispose]();
});

type Line = Record<string, unknown>;

/** What a command prints with --json, line by line, of both. */
async function both(...args: string[]): Promise<[Line[], Line[]]> {
  const answers = [one, four].map(async data => {
    const { code, stdout, stderr } = await skein([...args, '--data', data, '--json']);
    assert.equal(code, 0, stderr);
    return stdout
      .toString()
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as Line);
  });
  return (await Promise.all(answers)) as [Line[], Line[]];
}

const byText = (lines: readonly unknown[]) => lines.map(line => JSON.stringify(line)).sort();
const without = (line: Line, ...names: string[]) =>
  Object.fromEntries(Object.entries(line).filter(([name]) => !names.includes(name)));

test('status', async () => {
  const [[whole], [parts]] = await both('status');
  // Every partition was given all of the archive.
  const counted = (line: Line) => without(line, 'archiveBytes', 'diskBytes', 'outcomes', 'largest', 'lastVisit');
  assert.deepEqual(counted(parts!), counted(whole!));
  // The visit that was written last is not always the latest: some are made at once.
  const last = [parts!, whole!].map(line => Date.parse(String(line['lastVisit'])));
  assert.ok(Math.abs(last[0]! - last[1]!) < 60_000);
  for (const name of ['outcomes', 'largest'])
    assert.deepEqual(byText(parts![name] as Line[]), byText(whole![name] as Line[]), name);
  assert.equal(parts!['servers'], 7);
});

test('pages, in every order, filtered, and the first few', async () => {
  const page = (line: Line) => without(line, 'file');
  for (const order of ['id', 'url', 'time', 'changed', 'size', 'depth', 'due']) {
    const [whole, parts] = await both('pages', '--sort', order);
    assert.ok(whole.length > 84);
    assert.deepEqual(byText(parts.map(page)), byText(whole.map(page)), order);
    const key = { size: 'bytes', id: '' }[order] ?? order;
    // What was never there has no time of change, and stands among the others by when it was looked at.
    const keys = (lines: Line[]) =>
      lines.map(line => line[key] ?? null).filter(each => order !== 'changed' || each !== null);
    if (key !== '') assert.deepEqual(keys(parts), keys(whole), `in order of ${order}`);
  }
  const [whole, parts] = await both('pages', '127.0.0.1*/', '--outcome', 'fetched', '--sort', 'url', '--limit', '9');
  assert.equal(whole.length, 9);
  assert.deepEqual(parts.map(page), whole.map(page));
});

test('show, why and history of pages of every server', async () => {
  for (const origin of web.origins.slice(0, 2)) {
    for (const command of ['show', 'why', 'history']) {
      const [whole, parts] = await both(command, `${origin}/`);
      // Figures that go by the moment of asking.
      const told = (lines: Line[]) => lines.map(line => without(line, 'explanation'));
      assert.deepEqual(told(parts), told(whole), `${command} ${origin}`);
    }
  }
  const { code, stderr } = await skein(['show', 'http://127.0.0.1:1/none', '--data', four]);
  assert.deepEqual([code, /does not know http:\/\/127\.0\.0\.1:1\/none/.test(stderr)], [3, true], stderr);
});

test('links that cross partitions, both ways', async () => {
  let crossing = 0;
  for (const origin of web.origins) {
    const [[whole], [parts]] = await both('links', `${origin}/`);
    assert.deepEqual(parts!['out'], whole!['out']);
    assert.deepEqual(byText(parts!['in'] as Line[]), byText(whole!['in'] as Line[]));
    crossing += (whole!['in'] as { url: string }[]).filter(({ url }) => !url.startsWith(`${origin}/`)).length;
  }
  assert.ok(crossing > 0, 'some link leads to another server');
});

test('changes, newest first, told by numbers that are unique', async () => {
  const [whole, parts] = await both('changes', '--new');
  assert.ok(whole.length > 50);
  const change = (line: Line) => without(line, 'id', 'page', 'server');
  assert.deepEqual(byText(parts.map(change)), byText(whole.map(change)));
  assert.equal(new Set(parts.map(line => line['id'])).size, parts.length);
});

test('account, and the load models', async () => {
  const [[whole], [parts]] = await both('account');
  for (const name of ['causes', 'days', 'servers', 'stages'])
    assert.deepEqual(byText(parts![name] as Line[]), byText(whole![name] as Line[]), name);
  assert.deepEqual(parts!['line'], whole!['line']);
});

test('cat, diff, and every format of export', async () => {
  const url = `${web.origins[2]}/`;
  for (const args of [['cat'], ['diff'], ['diff', '--codes']]) {
    const [whole, parts] = await both(args[0]!, url, ...args.slice(1));
    assert.deepEqual(parts, whole, args.join(' '));
  }
  for (const format of ['jsonl', 'cdxj', 'markdown', 'text', 'chunks', 'csv']) {
    const [whole, parts] = await Promise.all(
      [one, four].map(async data => (await skein(['export', '--format', format, '--data', data])).stdout.toString()),
    );
    // Every partition was given all of the archive, so that formats of copies have each of them four times, and once without
    // its body where the ledger of a partition does not know the page that the copy refers to.
    const lines = (text: string) =>
      [...new Set(text.split('\n'))].filter(line => !line.endsWith('"kind":"revisit"}')).sort();
    assert.ok(!whole!.includes('"kind":"revisit"}'), 'alone, every copy has its body');
    assert.ok(whole!.length > 1000, format);
    assert.deepEqual(lines(parts!), lines(whole!), format);
  }
});

test('search, its index, and what is opened', async () => {
  const title = String(
    (await both('pages', '--sort', 'url', '--outcome', 'fetched'))[0].find(page => page['title'])!['title'],
  );
  const word = title.split(' ')[0]!;
  for (const query of [
    word,
    title,
    `${word} -${title.split(' ')[1]}`,
    `site:${new URL(web.origins[3]!).host}`,
    'type:html',
  ]) {
    const [[whole], [parts]] = await both('search', query, '--limit', '20', '--unfold');
    // Which title comes first depends on ports; its words may stand only together.
    if (!query.includes(' -')) assert.ok((whole!['total'] as number) > 0, query);
    assert.deepEqual(parts!['total'], whole!['total'], query);
    const urls = (line: Line) => (line['hits'] as { url: string }[]).map(({ url }) => url);
    // Links from other partitions bring no words yet, so only the set of what has the words is the same.
    if ((whole!['total'] as number) <= 20) assert.deepEqual(urls(parts!).sort(), urls(whole!).sort(), query);
  }
  const [[status], [split]] = await both('index', 'status');
  assert.deepEqual([split!['documents'], split!['behind']], [status!['documents'], 0]);
  const { code, stdout } = await skein(['search', word, '--open', '1', '--data', four]);
  assert.deepEqual([code, stdout.length > 100], [0, true]);
  const rebuilt = await skein(['index', 'rebuild', '--data', four, '--json']);
  assert.equal((JSON.parse(rebuilt.stdout.toString()) as Line)['documents'], status!['documents']);
});

test('report: findings and structure', async () => {
  const [whole, parts] = await Promise.all(
    [one, four].map(async data => {
      const { stdout, stderr } = await skein(['report', '--data', data, '--json', '--fail-on', 'never']);
      assert.equal(stderr, '');
      return JSON.parse(stdout.toString()) as Line;
    }),
  );
  // Of pages with one title it is told at the one that was found first, which partitions order otherwise.
  const findings = (line: Line) =>
    byText(
      (line['findings'] as (Line & { related: Line[] })[]).map(({ related, ...finding }) =>
        finding['check'] === 'title-duplicate'
          ? [finding['detail'], byText([finding['url'], ...related.map(each => each['url'])])]
          : [finding, byText(related)],
      ),
    );
  assert.ok(findings(whole!).length > 5);
  assert.deepEqual(findings(parts!), findings(whole!));
  // Bars of equal height may stand in another order.
  const shape = (line: Line) =>
    JSON.stringify(line['structure'])
      .split(/[[{,\]}]+/)
      .sort();
  assert.deepEqual(shape(parts!), shape(whole!));
  assert.deepEqual([parts!['urls'], parts!['unchecked']], [whole!['urls'], whole!['unchecked']]);
});

test('verify looks at every partition, and says in which something is wrong; repair mends it there', async () => {
  const data = join(place.path, 'apart');
  const collection = makeCollection(data, 2);
  for (const id of [0, 1]) {
    const { directory } = makePartition(collection, id);
    const ran = await skein(['crawl', web.origins[id]!, '--max-pages', '5', '--data', directory, ...fast]);
    assert.equal(ran.code, 0, ran.stderr);
  }
  const verify = async (...args: string[]) => {
    const { code, stdout } = await skein(['verify', '--data', data, '--json', ...args]);
    return { code, ...(JSON.parse(stdout.toString()) as { problems: string[]; copies: number; lost: number }) };
  };
  const { code, copies } = await verify();
  assert.deepEqual([code, copies > 5], [0, true]);
  const archive = join(makePartition(collection, 1).directory, 'archive');
  for (const name of readdirSync(archive).filter(each => each.endsWith('.gz'))) truncateSync(join(archive, name), 600);
  const damaged = await verify();
  assert.equal(damaged.code, 6);
  assert.ok(damaged.lost > 0 && damaged.problems.every(problem => problem.startsWith('partition 1: ')));
  assert.equal((await verify('--repair')).code, 0);
  assert.deepEqual([(await verify()).code, (await verify()).problems], [0, []]);
});

test('a cursor covers all partitions; nothing is told twice', async () => {
  const chunks = async (after: string) => {
    const [whole, parts] = await both('changes', '--format', 'chunks', '--after', after);
    return { whole: whole.slice(0, -1), parts: parts.slice(0, -1), cursor: String(parts.at(-1)!['cursor']) };
  };
  const { whole, parts, cursor } = await chunks('0');
  assert.ok(whole.length > 50);
  assert.deepEqual(byText(parts), byText(whole));
  assert.match(cursor, /^\d@\d+-\d+(,\d@\d+-\d+)+$/);
  const { stdout } = await skein(['changes', '--format', 'chunks', '--after', cursor, '--data', four]);
  assert.deepEqual(JSON.parse(stdout.toString()), { cursor, added: 0, changed: 0, removed: 0, cleared: 0 });
  const odd = await skein(['changes', '--format', 'chunks', '--after', '9@1-1', '--data', four]);
  assert.match(odd.stderr, /"9@1-1" is not a cursor of this collection/);
});
