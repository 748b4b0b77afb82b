/** Who gives the threads of a run leave to ask, where several homes crawl as one. */
import type { ThreadCarrier, ThreadWishes } from '../../transfer/thread.ts';

export interface LeaveDesk {
  started(thread: ThreadCarrier): void;
  ended(thread: ThreadCarrier): void;
  wishes(thread: ThreadCarrier, wishes: ThreadWishes): void;
}
