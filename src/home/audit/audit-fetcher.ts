/** Visits pages from this machine for the audit, in a thread of its own of which the frontier knows nothing. */
import { SkeinError } from '../../base/errors.ts';
import { AUDIT_SEAT } from '../../crawler/pace/address-slots.ts';
import type { Errand, RobotsCopy } from '../../errand/errand.ts';
import type { Visit } from '../../errand/visit.ts';
import type { OutpostOptions } from '../../outpost/workers/tools.ts';
import { ThreadCarrier } from '../../transfer/thread.ts';

export interface AuditFetcher {
  look(errand: Errand): Promise<readonly Visit[]>;
  close(): Promise<void>;
}

/** Most servers whose robots.txt is remembered. */
const REMEMBERED = 10_000;

export function makeSecondLook(options: Pick<OutpostOptions, 'userAgent' | 'agentToken' | 'slots'>): AuditFetcher {
  const { userAgent, agentToken, slots } = options;
  const waiting = new Map<string, { visits: Visit[]; resolve(visits: Visit[]): void; reject(error: Error): void }>();
  /** robots.txt as this machine sees it: what an errand says of it is only an outpost's word. */
  const rules = new Map<string, RobotsCopy>();
  let thread: ThreadCarrier | undefined;
  let count = 0;
  const start = () => {
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const module = new URL(`../../outpost/workers/thread.${ending}`, import.meta.url);
    return new ThreadCarrier(
      { name: 'audit', room: 64, module, data: { userAgent, agentToken, seat: AUDIT_SEAT, ...(slots && { slots }) } },
      {
        parcel(_, { errand, visits, done, server }) {
          if (rules.size > REMEMBERED) rules.clear();
          if (server?.robots) rules.set(server.origin, server.robots);
          const asked = waiting.get(errand);
          asked?.visits.push(...visits);
          if (!done || !asked) return;
          waiting.delete(errand);
          asked.resolve(asked.visits);
        },
        gaveUp: () => {},
        changed: () => {},
        lost(_, why) {
          thread = undefined;
          for (const { reject } of waiting.values()) reject(new SkeinError('internal', why));
          waiting.clear();
        },
      },
    );
  };
  return {
    look: errand =>
      new Promise((resolve, reject) => {
        thread ??= start();
        const id = `audit-${count++}`;
        waiting.set(id, { visits: [], resolve, reject });
        const { robots: theirs, missing, ...server } = errand.server;
        const robots = rules.get(server.origin);
        thread.send({ ...errand, id, server: { ...server, ...(robots && { robots }) } });
      }),
    close: async () => {
      await thread?.close();
    },
  };
}
