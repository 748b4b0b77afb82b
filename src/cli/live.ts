/** The line that moves while a crawl runs. On a terminal it is rewritten in place, elsewhere a line every ten seconds. */
import type { Opened } from './compose.ts';
import { cut, duration, paint, size } from './terminal.ts';

const TERMINAL = 200;
const ELSEWHERE = 10_000;

export class LiveLine {
  readonly #opened: Opened;
  readonly #timer: NodeJS.Timeout;
  readonly #terminal = process.stderr.isTTY === true;

  constructor(opened: Opened, quiet: boolean) {
    this.#opened = opened;
    const often = this.#terminal && !quiet ? TERMINAL : ELSEWHERE;
    this.#timer = setInterval(() => this.#draw(), often);
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#terminal) process.stderr.write('\r\u001b[2K');
  }

  #draw(): void {
    const line = this.#line();
    if (this.#terminal) process.stderr.write(`\r\u001b[2K${cut(line, (process.stderr.columns ?? 100) - 1)}`);
    else process.stderr.write(`${line}\n`);
  }

  #line(): string {
    const { home, frontier } = this.#opened;
    const { progress } = home;
    const waiting = frontier.waiting();
    const { failed } = progress.outcomes;
    const parts = [
      duration(progress.seconds * 1000),
      `${progress.pages.toLocaleString('en')} pages`,
      `${progress.rate().toFixed(progress.rate() < 10 ? 1 : 0)}/s`,
      size(progress.bytesDown),
      `queue ${(waiting.pages + home.dispatch.pagesUnderWay).toLocaleString('en')}`,
      failed > 0 ? paint('yellow', `errors ${failed}`) : 'errors 0',
      `servers ${waiting.servers}`,
      `memory ${size(process.memoryUsage.rss())}`,
    ];
    return parts.join('  ');
  }
}
