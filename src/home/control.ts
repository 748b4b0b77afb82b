/**
 * What a person may ask of a running home: look at its numbers, and steer it. One small port; the door (door.ts)
 * carries it to other processes. Every order is applied between two turns of home's loop, is answered with the state
 * that came of it, and stands in the log.
 *
 * It never reads pages or visits: whoever wants those opens the ledger for reading, so that looking costs home nothing.
 */
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { normalise, originOf, seedUrl, withScheme } from '../base/url.ts';
import { parseKeep, parseScope } from '../errand/scope/scope.ts';
import type { Outcome } from '../errand/visit.ts';
import { excludedIn, outsideOf, setExcluded } from '../frontier/admission/crawl-bounds.ts';
import type { Frontier } from '../frontier/frontier.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Home } from './home.ts';
import { type Machine, MachineWatch } from './machines/machines.ts';
import { liftedInWords } from './masks.ts';
import type { Order } from './orders.ts';

export interface HomeState {
  readonly time: number;
  readonly started: number;
  readonly command: string;
  readonly state: Home['state'];
  /** Bodies that came, changed or not, and all visits by outcome, in this run. */
  readonly pages: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Visits a second. */
  readonly rate: number;
  readonly bytesDown: number;
  readonly bytesUp: number;
  /** Pages that wait for their turn, and that are under way. */
  readonly queue: number;
  readonly underWay: number;
  readonly servers: number;
  readonly known: number;
  /** Bytes. */
  readonly memory: number;
  readonly settings: Settings;
  readonly machines: readonly Machine[];
}

export interface Settings {
  /** Seconds between requests to one server. */
  readonly pace: number;
  /** Pages that this run may fetch; null = no limit. */
  readonly limit: number | null;
  /** Empty where the command has none. */
  readonly budget: string;
  readonly scope: string;
  readonly keep: string;
  readonly excluded: readonly string[];
}

export interface Obeyed {
  /** One sentence: what is different now. */
  readonly done: string;
  readonly state: HomeState;
}

export interface ControlParts {
  readonly home: Home;
  readonly frontier: Frontier;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly command: string;
  /** As the user wrote them. */
  readonly scope: string;
  readonly keep: string;
  /** Only where a budget has a meaning. */
  readonly budget?: { current(): string; change(amount: string): void };
  /** Told of every order. */
  readonly log: (event: { order: Order; done: string }) => void;
}

export class HomeControl {
  readonly #parts: ControlParts;
  readonly #machines = new MachineWatch();
  #scope: string;
  #keep: string;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#scope = parts.scope;
    this.#keep = parts.keep;
  }

  state(): HomeState {
    const { home, frontier, ledger, command, budget } = this.#parts;
    const { progress, dispatch } = home;
    const waiting = frontier.waiting();
    const { pace, maxPages } = frontier.options;
    return {
      time: Date.now(),
      started: progress.started,
      command,
      state: home.state,
      pages: progress.pages,
      outcomes: { ...progress.outcomes },
      rate: progress.rate(),
      bytesDown: progress.bytesDown,
      bytesUp: progress.bytesUp,
      queue: waiting.pages,
      underWay: dispatch.pagesUnderWay,
      servers: ledger.servers.size,
      known: ledger.pages.size,
      memory: process.memoryUsage.rss(),
      settings: {
        pace: pace / 1000,
        limit: Number.isFinite(maxPages) ? maxPages : null,
        budget: budget?.current() ?? '',
        scope: this.#scope,
        keep: this.#keep,
        excluded: excludedIn(this.#parts.ledger),
      },
      machines: this.#machines.look(dispatch.posts(), Date.now()),
    };
  }

  /** Throws a SkeinError with a sentence when the order makes no sense now. */
  async obey(order: Order): Promise<Obeyed> {
    const done = await this.#parts.home.order(() => this.#apply(order));
    this.#parts.log({ order, done });
    return { done, state: this.state() };
  }

  #apply(order: Order): string {
    const { home, frontier, budget } = this.#parts;
    switch (order.kind) {
      case 'add':
        return this.#add(order.urls);
      case 'pause':
        home.pause();
        return 'Paused: nothing more is asked for until you resume.';
      case 'resume':
        home.resume();
        return 'Going on.';
      case 'stop':
        home.stop();
        return 'Stopping: what is under way is finished first.';
      case 'pace':
        frontier.adjust({ pace: order.seconds * 1000 });
        return `Requests to one server are ${order.seconds} s apart.`;
      case 'limit':
        frontier.adjust({ maxPages: order.pages ?? Number.POSITIVE_INFINITY });
        return order.pages === null
          ? 'No limit of pages.'
          : `At most ${order.pages.toLocaleString('en')} pages in this run.`;
      case 'budget':
        if (!budget) throw new SkeinError('refused', `A ${this.#parts.command} has no budget.`, 'Set a limit instead.');
        budget.change(order.amount);
        return `The budget is ${budget.current()} a day.`;
      case 'filters':
        return this.#filter(order.scope, order.keep);
      case 'server':
        return this.#server(order);
      case 'retry':
        return this.#retry(order.url);
      case 'ping':
        return this.#ping(order.url);
      case 'unmask':
        return this.#unmask(order.url);
    }
  }

  #add(texts: readonly string[]): string {
    const urls = texts.map(seedUrl);
    const added = this.#parts.frontier.seed(urls);
    this.#rescope();
    if (added === urls.length) return `${added} added.`;
    return added > 0 ? `${added} added; the others were known.` : 'None added: all were known.';
  }

  #filter(scope: string, keep: string): string {
    const parsed = parseKeep(keep);
    parseScope(listOf(scope));
    this.#scope = scope;
    this.#keep = keep;
    const { frontier } = this.#parts;
    frontier.adjust({ scope: { ...frontier.options.scope, ...parseScope(listOf(scope)), keep: parsed } });
    this.#rescope();
    return `From now on links are followed in ${scope || 'the hosts of the seeds'}, and ${keep || 'everything'} is kept.`;
  }

  /** Makes the frontier's idea of "outside" fit scope, seeds and excluded servers. */
  #rescope(): void {
    const { frontier, ledger } = this.#parts;
    frontier.adjust({ outside: outsideOf(ledger, frontier.options.scope) });
  }

  #server({ origin: written, action, seconds }: Extract<Order, { kind: 'server' }>): string {
    const { ledger, frontier } = this.#parts;
    const origin = originOf(normalise(withScheme(written)) ?? written);
    const server = ledger.servers.find(origin);
    if (!server) {
      const hint = 'Write it with its scheme, as "skein status" lists it.';
      throw new SkeinError('not-found', `There is no server ${origin} in this collection.`, hint);
    }
    const others = excludedIn(ledger).filter(each => each !== origin);
    ledger.servers.touch(server);
    if (action === 'pace') {
      server.pace = seconds == null ? undefined : seconds * 1000;
      frontier.adjust({});
      return seconds == null ? `${origin} has the pace of the crawl.` : `${origin}: ${seconds} s between requests.`;
    }
    server.paused = action === 'pause' || action === 'exclude';
    frontier.adjust({});
    if (action === 'pause' || action === 'resume') return `${origin} is ${server.paused ? 'paused' : 'visited again'}.`;
    setExcluded(ledger, action === 'exclude' ? [...others, origin] : others);
    this.#rescope();
    return `${origin} is ${action === 'exclude' ? 'excluded' : 'no longer excluded'}.`;
  }

  #retry(text: string): string {
    const { ledger } = this.#parts;
    const { id, known } = this.#find(text);
    const now = this.#parts.clock.now();
    if (!known) throw new SkeinError('refused', 'It was never visited and waits for its turn already.');
    if (known.retry_at !== null && known.retry_at <= now) return 'It waits for its turn already.';
    // The supply looks for retries whose time has come since it last looked, so this moment is never too early.
    ledger.pages.setRetry(id, now + 1000);
    return 'It is tried again in a moment.';
  }

  #ping(text: string): string {
    const { id } = this.#find(text);
    const moved = this.#parts.frontier.schedule.ping(id, this.#parts.clock.now());
    return moved ? 'Noted: it is looked at earlier.' : 'It is not in the schedule, so the notice changes nothing.';
  }

  #unmask(text: string): string {
    const { id } = this.#find(text);
    return liftedInWords(this.#parts.home.verdicts.unmask(id));
  }

  #find(text: string) {
    const { frontier, ledger } = this.#parts;
    const id = frontier.admission.find(normalise(withScheme(text)) ?? '');
    if (id === 0) throw new SkeinError('not-found', `The collection has never heard of ${text}.`);
    return { id, known: ledger.pages.known(id) };
  }
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(part => part !== '');
}
