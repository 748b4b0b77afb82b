/** What is answered to a command line with a mistake in it: one sentence, what to do next, an exit code, and nothing left behind. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { skein, workplace } from '../journeys/skein.ts';

const place = workplace();
after(() => place[Symbol.dispose]());

interface Mistake {
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
}

const mistakes: readonly Mistake[] = [
  {
    args: ['crawl', 'http://127.0.0.1:1/', '--pase', '1'],
    code: 2,
    says: /^skein: There is no option --pase\.\nDid you mean --pace\?/,
  },
  { args: ['crawl', '--qqq'], code: 2, says: /^skein: There is no option --qqq\.\n"skein crawl --help" lists/ },
  {
    args: ['crwal', 'http://127.0.0.1:1/'],
    code: 2,
    says: /^skein: There is no command crwal\.\nDid you mean crawl\?/,
  },
  { args: ['qqq'], code: 2, says: /^skein: There is no command qqq\.\n"skein --help" lists/ },
  { args: ['search'], code: 2, says: /^skein: The argument <query> is missing\.\n"skein search --help" says/ },
  {
    args: ['notify', 'add'],
    code: 2,
    says: /^skein: The argument <name> is missing\.\n"skein notify add --help" says/,
  },
  {
    args: ['diff', 'a.example', '1', '2'],
    code: 2,
    says: /^skein: There are too many arguments.*\n"skein diff --help" says/,
  },
  { args: ['extract'], code: 2, says: /^skein: --schema <file> is missing\.\n"skein extract --help" says/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--pace', 'fast'], code: 2, says: /--pace cannot be "fast"/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--pace', '-1'], code: 2, says: /--pace cannot be "-1"/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--connections', '0'], code: 2, says: /--connections cannot be "0"/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--depth', '1.5'], code: 2, says: /--depth cannot be/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--max-pages', 'many'], code: 2, says: /--max-pages cannot be/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--set', 'order=random'], code: 2, says: /order cannot be "random"/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--set', 'order=focused'], code: 2, says: /"focused" needs keywords/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--set', 'body-limit=huge'], code: 2, says: /"huge" is not a size/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--keep', 'kind=html'], code: 2, says: /no part named "kind"/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--domains', 'edu=much'], code: 2, says: /much/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--keep', 'lang=english'], code: 2, says: /"english" is not a language/ },
  { args: ['crawl', 'http://127.0.0.1:1/', '--connections', '1.5'], code: 2, says: /it is a whole number/ },
  { args: ['refresh', '--freshness', '2'], code: 2, says: /--freshness cannot be "2": it is at most 0\.999/ },
  { args: ['refresh', '--budget', '10%', '--freshness', '0.9'], code: 2, says: /cannot be used together/ },
  { args: ['crawl', 'ftp://example.org/'], code: 2, says: /Skein reads http and https, not ftp/ },
  { args: ['steer', '--data', 'x'], code: 2, says: /"skein steer" needs a command before --data: add, pause,/ },
  { args: ['seeds', '--zork'], code: 2, says: /There is no option --zork/ },
  { args: ['crawl', 'http://'], code: 2, says: /not a URL that can be crawled/ },
  {
    args: ['crawl', 'https://me:secret@127.0.0.1/'],
    code: 2,
    says: /seed https:\/\/127\.0\.0\.1\/ names a user.*name:password@/s,
  },
  { args: ['crawl', 'mailto:me@example.org'], code: 2, says: /"mailto:me@example.org" is not a URL/ },
  {
    args: ['crawl', `http://a.test/${'x'.repeat(5000)}`],
    code: 2,
    says: /^skein: ".{60}…" is longer than a URL may be/m,
  },
  { args: ['crawl', 'http://127.0.0.1:1/', '--set', 'body-limit=0'], code: 2, says: /would store nothing/ },
  { args: ['crawl', '--seeds', '/dev/null'], code: 2, says: /--seeds names no URL/ },
  {
    args: ['crawl', '--seeds', 'no-such-file'],
    code: 2,
    says: /seeds in no-such-file cannot be read: no such file or directory\.\n/,
  },
  { args: ['crawl'], code: 3, says: /no collection/ },
  { args: ['status'], code: 3, says: /no collection/ },
  { args: ['verify'], code: 3, says: /no collection/ },
  { args: ['show', 'http://127.0.0.1:1/'], code: 3, says: /no collection/ },
  { args: ['export'], code: 3, says: /no collection/ },
  { args: ['outposts'], code: 3, says: /no collection in .*\n.*skein crawl URL/ },
  { args: ['notify', 'list'], code: 3, says: /no collection/ },
  { args: ['notify', 'try', 'mine'], code: 3, says: /no collection/ },
  { args: ['notify', 'run'], code: 3, says: /no collection/ },
  { args: ['notify', 'remove', 'mine'], code: 3, says: /no collection/ },
];

test('mistakes are answered with a sentence and an exit code, and leave nothing behind', async () => {
  const cwd = join(place.path, 'mistakes');
  mkdirSync(cwd);
  for (let i = 0; i < mistakes.length; i += 4) {
    const some = mistakes.slice(i, i + 4);
    const ran = await Promise.all(some.map(({ args }) => skein([...args, '--data', join(cwd, 'data')], { cwd })));
    ran.forEach(({ code, stderr, stdout }, index) => {
      const { args, code: expected, says } = some[index]!;
      assert.equal(code, expected, `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, says, args.join(' '));
      assert.doesNotMatch(stderr, /should not happen|\n\s+at /, args.join(' '));
      assert.equal(stdout.length, 0);
    });
  }
  const { code, stderr } = await skein(['status', '--data', join(cwd, 'data')]);
  assert.equal(code, 3, stderr);
});
