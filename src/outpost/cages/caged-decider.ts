/**
 * A decider as the crawler asks it, across the lives of its cage. Pages cross in batches, so that a crossing costs little
 * of each; the watchdog looks at the page whose turn it is. Code that fails costs that page its verdict and gets a new
 * cage; code that fails again and again without one answer is not started any more.
 *
 * Invariant: a question is in `#waiting` or in `#shown` until it is answered or rejected, once.
 */
import type { Decider, PageQuestion, PageVerdict, Wants } from '../../crawler/decider.ts';
import { type Cage, type CageSource, encodeQuestions, MOST_PAGES, misbehaved, roomFor, verdictOf } from './decider.ts';

interface PendingQuestion {
  readonly question: PageQuestion;
  resolve(verdict: PageVerdict): void;
  reject(error: Error): void;
}

/** A batch leaves when so many pages wait, or when the first has waited this long (milliseconds). */
const WORTH_IT = 16;
const GATHERING = 2;
/** Of a batch. */
const MOST_BYTES = 1 << 20;
/** Deaths in a row, without an answer between them, after which it is given up. */
const LIVES = 20;

interface CagedOptions {
  /** Milliseconds for one page. */
  readonly time: number;
  /** One sentence about every death. */
  readonly say: (trouble: string) => void;
}

/** Starts the code once, so that code that cannot be started is known as such before anything is asked. */
export async function openDecider(cages: CageSource, options: CagedOptions): Promise<CagedDecider> {
  const decider = new CagedDecider(cages, options);
  await decider.start();
  return decider;
}

export class CagedDecider implements Decider {
  wants: Wants = 'facts';
  over = '';
  readonly #cages: CageSource;
  readonly #options: CagedOptions;
  #cage: Cage | undefined;
  /** Tells the events of this cage from those of the one before. */
  #life = 0;
  #starting: Promise<void> | undefined;
  #waiting: PendingQuestion[] = [];
  #shown: PendingQuestion[] = [];
  #deaths = 0;
  #gathering: NodeJS.Timeout | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(cages: CageSource, options: CagedOptions) {
    this.#cages = cages;
    this.#options = options;
  }

  decide(question: PageQuestion): Promise<PageVerdict> {
    if (this.over !== '') return Promise.reject(misbehaved(this.over));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      this.#soon();
    });
  }

  /** Rejects when the code does not load. */
  async start(): Promise<void> {
    const life = ++this.#life;
    const cage = await this.#cages.open({
      answer: (bits, more) => {
        if (life === this.#life) this.#answer(bits, more);
      },
      ended: why => {
        if (life === this.#life) this.#ended(why);
      },
    });
    this.wants = cage.wants;
    if (this.over === '') this.#cage = cage;
    else await cage.close();
  }

  async close(): Promise<void> {
    this.#giveUp('it was closed');
    this.#cages.close();
    await this.#cage?.close();
  }

  #soon(): void {
    if (this.#shown.length > 0 || this.#waiting.length === 0) return;
    if (this.#waiting.length >= WORTH_IT) queueMicrotask(() => this.#show());
    else this.#gathering ??= setTimeout(() => this.#show(), GATHERING);
  }

  #show(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#shown.length > 0 || this.#waiting.length === 0 || this.over !== '') return;
    if (!this.#cage) {
      this.#starting ??= this.#restart();
      return;
    }
    let pages = 0;
    for (let bytes = 0; pages < Math.min(MOST_PAGES, this.#waiting.length); pages++) {
      bytes += roomFor(this.#waiting[pages]!.question);
      if (pages > 0 && bytes > MOST_BYTES) break;
    }
    this.#shown = this.#waiting.splice(0, pages);
    this.#cage.show(encodeQuestions(this.#shown.map(({ question }) => question)));
    this.#watch();
  }

  #watch(): void {
    if (this.#watchdog) this.#watchdog.refresh();
    else this.#watchdog = setTimeout(() => this.#bite(), this.#options.time).unref();
  }

  /** Nothing was heard for as long as a page may take. */
  #bite(): void {
    const [life, first] = [this.#life, this.#shown[0]];
    if (!first) return;
    // Where this thread was busy itself, answers may lie there unread: they are heard before this is.
    setImmediate(() => {
      if (life !== this.#life || this.over !== '') return;
      if (this.#shown[0] === first) this.#kill(`it took longer than ${this.#options.time} milliseconds`);
    });
  }

  #kill(why: string): void {
    void this.#cage?.close();
    this.#ended(why);
  }

  #answer(bits: number, more: unknown): void {
    const first = this.#shown.shift();
    if (!first) {
      this.#kill('it answered without a question');
      return;
    }
    try {
      first.resolve(verdictOf(bits, more));
      this.#deaths = 0;
    } catch (error) {
      this.#shown.unshift(first);
      this.#kill(`its answer cannot be used: ${(error as Error).message}`);
      return;
    }
    this.#watch();
    if (this.#shown.length === 0) this.#soon();
  }

  /** The page whose turn it was pays for it; those behind it are shown again. */
  #ended(why: string): void {
    if (!this.#cage || this.over !== '') return; // whoever waits for its start hears of it
    this.#cage = undefined;
    this.#life++;
    clearTimeout(this.#watchdog);
    this.#watchdog = undefined;
    const guilty = this.#shown.shift();
    this.#waiting = [...this.#shown, ...this.#waiting];
    this.#shown = [];
    this.#options.say(`${misbehaved(why).message}${guilty ? ` It was at ${guilty.question.url}.` : ''}`);
    guilty?.reject(misbehaved(why));
    if (++this.#deaths >= LIVES) this.#giveUp(`${why}, ${LIVES} times in a row`);
    else this.#soon();
  }

  async #restart(): Promise<void> {
    try {
      await this.start();
    } catch (error) {
      this.#giveUp(`it does not start again: ${(error as Error).message}`);
    }
    this.#starting = undefined;
    this.#soon();
  }

  #giveUp(why: string): void {
    this.over ||= why;
    clearTimeout(this.#gathering);
    clearTimeout(this.#watchdog);
    for (const { reject } of [...this.#shown.splice(0), ...this.#waiting.splice(0)]) reject(misbehaved(this.over));
  }
}
