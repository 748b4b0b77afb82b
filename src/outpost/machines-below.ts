/**
 * The machines that ssh reaches from here. The crawler goes on to each as it came here itself: this machine is the centre
 * for those below it, with the keys that its own user has. They live as long as their line, like this one.
 */
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../base/clock.ts';
import { greetOutpost } from '../transfer/entry/greeting.ts';
import { keepDialling } from '../transfer/redial.ts';
import { type Branch, nameBelow } from '../transfer/ssh/machine-tree.ts';
import { openSsh, spoolName } from '../transfer/ssh/ssh.ts';
import { parseSsh } from '../transfer/ssh/ssh-target.ts';
import type { Welcome } from '../transfer/wire/messages.ts';
import type { OutpostService } from './service.ts';

interface BelowOptions {
  readonly branches: readonly Branch[];
  readonly station: OutpostService;
  readonly software: string;
  /** Names our own spool, and so those of the machines below. */
  readonly spool: string;
  readonly clock?: Clock;
}

/** Milliseconds that the first errand waits for them. */
const PATIENCE = 5000;

export class Below {
  readonly #options: BelowOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** What went wrong before there was anybody to be told. */
  #trouble = '';
  readonly #opening = new Map<Branch, Promise<Duplex | undefined>>();

  constructor(options: BelowOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Sends the crawler on, which takes longest: to be called as soon as it is here. */
  open(): void {
    for (const branch of this.#options.branches) {
      this.#opening.set(
        branch,
        this.#open(branch).catch(error => this.#failed(error)),
      );
    }
  }

  /** Welcomes those that have been reached, waits for the others for a moment, and goes on trying. */
  async welcome(welcome: Welcome): Promise<void> {
    const reached = [...this.#opening].map(async ([branch, opening]) => {
      const stream = await opening;
      if (stream) await this.#greet(branch, stream, welcome).catch(error => this.#failed(error));
    });
    const stop = this.#stop.signal;
    await Promise.race([Promise.all(reached), this.#clock.sleep(PATIENCE, stop)]);
    for (const [i, branch] of [...this.#opening.keys()].entries()) void reached[i]!.then(() => this.#keep(branch));
  }

  /** The line to our own parent is gone: those below keep what they have until somebody comes for it. */
  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#options.station.children.close('later');
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Now there is. */
  tell(): void {
    if (this.#trouble !== '') this.#options.station.note(this.#trouble);
  }

  #open({ url, below }: Branch): Promise<Duplex> {
    const { software, spool, station } = this.#options;
    const say = (text: string) => station.note(text);
    return openSsh(parseSsh(url), { software, spool: spoolName(spool, url), below, say });
  }

  async #greet({ url }: Branch, stream: Duplex, above: Welcome): Promise<void> {
    const { station } = this.#options;
    const welcome = { ...above, servers: [], pagesADay: 0, bytesADay: 0, level: above.level + 1 };
    const { line, hello } = await greetOutpost(stream, station, () => welcome);
    if (this.#stop.signal.aborted) return line.bye('later', 'its parent is stopping');
    station.children.attach(line, { ...hello, name: nameBelow(url) }, {});
  }

  #keep(branch: Branch): Promise<void> {
    const { station } = this.#options;
    const name = nameBelow(branch.url);
    return keepDialling({
      clock: this.#clock,
      stop: this.#stop.signal,
      connected: () => station.children.all().some(link => link.name === name && link.outpost.connected),
      dial: async () => this.#greet(branch, await this.#open(branch), station.welcome!),
      back: () => station.note(''),
      failed: message => station.note(message),
    });
  }

  #failed(error: unknown): undefined {
    this.#trouble = (error as Error).message;
  }
}
