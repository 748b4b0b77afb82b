/** The log of long commands: one JSON object a line in skein.log, for machines first. People have the workbench. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';

export interface Log {
  write(level: 'info' | 'warn', fields: object, message: string): void;
  /** Once every line is written. */
  close(): Promise<void>;
}

export function openLog(directory: string, command: string): Log {
  // Where no log can be written the ledger cannot, and says so better.
  const opened = open(directory, command).catch(() => undefined);
  return {
    write: (level, fields, message) => void opened.then(log => log?.logger[level](fields, message)),
    close: async () => (await opened)?.end(),
  };
}

/** The library takes 30 ms to load: nobody waits for it, least of all the first request, which leaves before that. */
async function open(directory: string, command: string): Promise<{ readonly logger: Logger; end(): void }> {
  await setImmediate();
  const { pino } = await import('pino');
  // Written at once: a few lines a minute, and the last ones before a crash are those that matter.
  const destination = pino.destination({ dest: join(directory, 'skein.log'), append: true, sync: true, mkdir: true });
  destination.on('error', () => {}); // such as a full disk, of which the ledger tells
  const logger = pino({ base: { command, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return { logger, end: () => destination.end() };
}
