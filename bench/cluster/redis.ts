/**
 * What people use for a crawl on several machines without this project: a Redis that holds the queue and the filter, in the
 * layout of scrapy-redis. Of each URL a SHA-1 in a set (`dupefilter`), and a pickled request in a sorted set (`requests`).
 * A real redis-server on loopback; the clients are as cheap as they can be (one process, hundreds of commands at once, and
 * pickles that are made from a form), so this is its best case.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/free-port.ts';
import { pause } from '../../test/journeys/kills.ts';

/** Commands that are on their way at once. */
const AT_ONCE = 500;
const root = join(import.meta.dirname, '..', '..');

/** As Scrapy's Request.to_dict has it, and pickled as scrapy-redis does it. Every URL of this bench is as long as this one. */
const PICKLE = `
import pickle, sys
request = {"url": sys.argv[1], "callback": "parse", "errback": None, "headers": {b"Referer": [b"http://server-0000.example/"]},
  "method": "GET", "body": b"", "cookies": {}, "meta": {"depth": 3}, "encoding": "utf-8", "priority": 0,
  "dont_filter": False, "flags": [], "cb_kwargs": {}}
sys.stdout.buffer.write(pickle.dumps(request, protocol=-1))
`;

const urlOf = (i: number) =>
  `http://server-${String(i % 1000).padStart(4, '0')}.example/shelf-${String(i % 97).padStart(2, '0')}/some-title-of-a-page-${String(i).padStart(9, '0')}.html`;

function command(...words: readonly (string | Uint8Array)[]): Buffer {
  const parts = words.flatMap(word => {
    const bytes = typeof word === 'string' ? Buffer.from(word) : word;
    return [Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}

/** Sends commands, and waits until as many answers have come. Only for those whose answer is one number. */
class Line {
  readonly #socket: Socket;
  #answers = 0;
  #wanted = 0;
  #resolve: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => {
      for (const byte of data) if (byte === 10) this.#answers++;
      if (this.#answers >= this.#wanted) this.#resolve();
    });
  }

  async send(commands: readonly Uint8Array[]): Promise<void> {
    this.#wanted = this.#answers + commands.length;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolve = resolve;
    this.#socket.write(Buffer.concat(commands));
    await promise;
  }

  /** Sends one, and resolves when nothing more comes for it: as many lines as it has. */
  async ask(lines: number, bytes: Uint8Array): Promise<void> {
    this.#wanted = this.#answers + lines;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolve = resolve;
    this.#socket.write(bytes);
    await promise;
  }

  end(): void {
    this.#socket.destroy();
  }
}

const figure = (text: string, name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(text)?.[1] ?? Number.NaN);

export async function redis(urls: number): Promise<void> {
  spawnSync('bash', [join(root, 'scripts', 'install-debian.sh'), 'redis-server', 'python3'], { stdio: 'inherit' });
  if (spawnSync('redis-server', ['--version']).status !== 0) return console.log('skipped: no redis-server');
  const port = await freePort();
  const path = mkdtempSync(join(tmpdir(), 'skein-redis-'));
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', path, '--appendonly', 'yes', '--save', ''];
  const server = spawn('redis-server', words, { stdio: 'ignore' });
  const info = () => execFileSync('redis-cli', ['-p', String(port), 'info'], { encoding: 'utf8' });
  try {
    const socket = await reached(port);
    const line = new Line(socket);
    const form = execFileSync('python3', ['-c', PICKLE, urlOf(0)]);
    const place = form.indexOf(urlOf(0));
    const empty = figure(info(), 'used_memory');
    const started = performance.now();
    for (let first = 0; first < urls; first += AT_ONCE) {
      const commands: Buffer[] = [];
      for (let i = first; i < Math.min(urls, first + AT_ONCE); i++) {
        const url = urlOf(i);
        const pickled = Buffer.from(form);
        pickled.write(url, place);
        commands.push(
          command('SADD', 'spider:dupefilter', createHash('sha1').update(url).digest('hex')),
          command('ZADD', 'spider:requests', '0', pickled),
        );
      }
      await line.send(commands);
    }
    const seconds = (performance.now() - started) / 1000;
    const full = info();
    const bytes = (figure(full, 'used_memory') - empty) / urls;
    const cpu = figure(full, 'used_cpu_user') + figure(full, 'used_cpu_sys');
    console.log(
      `redis-server ${/redis_version:(\S+)/.exec(full)?.[1]}, ${urls} URLs in scrapy-redis' layout: ` +
        `${bytes.toFixed(0)} bytes of its memory a URL (${(figure(full, 'used_memory_rss') / 1e6).toFixed(0)} MB resident), ` +
        `${(urls / seconds).toFixed(0)} URLs a second in, ${((cpu / urls) * 1e6).toFixed(1)} us of its processor a URL; ` +
        `a pickle has ${form.length} bytes; its log on the disk ${(bytesOf(path) / urls).toFixed(0)} bytes a URL`,
    );
    const takes = Math.min(20_000, urls);
    const began = performance.now();
    // As its spiders do it: the first of the queue is read and removed, one after the other.
    const take = Buffer.from('MULTI\r\nZRANGE spider:requests 0 0\r\nZREMRANGEBYRANK spider:requests 0 0\r\nEXEC\r\n');
    // MULTI, two times QUEUED, and the answer: an array of an array with one text of one line, and a number.
    for (let i = 0; i < takes; i++) await line.ask(3 + 1 + 1 + 2 + 1 + linesIn(form), take);
    console.log(
      `  taken one by one, as its spiders do it: ${(takes / ((performance.now() - began) / 1000)).toFixed(0)} a second`,
    );
    line.end();
  } finally {
    server.kill('SIGKILL');
    rmSync(path, { recursive: true, force: true });
  }
}

/** Connected, as soon as the server listens. */
async function reached(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      await pause(20); // it is starting
    }
  }
}

const linesIn = (bytes: Uint8Array): number => bytes.filter(byte => byte === 10).length;

function bytesOf(path: string): number {
  return Number(execFileSync('du', ['-sb', path], { encoding: 'utf8' }).split('\t')[0]);
}
