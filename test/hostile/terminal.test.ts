/**
 * A site that puts escapes for the terminal wherever a site may put text: headers, titles, anchors, addresses, robots.txt,
 * feeds, structured data. No command that shows what was collected lets one through.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fast, root, skein, workplace } from '../journeys/skein.ts';

/** Clears the screen, names the window, turns the text round; in bytes of one and of two. */
const EVIL = '\u001b[2J\u001b]0;mine\u0007\u202e';
const IN_HEADERS = '\u001b[2J\u001b]0;mine\u0007\u009b2J';
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const prose = (word: string) => `<p>${Array.from({ length: 40 }, (_, i) => `${word}${i}`).join(' ')} ${EVIL}</p>`;

function page(word: string, links: readonly string[]): string {
  const anchors = links.map(link => `<a href="${link}" title="${EVIL}">${EVIL} to ${link}</a>`).join(' ');
  return `<!doctype html><html lang="en${EVIL}"><head><title>${EVIL} ${word} &#27;[2J</title>
<link rel="canonical" href="/${word}?${EVIL}"><meta name="description" content="${EVIL}"><meta name="robots" content="${EVIL}">
<link rel="alternate" type="application/atom+xml" href="/feed?${EVIL}" title="${EVIL}">
<script type="application/ld+json">{"@type":"Product","name":"\\u001b[2J ${word}"}</script></head>
<body><h1 id="x${EVIL}">${EVIL} ${word}</h1>${prose(word)}<img src="/image?${EVIL}" alt="${EVIL}">${anchors}</body></html>`;
}

/** Answers that no server of a library would send. */
async function hostileSite() {
  let round = 'first';
  const pages: Record<string, () => string> = {
    '/': () =>
      page(`home-${round}`, [
        '/one',
        '/two',
        '/moved',
        '/gone',
        '/odd',
        `/x%1b[2J${EVIL}`,
        `http://127.0.0.1:9/${EVIL}`,
      ]),
    '/one': () => page(`one-${round}`, ['/']),
    '/two': () => page('two', ['/one']),
  };
  const head = (status: string, more = '') =>
    `HTTP/1.1 ${status} ${IN_HEADERS}\r\nETag: "${IN_HEADERS}"\r\nServer: ${IN_HEADERS}\r\nLast-Modified: ${IN_HEADERS}
Content-Language: ${IN_HEADERS}\r\nLink: </hub${IN_HEADERS}>; rel="hub"\r\nX-Robots-Tag: ${IN_HEADERS}\r\n${more}Connection: close\r\n`.replace(
      /(?<!\r)\n/g,
      '\r\n',
    );
  const answer = (path: string): string => {
    const bare = path.split('?')[0]!;
    if (bare === '/robots.txt')
      return `${head('200')}Content-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /no${IN_HEADERS}\nSitemap: /map${IN_HEADERS}.xml\n`;
    if (bare === '/moved' || (bare === '/two' && round !== 'first'))
      return `${head('301', `Location: /elsewhere${IN_HEADERS}\r\n`)}\r\n`;
    if (bare === '/gone' || (bare === '/one' && round === 'last'))
      return `${head('410')}Content-Type: text/html\r\n\r\n${EVIL}`;
    const made = pages[bare];
    const type = bare === '/odd' ? `application/${IN_HEADERS}` : `text/html; charset=utf-8; x=${IN_HEADERS}`;
    return made
      ? `${head('200')}Content-Type: ${type}\r\n\r\n${made()}`
      : `${head('404')}Content-Type: ${type}\r\n\r\n${EVIL}`;
  };
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    let asked = '';
    socket.on('data', bytes => {
      asked += bytes.toString('latin1');
      const path = /^[A-Z]+ (\S+) HTTP/.exec(asked)?.[1];
      if (!asked.includes('\r\n\r\n') || path === undefined) return;
      const [headers = '', body = ''] = split(answer(path));
      socket.write(Buffer.from(headers, 'latin1'));
      socket.end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turn: (next: string) => {
      round = next;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

function split(answer: string): [string, string] {
  const at = answer.indexOf('\r\n\r\n') + 4;
  return [answer.slice(0, at), answer.slice(at)];
}

test('nothing that a site says reaches the terminal as a command to it', async context => {
  await using site = await hostileSite();
  using place = workplace();
  const data = ['--data', join(place.path, 'data')];
  const through: string[] = [];
  const run = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await skein([...args, ...data]);
    const said = stdout.toString() + stderr;
    const raw = said.split('\n').find(line => HARMFUL.test(line));
    if (raw !== undefined) through.push(`${args[0]}: ${JSON.stringify(raw)}`);
    return { code: code!, said };
  };
  const shows = async (...args: string[]) => {
    const { code, said } = await run(args);
    assert.equal(code, 0, `${args.join(' ')}: ${said}`);
    return said;
  };
  const refuses = async (...args: string[]) => {
    const { code, said } = await run(args);
    assert.ok(code > 1, `${args.join(' ')} ends with ${code}: ${said}`);
  };
  const url = (path: string) => site.origin + path;
  await shows('crawl', url('/'), ...fast);
  await shows('notify', 'add', 'all', '--feed');
  site.turn('second');
  await shows('refresh', '--budget', '100%', ...fast);
  assert.match(await shows('changes', '--new'), /\/one/);
  for (const command of ['show', 'history', 'why', 'links']) await shows(command, url(`/x%1b[2J${EVIL}`));
  await shows('diff', url('/one'));
  for (const command of ['pages', 'status', 'seeds', 'verify', 'subscriptions']) await shows(command);
  assert.match(await shows('search', 'one-second1'), /one/);
  await shows('notify', 'try', 'all');
  await shows('notify', 'list');
  await refuses('ping', url(`/${EVIL}`));
  await refuses('report', '--external', '--allow-private');
  await refuses('crawl', EVIL);
  await refuses(`nothing${EVIL}`);
  assert.deepEqual(through, []);
  assert.ok(
    HARMFUL.test((await skein(['cat', '--head', url('/one'), ...data])).stdout.toString()),
    'programs get it all',
  );
  const typed: readonly (readonly string[])[] = [
    ['cat', '--head', url('/one')],
    ...['text', 'jsonl'].map(format => ['export', '--format', format]),
    ...['pages', 'changes'].map(command => [command, '--json']),
    ...['why', 'cat', 'diff'].map(command => [command, url('/one'), '--json']),
    ['changes', '--format', 'chunks', '--to', '-'],
  ];
  const shell = typed.map(words => [process.execPath, join(root, 'bin', 'skein.js'), ...words, ...data].map(quoted));
  const lines = shell.map(words => `${words.join(' ')} || echo failed: ${words[2]}`).join('; ');
  const { stdout, error } = spawnSync('script', ['-qec', lines, '/dev/null'], { encoding: 'utf8', cwd: root });
  if (error) return context.diagnostic('there is no script(1): a terminal was not tried');
  assert.match(stdout, /home|one-second1/);
  assert.doesNotMatch(stdout, /failed: /);
  assert.equal(
    stdout
      .replace(/\r/g, '')
      .split('\n')
      .find(line => HARMFUL.test(line)),
    undefined,
  );
});

const quoted = (word: string) => `'${word}'`;
