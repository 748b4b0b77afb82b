/** The line that moves while home runs. On a terminal it is rewritten in place, elsewhere a line every ten seconds. */
import type { Engine } from '../../engine/engine.ts';
import type { PoolMember } from '../../home/partitions/pool.ts';
import { poolFreshness } from '../../home/partitions/pool-freshness.ts';
import { cut, duration, paint, plural, size, thousands } from './terminal.ts';

const TERMINAL = 200;
const ELSEWHERE = 10_000;

export class LiveLine {
  readonly #opened: Engine;
  readonly #timer: NodeJS.Timeout;
  readonly #terminal = process.stderr.isTTY === true;
  readonly #line: (opened: Engine) => string;

  constructor(opened: Engine, quiet: boolean, line: (opened: Engine) => string = crawlLine) {
    this.#opened = opened;
    this.#line = line;
    const often = this.#terminal && !quiet ? TERMINAL : ELSEWHERE;
    this.#timer = setInterval(() => this.#draw(), often);
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#terminal) process.stderr.write('\r\u001b[2K');
  }

  #draw(): void {
    const line = this.#line(this.#opened);
    if (this.#terminal) process.stderr.write(`\r\u001b[2K${cut(line, (process.stderr.columns || 100) - 1)}`);
    else process.stderr.write(`${line}\n`);
  }
}

/** The line of a crawl. */
export function crawlLine({ home, pool }: Engine): string {
  const { progress } = home;
  const all = [...pool].map(({ frontier }) => frontier.backlog.waiting());
  const waiting = all.reduce((sum, { pages }) => sum + pages, 0);
  const servers = [...pool].reduce((sum, { ledger }) => sum + ledger.servers.size, 0);
  const { errors } = progress;
  const parts = [
    duration(progress.seconds * 1000),
    plural(progress.pages, 'page'),
    `${progress.rate().toFixed(progress.rate() < 10 ? 1 : 0)}/s`,
    size(progress.bytesDown),
    `queue ${thousands(waiting + home.dispatch.posts.pagesUnderWay)}`,
    errors > 0 ? paint('yellow', `errors ${errors}`) : 'errors 0',
    `servers ${servers}`,
    `memory ${size(process.memoryUsage.rss())}`,
  ];
  return parts.join('  ');
}

/** How often the ledger is asked for what the line shows, milliseconds: both answers read many rows. */
const ASK_EVERY = 10_000;

/** The line of refresh and watch: what is due, what was found, what it cost, and how fresh it keeps the collection. */
export function freshnessLine(): (opened: Engine) => string {
  let asked = Number.NEGATIVE_INFINITY;
  let due = 0;
  let fresh = '';
  return ({ home, pool, clock }) => {
    const { progress } = home;
    const sum = (count: (member: PoolMember) => number) => [...pool].reduce((all, member) => all + count(member), 0);
    const now = clock.now();
    if (clock.ticks() - asked >= ASK_EVERY) {
      asked = clock.ticks();
      due = pool.countDue(now);
      const { low, high, looks } = poolFreshness(pool, now);
      // Without a second look at any page there is nothing to say it by.
      fresh = looks === 0 ? 'not known yet' : `${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)}%`;
    }
    const visited = Object.values(progress.outcomes).reduce((sum, each) => sum + each, 0);
    return [
      duration(progress.seconds * 1000),
      `due ${thousands(due)}`,
      `visited ${thousands(visited)}`,
      paint(progress.outcomes.fetched > 0 ? 'green' : 'dim', `changed ${progress.outcomes.fetched}`),
      `spent ${size(sum(({ ledger }) => ledger.servers.account.spent))}`,
      `avoided ${size(sum(({ ledger }) => ledger.servers.account.avoided))}`,
      `fresh ${fresh}`,
    ].join('  ');
  };
}
