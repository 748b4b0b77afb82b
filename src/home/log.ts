/** The log of long commands: one JSON object a line in skein.log, for machines first. People have the workbench. */
import { join } from 'node:path';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export interface Log {
  readonly logger: Logger;
  close(): void;
}

export function openLog(directory: string, command: string): Log {
  // Written at once: a few lines a minute, and the last ones before a crash are those that matter.
  const destination = pino.destination({ dest: join(directory, 'skein.log'), append: true, sync: true, mkdir: true });
  const logger = pino({ base: { command, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return { logger, close: () => destination.end() };
}
