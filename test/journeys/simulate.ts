/**
 * A lively site kept fresh without HTTP, ledger and threads: the product's own comparison, verdicts and second looks over what
 * the site answers, in memory. It says in two seconds of a site what the real thing (test/journeys/lively.ts) says in a minute.
 */
import type { Clock } from '../../src/base/clock.ts';
import { type Pieces, piecesOf } from '../../src/crawler/analysis/analyse.ts';
import type { Visit } from '../../src/errand/visit.ts';
import type { Learned } from '../../src/frontier/learning.ts';
import type { Comparison } from '../../src/home/judging/questions.ts';
import { SecondLooks } from '../../src/home/judging/second-looks.ts';
import { Verdicts } from '../../src/home/judging/verdicts.ts';
import type { Partition } from '../../src/home/partitions/partition.ts';
import { Progress } from '../../src/home/progress.ts';
import { announced } from '../../src/judge/announced.ts';
import { editsBetween } from '../../src/judge/edits.ts';
import type { PagePlan } from '../web/lively/plan.ts';
import { type LivelyPage, Script } from '../web/lively/script.ts';
import { type Seen, stepBefore, Tally } from '../web/lively/tally.ts';

const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
const ORIGIN = 'http://lively.invalid';
const SERVER = 1;

/** What the collection knows of a page. */
interface Kept {
  readonly id: number;
  readonly plan: PagePlan;
  readonly page: LivelyPage;
  copy: string;
  pieces: Pieces;
  seen: number;
  count: number;
}

/** By visit: whether it is told as a change of its page, as an edit of many, or not. */
type Label = 'news' | 'shared' | 'none';

/** What is put into each answer; `day` counts the rounds. */
type Change = (html: string, at: { readonly path: string; readonly day: number }) => string;

const unchanged: Change = html => html;

class Simulation {
  readonly #script: Script;
  readonly #pages: Kept[];
  readonly #tally = new Tally();
  readonly #seed: number;
  readonly #change: Change;
  #round = 0;
  #now = Date.UTC(2026, 0, 5);
  #labels = new Map<number, { page: number; label: Label }>();
  #visits = 0;
  readonly #noise = { server: new Map<number, string>(), page: new Map<number, string>() };

  constructor(seed: number, plans: readonly PagePlan[], change: Change) {
    this.#seed = seed;
    this.#change = change;
    this.#script = new Script(seed, this.#now, plans);
    const pages = this.#script.pages(ORIGIN);
    this.#pages = this.#script.plans.map((plan, at) => {
      const page = { ...pages[at]!, noises: pages[at]!.noises + (change === unchanged ? 0 : 1) };
      const copy = change(this.#script.answer({ plan, time: this.#now, count: 0 }), { path: plan.path, day: 0 });
      this.#tally.begin(page, this.#script.served(plan.path));
      return { id: at + 1, plan, page, copy, pieces: piecesIn(copy), seen: this.#now, count: 1 };
    });
  }

  run(rounds: number): Seen {
    for (let round = 1; round <= rounds; round++) {
      this.#now += stepBefore(this.#seed, round);
      this.#script.beginRound();
      this.#round = round;
      this.#keepFresh();
    }
    return this.#tally.seen;
  }

  /** Everything is visited, then looked at again as the judge asks for. */
  #keepFresh(): void {
    this.#labels = new Map();
    const clock = { now: () => this.#now, ticks: () => this.#now } as unknown as Clock;
    const progress = new Progress(clock);
    const again: number[] = [];
    const { ledger, frontier } = this.#parts(again);
    const verdicts = new Verdicts({ ledger, frontier, clock }, progress);
    const partition = { id: 0, ledger, frontier, verdicts } as unknown as Partition;
    const looks = new SecondLooks({ partitions: [partition], progress, clock }, 200);
    for (const kept of this.#pages) this.#visit(kept, verdicts, progress);
    while (looks.waiting || looks.choose()) {
      this.#now += 1000;
      looks.fill();
      for (const id of again.splice(0)) this.#visit(this.#pages[id - 1]!, verdicts, progress);
    }
    verdicts.review();
    const labels = [...this.#labels.values()];
    const told = new Set(labels.filter(({ label }) => label === 'news').map(({ page }) => page));
    const shared = labels.some(({ label }) => label === 'shared');
    const tellings = this.#pages.map(({ id, page, plan, copy }) => {
      return { page, served: this.#script.served(plan.path), told: told.has(id), copy };
    });
    this.#tally.judge(tellings, shared ? 1 : 0);
  }

  #visit(kept: Kept, verdicts: Verdicts, progress: Progress): void {
    const { id, plan, page } = kept;
    this.#now += 5;
    const answer = this.#script.answer({ plan, time: this.#now, count: kept.count++ });
    const body = this.#change(answer, { path: plan.path, day: this.#round });
    const pieces = piecesIn(body);
    const difference = editsBetween(announced(kept.pieces, this.#now), announced(pieces, this.#now));
    const outcome = body === kept.copy ? 'same' : 'fetched';
    const visit = { url: page.url, outcome, reason: 'ok', time: this.#now, stage: 'text', cost: {} } as Visit;
    const found = {
      ...{ ...difference, measured: true, follows: {}, small: true, refuted: false, cached: 0 },
    } as unknown as Comparison;
    const settled = verdicts.settle(visit, outcome === 'fetched' ? found : undefined);
    const number = ++this.#visits;
    const lane = { server: { id: SERVER }, pages: this.#pages.length };
    const learned = { lesson: { id, visit: settled.visit, lane }, visit: number } as unknown as Learned;
    const stage = settled.visit.stage;
    const label = settled.visit.outcome === 'fetched' ? 'news' : stage === 'template' ? 'shared' : 'none';
    this.#labels.set(number, { page: id, label: outcome === 'same' ? 'none' : label });
    progress.visit(settled.visit);
    verdicts.learned(settled, learned);
    Object.assign(kept, { copy: body, pieces, seen: this.#now });
  }

  /** As much of a ledger and a frontier as the judge asks for. */
  #parts(again: number[]): ConstructorParameters<typeof Verdicts>[0] {
    const { server, page } = this.#noise;
    const read = (from: Map<number, string>, id: number) => from.has(id) && JSON.parse(from.get(id)!);
    const ledger = {
      begin: () => {},
      pages: { get: () => ({ server: SERVER }), known: (id: number) => ({ seen_time: this.#pages[id - 1]!.seen }) },
      storage: { inferred: { of: () => undefined } },
      servers: {
        masks: {
          ofServer: (id: number) => read(server, id) || undefined,
          ofPage: (id: number) => read(page, id) || undefined,
          putServer: (id: number, value: unknown) => server.set(id, JSON.stringify(value)),
          putPage: (id: number, value: unknown) => page.set(id, JSON.stringify(value)),
        },
      },
    };
    const ids = new Map(this.#pages.map(kept => [kept.page.url, kept.id]));
    const frontier = {
      options: { detector: 'content' },
      admission: { find: (url: string) => ids.get(url) },
      again: (pages: readonly { page: number }[]) => again.push(...pages.map(each => each.page)),
      learning: {
        relabel: ({ visit, lesson }: Learned, stage: string, news = false) => {
          const label = news ? 'news' : stage === 'template' ? 'shared' : 'none';
          this.#labels.set(visit, { page: lesson.id, label });
        },
      },
    };
    return { ledger, frontier } as unknown as ConstructorParameters<typeof Verdicts>[0];
  }
}

function piecesIn(body: string): Pieces {
  return piecesOf({ headers, body: Buffer.from(body) })!;
}

export function simulate(seed: number, rounds: number, plans: readonly PagePlan[], change: Change = unchanged): Seen {
  return new Simulation(seed, plans, change).run(rounds);
}
