/**
 * Lets people look at the numbers of a running home, and steer it. It is one small port, which the door (door.ts) opens to other
 * processes. Home applies every order between two turns of its loop, answers with the resulting state, and logs it.
 *
 * It never reads pages or visits: whoever wants those opens the ledger for reading, so that looking costs home nothing.
 */
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { normalise, originOf, seedUrl, withScheme } from '../base/url.ts';
import { parseKeep, parseScope } from '../errand/scope/scope.ts';
import type { Outcome } from '../errand/visit.ts';
import { excludedIn, outsideOf, setExcluded } from '../frontier/admission/crawl-bounds.ts';
import type { FrontierOptions } from '../frontier/options.ts';
import type { Settings as CollectionSettings } from '../ledger/collection/settings.ts';
import { ELSEWHERE } from '../ledger/outbox/border.ts';
import type { Home } from './home.ts';
import { type Machine, MachineWatch } from './machines/machines.ts';
import { serversAtWork } from './machines/posts.ts';
import { liftedInWords } from './masks.ts';
import type { SteerOrder } from './orders.ts';
import type { Partition } from './partitions/partition.ts';

export interface HomeState {
  readonly time: number;
  readonly started: number;
  readonly command: string;
  readonly state: Home['state'];
  /** Pages fetched in this run, changed or not, and all its visits by outcome. */
  readonly pages: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Visits that failed, or were not tried because their server cannot be reached. */
  readonly errors: number;
  /** Visits a second. */
  readonly rate: number;
  readonly bytesDown: number;
  readonly bytesUp: number;
  /** Pages that wait for their turn, and that are under way. */
  readonly queue: number;
  readonly underWay: number;
  readonly servers: number;
  /** Origins that are being visited now, some of them where there are many. */
  readonly atWork: readonly string[];
  readonly known: number;
  /** Bytes. */
  readonly memory: number;
  readonly settings: SteerSettings;
  readonly machines: readonly Machine[];
}

export interface SteerSettings {
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
  readonly settings: CollectionSettings;
  /** Takes seeds in; returns how many were new. */
  readonly seed: (urls: readonly string[]) => number;
  readonly clock: Clock;
  readonly command: string;
  /** As the user wrote them. */
  readonly scope: string;
  readonly keep: string;
  /** Absent in runs without a budget. */
  readonly budget?: { current(): string; change(amount: string): void };
  /** In a cluster: applies an order on all machines. */
  readonly share?: ((order: SteerOrder) => Promise<void>) | undefined;
  /** In a cluster: gives an order to the machine that has the page, and returns its answer; undefined = this machine has it. */
  readonly forward?: ((order: SteerOrder) => Promise<string | undefined>) | undefined;
  /** Called with every order. */
  readonly log: (event: { order: SteerOrder; done: string }) => void;
}

/** Most servers at work to name. */
const MOST_AT_WORK = 500;

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
    const { home, settings, command, budget } = this.#parts;
    const { progress, dispatch, partitions } = home;
    const { pace, maxPages } = this.#options;
    return {
      time: Date.now(),
      started: progress.started,
      command,
      state: home.state,
      pages: progress.pages,
      outcomes: { ...progress.outcomes },
      errors: progress.errors,
      rate: progress.rate(),
      bytesDown: progress.bytesDown,
      bytesUp: progress.bytesUp,
      queue: partitions.sum(({ frontier }) => frontier.backlog.waiting().pages),
      underWay: dispatch.posts.pagesUnderWay,
      servers: partitions.sum(({ ledger }) => ledger.servers.size),
      atWork: serversAtWork(dispatch.posts, MOST_AT_WORK),
      known: partitions.sum(({ ledger }) => ledger.pages.own),
      memory: process.memoryUsage.rss(),
      settings: {
        pace: pace / 1000,
        limit: Number.isFinite(maxPages) ? maxPages : null,
        budget: budget?.current() ?? '',
        scope: this.#scope,
        keep: this.#keep,
        excluded: excludedIn(settings),
      },
      machines: this.#machines.look(dispatch.posts.atWork(), Date.now()),
    };
  }

  /** Throws a SkeinError with a sentence when the order makes no sense now. */
  async obey(order: SteerOrder): Promise<Obeyed> {
    const elsewhere = await this.#parts.forward?.(order);
    const done = elsewhere ?? (await this.#parts.home.order(() => this.#apply(order)));
    await this.#parts.share?.(order);
    this.#parts.log({ order, done });
    return { done, state: this.state() };
  }

  /** An order that was given to another machine. Throws like `obey`. */
  async obeyOther(order: SteerOrder): Promise<string> {
    const done = await this.#parts.home.order(() => this.#apply(order));
    this.#parts.log({ order, done });
    return done;
  }

  /** All partitions have the same options. */
  get #options(): Readonly<FrontierOptions> {
    const [first] = this.#parts.home.partitions;
    return first!.frontier.options;
  }

  #adjust(changes: Parameters<Partition['frontier']['adjust']>[0]): void {
    for (const { frontier } of this.#parts.home.partitions) frontier.adjust(changes);
  }

  #apply(order: SteerOrder): string {
    const { home, budget } = this.#parts;
    switch (order.kind) {
      case 'add':
        return this.#add(order.urls);
      case 'pause':
        home.pause();
        return 'Paused: no more requests until you resume.';
      case 'resume':
        home.resume();
        return 'Resumed.';
      case 'stop':
        home.stop();
        return 'Stopping after the requests in progress.';
      case 'pace':
        this.#adjust({ pace: order.seconds * 1000 });
        return `Requests to one server are ${order.seconds} s apart.`;
      case 'limit':
        this.#adjust({ maxPages: order.pages ?? Number.POSITIVE_INFINITY });
        return order.pages === null ? 'No page limit.' : this.#limitInWords(order.pages);
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

  #limitInWords(pages: number): string {
    const done = this.#parts.home.progress.pages;
    const limit = `At most ${pages.toLocaleString('en')} pages in this run`;
    return done < pages ? `${limit}.` : `${limit}: ${done.toLocaleString('en')} are done already, so it ends now.`;
  }

  #add(texts: readonly string[]): string {
    const urls = texts.map(seedUrl);
    const added = this.#parts.seed(urls);
    this.#rescope();
    if (this.#parts.share) return `${urls.length} sent to the machines responsible for them.`;
    if (added === urls.length) return `${added} added.`;
    return added > 0 ? `${added} added; the others were already known.` : 'None added: all were already known.';
  }

  #filter(scope: string, keep: string): string {
    const parsed = parseKeep(keep);
    parseScope(listOf(scope));
    this.#scope = scope;
    this.#keep = keep;
    this.#adjust({ scope: { ...this.#options.scope, ...parseScope(listOf(scope)), keep: parsed } });
    this.#rescope();
    return `From now on Skein follows links in ${scope || 'the hosts of the seeds'} and keeps ${keep || 'everything'}.`;
  }

  /** Applies scope, seeds and excluded servers to the frontiers. */
  #rescope(): void {
    this.#adjust({ outside: outsideOf(this.#parts.settings, this.#options.scope) });
  }

  #server({ origin: written, action, seconds }: Extract<SteerOrder, { kind: 'server' }>): string {
    const { settings } = this.#parts;
    const origin = originOf(normalise(withScheme(written)) ?? written);
    const owner = [...this.#parts.home.partitions].find(({ ledger }) => ledger.servers.find(origin));
    const server = owner?.ledger.servers.find(origin);
    if ((!owner || !server) && this.#parts.share) return this.#serverElsewhere(origin, action);
    if (!owner || !server) {
      const hint = 'Write it with its scheme, as "skein status" lists it.';
      throw new SkeinError('not-found', `There is no server ${origin} in this collection.`, hint);
    }
    const others = excludedIn(settings).filter(each => each !== origin);
    owner.ledger.servers.touch(server);
    if (action === 'pace') {
      server.pace = seconds == null ? undefined : seconds * 1000;
      owner.frontier.adjust({});
      return seconds == null ? `${origin} uses the pace of the crawl.` : `${origin}: ${seconds} s between requests.`;
    }
    server.paused = action === 'pause' || action === 'exclude';
    owner.frontier.adjust({});
    if (action === 'pause' || action === 'resume') return `${origin} is ${server.paused ? 'paused' : 'visited again'}.`;
    setExcluded(settings, action === 'exclude' ? [...others, origin] : others);
    this.#rescope();
    return `${origin} is ${action === 'exclude' ? 'excluded' : 'no longer excluded'}.`;
  }

  /** The server may belong to another machine; excluding and including servers concerns all machines. */
  #serverElsewhere(origin: string, action: Extract<SteerOrder, { kind: 'server' }>['action']): string {
    const { settings } = this.#parts;
    if (action === 'exclude' || action === 'include') {
      const others = excludedIn(settings).filter(each => each !== origin);
      setExcluded(settings, action === 'exclude' ? [...others, origin] : others);
      this.#rescope();
    }
    return `${origin}: sent to the machine responsible for it.`;
  }

  #retry(text: string): string {
    const { ledger, id, known } = this.#find(text);
    const now = this.#parts.clock.now();
    if (!known) throw new SkeinError('refused', 'It was never visited and is already queued.');
    if (known.retry_at !== null && known.retry_at <= now) return 'It is already queued.';
    // The supply only finds retries that fell due since its last search, so the time must be in the future.
    ledger.schedule.due.setRetry(id, now + 1000);
    return 'Skein retries it in a moment.';
  }

  #ping(text: string): string {
    const { frontier, id } = this.#find(text);
    const moved = frontier.schedule.ping(id, this.#parts.clock.now());
    return moved ? 'Skein checks it earlier.' : 'It is not in the schedule, so the notice has no effect.';
  }

  #unmask(text: string): string {
    const { verdicts, id } = this.#find(text);
    return liftedInWords(verdicts.unmask(id));
  }

  #find(text: string) {
    const url = normalise(withScheme(text)) ?? '';
    for (const { frontier, ledger, verdicts } of this.#parts.home.partitions) {
      const id = frontier.admission.find(url);
      // Other partitions may have a stub of the page, which tells nothing.
      if (id !== 0 && ledger.pages.get(id)!.refused !== ELSEWHERE)
        return { frontier, ledger, verdicts, id, known: ledger.pages.known(id) };
    }
    throw new SkeinError('not-found', `The collection does not know ${text}.`);
  }
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(part => part !== '');
}
