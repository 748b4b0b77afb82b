/**
 * Tells the parent how this outpost does: only what changed, at once what bears on work, and mere counters when much has
 * been sent or nothing was said for a while. A status every second would cost more in a day than the pages do.
 */
import type { Line } from '../transfer/line.ts';
import { NO_STATUS, type OutpostStatus, statusNews } from '../transfer/wire/messages.ts';

const pressing: readonly (keyof OutpostStatus)[] = ['state', 'room', 'trouble'];
/** Milliseconds. */
const SELDOM = 10_000;
/** Milliseconds that a status may wait for company. */
const PATIENCE = 1000;
/** Bytes of parcels beside which a status is nothing. */
const MUCH = 50_000;

export class StatusSender {
  #line: Line | undefined;
  #said: OutpostStatus = NO_STATUS;
  #told = 0;

  /** Called every second, and when a line begins. */
  tell(line: Line, status: OutpostStatus): void {
    if (line !== this.#line) this.#said = NO_STATUS;
    this.#line = line;
    const news = statusNews(status, this.#said);
    const late = performance.now() - this.#told > SELDOM || status.bytes - this.#said.bytes > MUCH;
    const due = late || pressing.some(field => field in news);
    if (!due || Object.keys(news).length === 0) return;
    this.#said = status;
    this.#told = performance.now();
    line.send({ kind: 'status', news }, PATIENCE);
  }
}
