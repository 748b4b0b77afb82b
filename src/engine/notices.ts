/** What sites tell, beside a refresh or a watch: a desk for each partition, the thread that reads for all, sites that give pages in bulk. */
import { AGENT_TOKEN } from '../errand/agent.ts';
import { SiteCarriers } from '../home/notices/bulk/site-carriers.ts';
import { NoticeDesk } from '../home/notices/desk.ts';
import type { Done, Task } from '../home/notices/messages.ts';
import { NoticeReader } from '../home/notices/notice-reader.ts';
import { Receivers } from '../home/notices/receivers.ts';
import { withNotices } from '../home/notices/supply.ts';
import type { PoolMember } from '../home/partitions/pool.ts';
import type { Supply } from '../home/supply.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Engine } from './engine.ts';
import { type EngineOptions, engineDefaults as usual } from './options.ts';

interface NoticeOptions extends Pick<EngineOptions, 'audit' | 'say'> {
  readonly notices?: boolean | undefined;
  readonly public?: string | undefined;
}

export interface Notices {
  /** Pages that were named so far and had not been visited yet. */
  readonly named: () => number;
  /** The supply, which hears first what sites tell. */
  beside(supply: Supply, kind: 'refresh' | 'watch'): Supply;
  close(): Promise<void>;
}

/** What one partition has: its servers tell it alone. */
interface Room {
  readonly ledger: Ledger;
  readonly desk: NoticeDesk;
  readonly reader: { do(task: Task): Promise<Done> };
  readonly sites: SiteCarriers;
}

export function openNotices(engine: Engine, options: NoticeOptions): Notices {
  if (options.notices === false) return { named: () => 0, beside: supply => supply, close: async () => {} };
  const { home, clock, outposts } = engine;
  const rooms = new Rooms(engine, options);
  const receivers = new Receivers({ rooms: () => rooms.here(), clock, order: work => home.order(work) });
  if (outposts) outposts.visitor = (request, response) => void receivers.answer(request, response);
  const mayAsk = engine.cluster?.mayAsk ?? (() => true);
  return {
    named: () => rooms.here().reduce((sum, { desk }) => sum + desk.added, 0),
    beside(supply, kind) {
      // Without leave nobody is asked: another machine may have the servers by now.
      const desks = () => (mayAsk() ? rooms.here().map(({ desk }) => desk) : []);
      return untilChecked(withNotices(supply, { kind, clock, desks }), rooms);
    },
    close: () => rooms.close(),
  };
}

/** Of the partitions that are here now; those of a cluster come and go. */
class Rooms {
  readonly #engine: Engine;
  readonly #options: NoticeOptions;
  readonly #reader: NoticeReader;
  /** One that comes back has another ledger. */
  readonly #rooms = new Map<Ledger, Room>();

  constructor(engine: Engine, options: NoticeOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#reader = new NoticeReader({ ...engine.threadData, agentToken: AGENT_TOKEN });
    this.here();
  }

  here(): Room[] {
    const members = [...this.#engine.pool];
    const ledgers = new Set(members.map(({ ledger }) => ledger));
    for (const [ledger, { sites }] of this.#rooms) {
      if (ledgers.has(ledger)) continue;
      this.#rooms.delete(ledger);
      void sites.leave();
    }
    for (const member of members) if (!this.#rooms.has(member.ledger)) this.#open(member);
    return [...this.#rooms.values()];
  }

  async close(): Promise<void> {
    await this.#reader.close();
    for (const { sites } of this.#rooms.values()) await sites.close();
  }

  #open({ ledger, frontier }: PoolMember): void {
    const { home, clock, outposts, threadData } = this.#engine;
    const { audit = usual.audit, say = () => {}, public: shown } = this.#options;
    const { directory } = ledger;
    const data = { ...threadData, agentToken: AGENT_TOKEN, directory };
    const reader = { do: (task: Task) => this.#reader.do(directory, task) };
    const sites = new SiteCarriers({
      ...{ home, ledger, say, data, auditShare: audit, now: () => clock.now() },
      find: url => frontier.admission.find(url),
    });
    const address = outposts && shown?.replace(/\/+$/, '');
    const { offers: bulk, differences } = sites;
    const desk = new NoticeDesk({ ledger, frontier, clock, reader, address, bulk, differences });
    this.#rooms.set(ledger, { ledger, desk, reader, sites });
    desk.announce();
  }
}

/** A run does not end while something that sites gave is still being checked. */
function untilChecked(supply: Supply, rooms: Rooms): Supply {
  return {
    fill: () => supply.fill(),
    worthWaiting: () => supply.worthWaiting() || rooms.here().some(({ sites }) => sites.doubts()),
    get left() {
      return supply.left;
    },
  };
}
