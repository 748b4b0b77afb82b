/** What sites tell, beside a refresh or a watch: the desk, the thread that reads for it, sites that give pages in bulk. */
import { AGENT_TOKEN } from '../errand/agent.ts';
import { SiteCarriers } from '../home/notices/bulk/site-carriers.ts';
import { NoticeDesk } from '../home/notices/desk.ts';
import { NoticeReader } from '../home/notices/notice-reader.ts';
import { Receivers } from '../home/notices/receivers.ts';
import { withNotices } from '../home/notices/supply.ts';
import type { PoolMember } from '../home/partitions/pool.ts';
import type { Supply } from '../home/supply.ts';
import type { Engine } from './engine.ts';
import { type EngineOptions, engineDefaults as usual } from './options.ts';

interface NoticeOptions extends Pick<EngineOptions, 'audit' | 'say'> {
  readonly notices?: boolean | undefined;
  readonly public?: string | undefined;
}

export interface Notices {
  /** The supply, which hears first what sites tell. */
  beside(supply: Supply, kind: 'refresh' | 'watch'): Supply;
  close(): Promise<void>;
}

export function openNotices(engine: Engine, options: NoticeOptions): Notices {
  if (options.notices === false) return { beside: supply => supply, close: async () => {} };
  const { home, clock, outposts } = engine;
  const opened = [...engine.pool].map(member => openRoom(engine, member, options));
  const receivers = new Receivers({ rooms: opened, clock, order: work => home.order(work) });
  if (outposts) outposts.visitor = (request, response) => void receivers.answer(request, response);
  for (const { desk } of opened) desk.announce();
  return {
    beside: (supply, kind) =>
      opened.reduce((inner, { desk, sites }) => untilChecked(withNotices(inner, desk, kind, clock), sites), supply),
    async close() {
      for (const { reader, sites } of opened) {
        await reader.close();
        await sites.close();
      }
    },
  };
}

/** What one partition has: its servers tell it alone. */
function openRoom(engine: Engine, { ledger, frontier }: PoolMember, options: NoticeOptions) {
  const { home, clock, outposts } = engine;
  const data = { ...engine.threadData, agentToken: AGENT_TOKEN, directory: ledger.directory };
  const say = options.say ?? (() => {});
  const reader = new NoticeReader(data);
  const sites = new SiteCarriers({
    ...{ home, ledger, say, data, auditShare: options.audit ?? usual.audit, now: () => clock.now() },
    find: url => frontier.admission.find(url),
  });
  const address = outposts && options.public?.replace(/\/+$/, '');
  const { offers: bulk, differences } = sites;
  const desk = new NoticeDesk({ ledger, frontier, clock, reader, address, bulk, differences });
  return { ledger, reader, sites, desk };
}

/** A run does not end while something that sites gave is still being checked. */
function untilChecked(supply: Supply, sites: SiteCarriers): Supply {
  return {
    fill: () => supply.fill(),
    worthWaiting: () => supply.worthWaiting() || sites.doubts(),
    get left() {
      return supply.left;
    },
  };
}
