/**
 * `skein serve` and `skein site` as running programs, and strangers at their ports: paths, hosts, heads, bodies and queries
 * that nobody honest sends; questions by the hundred in one breath whose answers nobody takes. Others are answered meanwhile.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { crawlHere, type Running, start, workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

const place = workplace();
const at = (name: string) => join(place.path, name);
const SITE = 'http://docs.example/';

interface Program {
  readonly port: number;
  /** Of a document that everybody may have. */
  readonly path: string;
  readonly running: Running;
}

function started(path: string, ...words: string[]): Promise<Program> {
  const running = start([...words, '--listen', '127.0.0.1:0']);
  return new Promise((resolve, reject) => {
    let said = '';
    const look = (piece: Buffer) => {
      said += piece;
      const port = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port) resolve({ port: Number(port), path, running });
    };
    running.child.stdout!.on('data', look);
    running.child.stderr!.on('data', look);
    void running.ended.then(() => reject(new Error(`it ended: ${said}`)), reject);
  });
}

const programs: Record<string, Program> = {};

before(async () => {
  await using web = await openWeb({ pagesPerServer: 30 });
  await crawlHere({ data: at('data') }, web.seeds);
  mkdirSync(at('pages'));
  for (let i = 0; i < 50; i++) writeFileSync(join(at('pages'), `${i}.html`), `<title>${i}</title><p>page ${i}`);
  programs['serve'] = await started('/search?q=the', 'serve', '--data', at('data'), '--rate', '1000', '--behind-proxy');
  const site = ['site', at('pages'), '--public', SITE, '--data', at('journal'), '--requests-a-minute', '100000'];
  programs['site'] = await started('/.well-known/skein/sitemap.xml', ...site);
});

after(async () => {
  for (const { running } of Object.values(programs)) {
    running.child.kill('SIGKILL');
    await running.ended;
  }
});

/** What comes back for these bytes, until the other side closes or has said enough. */
function said(port: number, bytes: string | Buffer, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.3' });
    let text = '';
    socket.on('data', piece => {
      text += piece.toString('latin1');
      if (enough(text)) socket.destroy();
    });
    socket.on('error', () => {}); // closed on us: `close` follows
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}

const request = (path: string, more = 'Host: a\r\n') => `GET ${path} HTTP/1.1\r\n${more}Connection: close\r\n\r\n`;
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);

const paths = [
  ...[
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/widget.js/../../package.json',
    '/%00',
    '/%ff',
  ],
  ...['/0.html/..%2f..%2fetc/passwd', '\\..\\etc\\passwd', 'http://other.example/search?q=a', '*', '/?'.repeat(3000)],
];
const hosts = ['', 'Host: \r\n', 'Host: a b\r\n', 'Host: a\r\nHost: b\r\n', 'Host: [::1\r\n', 'Host: a@b:c\r\n'];
const messages: Record<string, string> = {
  'a head of a megabyte': request('/', `Host: a\r\nX: ${'a'.repeat(1 << 20)}\r\n`),
  'an address of a megabyte': request(`/${'a'.repeat(1 << 20)}`),
  'two lengths': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a line that is none': `\0\0\0${'\r\n'.repeat(100)}`,
};
const words = 'the a in on by with as is from for';
const queries = [
  ...[
    `${'('.repeat(100)}a${')'.repeat(99)}`,
    `${'-'.repeat(190)}a`,
    '"the '.repeat(40),
    'the OR a OR in OR on '.repeat(9),
  ],
  ...[
    `"${`${words} `.repeat(5)}"`,
    `url:(((((a+)+)+)+)+$`,
    `site:${'*a'.repeat(90)}`,
    'a* b* c* d*',
    'abcdefghij'.repeat(19),
  ],
  ...[
    '\u0301'.repeat(200),
    '\ud800',
    ':'.repeat(200),
    `changed:${'9'.repeat(180)}`,
    'the" OR 1=1; -- NEAR(a b, 99999999)',
  ],
];

for (const name of ['serve', 'site'])
  describe(name, () => {
    test('what nobody honest sends gets an answer of a few words, or none', async () => {
      const { port, path } = programs[name]!;
      for (const each of paths) {
        const text = await said(port, request(each));
        assert.doesNotMatch(text, /root:|"dependencies"/, each);
        assert.notEqual(statusOf(text), 500, each);
      }
      for (const each of hosts) assert.ok(statusOf(await said(port, request(path, each))) < 500, JSON.stringify(each));
      for (const [what, bytes] of Object.entries(messages))
        assert.ok([0, 400, 404, 414, 431].includes(statusOf(await said(port, bytes))), what);
      assert.equal(statusOf(await said(port, request(path))), 200);
    });

    test('hundreds of questions in one breath are refused for the most part, and others are answered', async () => {
      const { port, path } = programs[name]!;
      const asked = 300;
      const from = 'X-Forwarded-For: 192.0.2.7\r\n';
      const one = `GET ${path} HTTP/1.1\r\nHost: a\r\n${from}\r\n`;
      const answers = (text: string) => text.match(/HTTP\/1\.1 \d+/g) ?? [];
      const text = await said(port, one.repeat(asked), text => answers(text).length === asked);
      const given = answers(text).filter(each => each.endsWith('200')).length;
      assert.ok(given > 0 && given <= 100, `${given} of ${asked} were answered`);
      assert.equal(statusOf(await said(port, request(path, 'Host: a\r\nX-Forwarded-For: 192.0.2.8\r\n'))), 200);
    });
  });

test('a query of any form is answered or refused in a sentence', async () => {
  const { port, running } = programs['serve']!;
  for (const each of queries) {
    const query = encodeURIComponent(each.toWellFormed());
    assert.ok([200, 400].includes(statusOf(await said(port, request(`/search?q=${query}`)))), each);
    assert.ok([200, 400].includes(statusOf(await said(port, request(`/suggest?q=${query}`)))), each);
  }
  assert.equal(running.child.exitCode, null);
});
