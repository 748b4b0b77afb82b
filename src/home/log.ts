/**
 * The log of long commands: one JSON object a line in skein.log, for machines first. People have the workbench. The
 * fields are those that readers of such logs (pino, bunyan) know: level, time, pid, msg. A logging library took 30 ms of
 * CPU before a crawl began, for three lines.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const levels = { info: 30, warn: 40 } as const;

export interface Log {
  write(level: keyof typeof levels, fields: object, message: string): void;
  close(): void;
}

export function openLog(directory: string, command: string): Log {
  const file = openSync(join(directory, 'skein.log'), 'a');
  return {
    write(level, fields, message) {
      const start = { level: levels[level], time: new Date().toISOString(), command, pid: process.pid };
      const line = JSON.stringify({ ...start, ...fields, msg: message });
      try {
        // Written at once: a few lines a minute, and the last ones before a crash are those that matter.
        writeSync(file, `${line}\n`);
      } catch {
        // On a full disk the ledger has more to say than that this line is missing.
      }
    },
    close: () => closeSync(file),
  };
}
