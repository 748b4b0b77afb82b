/** The log of long commands: one JSON object a line in skein.log, for machines first. People have the workbench. */
import { closeSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE } from '../base/file.ts';
import { harmlessJson } from '../base/harmless.ts';

interface Log {
  write(level: 'info' | 'warn', fields: object, message: string): void;
  close(): void;
}

/** Levels as other tools that read such logs know them. */
const levels = { info: 30, warn: 40 } as const;

export function openLog(directory: string, command: string): Log {
  let file = open(join(directory, 'skein.log'));
  return {
    // Written at once: a few lines a minute, and the last ones before a crash are those that matter.
    write(level, fields, message) {
      const entry = { level: levels[level], time: new Date().toISOString(), command, pid: process.pid, ...fields };
      if (file !== undefined) append(file, `${harmlessJson(JSON.stringify({ ...entry, msg: message }))}\n`);
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined; // its number may soon be that of another file
    },
  };
}

function open(file: string): number | undefined {
  try {
    rotate(file);
    return openSync(file, 'a', PRIVATE);
  } catch {
    return undefined; // where no log can be written the ledger cannot, and says so better
  }
}

function append(file: number, line: string): void {
  try {
    writeSync(file, line);
  } catch {
    // such as a full disk, of which the ledger tells
  }
}

/** Bytes from which on a run begins a new log, and how many old ones are kept. */
const MOST_BYTES = 10_000_000;
const KEPT = 5;

/** skein.log becomes skein.log.1, that .2 and so on; the oldest goes. Between runs: a run writes a few lines. */
function rotate(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < MOST_BYTES) return;
  for (let number = KEPT - 1; number >= 0; number--) {
    const from = number === 0 ? file : `${file}.${number}`;
    if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${file}.${number + 1}`);
  }
}

/** How a run ended, as its log says. */
interface LastRun {
  readonly command: string;
  /** Milliseconds since 1970 when it began and ended; null = it did not end, or not in order. */
  readonly started: number | null;
  readonly ended: number | null;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Bytes on the wire, both ways. */
  readonly bytes: number;
}

/** Bytes of the log that are read for it. */
const TAIL = 200_000;

/** The newest run that the log tells of; undefined = it tells of none. */
export function lastRun(directory: string): LastRun | undefined {
  const lines = tailOf(join(directory, 'skein.log')).split('\n').map(entryOf);
  const started = lines.findLast(entry => entry?.['msg'] === 'started');
  const ended = lines.findLast(entry => entry?.['msg'] === 'ended');
  const newest = timeOf(started) > timeOf(ended) ? started : ended;
  if (!newest) return undefined;
  const over = newest === ended;
  return {
    command: String(newest['command'] ?? ''),
    started: started && (!over || started['pid'] === ended?.['pid']) ? timeOf(started) : null,
    ended: over ? timeOf(ended) : null,
    outcomes: over ? countsIn(newest['outcomes']) : {},
    bytes: over ? numberIn(newest['bytesDown']) + numberIn(newest['bytesUp']) : 0,
  };
}

type LogEntry = Readonly<Record<string, unknown>>;

function tailOf(file: string): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return '';
  const opened = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(size, TAIL));
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(opened);
  }
}

function entryOf(line: string): LogEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as LogEntry) : undefined;
  } catch {
    return undefined; // the first one may be cut
  }
}

const timeOf = (entry: LogEntry | undefined): number => (entry ? Date.parse(String(entry['time'])) || 0 : 0);
const numberIn = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : 0);

function countsIn(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, count]) => [name, numberIn(count)]));
}
