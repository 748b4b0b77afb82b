/**
 * Peers that can revisit, each with the list of the day's pages: wget2 by timestamps, Scrapy by its cache, HTTrack by
 * its update. They ask for everything every day.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Replay } from './replay.ts';

export interface Peer {
  readonly name: string;
  readonly program: string;
  command(list: string, directory: string, again: boolean): readonly string[];
}

const SCRAPY = {
  HTTPCACHE_ENABLED: 'True',
  HTTPCACHE_POLICY: 'scrapy.extensions.httpcache.RFC2616Policy',
  ROBOTSTXT_OBEY: 'False',
  CONCURRENT_REQUESTS: '16',
  CONCURRENT_REQUESTS_PER_DOMAIN: '8',
  LOG_LEVEL: 'ERROR',
  TELNETCONSOLE_ENABLED: 'False',
};

export const peers: readonly Peer[] = [
  {
    name: 'wget2 -N',
    program: 'wget2',
    command: (list, directory) => ['-q', '-N', '-x', '--no-robots', '--max-threads=8', '-P', directory, '-i', list],
  },
  {
    name: 'Scrapy, RFC 2616 cache',
    program: 'scrapy',
    command: (list, directory) => [
      ...['runspider', fileURLToPath(new URL('cached-spider.py', import.meta.url)), '-a', `urls=${list}`],
      ...Object.entries(SCRAPY).flatMap(([name, value]) => ['-s', `${name}=${value}`]),
      ...['-s', `HTTPCACHE_DIR=${directory}`],
    ],
  },
  {
    name: 'HTTrack --update',
    program: 'httrack',
    command: (list, directory, again) => [
      ...['-%L', list, '-O', directory, '-q', '-r1', '-p1', '-s0', '-c8', '-%c10000', '-A1000000000'],
      '--disable-security-limits',
      ...(again ? ['--update'] : []),
    ],
  },
];

export interface PeerDays {
  /** Of each day after the first. */
  readonly bytes: readonly number[];
  readonly requests: readonly number[];
  /** Share of the day's pages that it asked for, which are fresh then. */
  readonly asked: readonly number[];
}

/** Undefined where the program cannot be run. */
export async function peerDays(
  peer: Peer,
  replay: Replay,
  { days, onDay }: { readonly days: number; readonly onDay: (day: number, bytes: number) => void },
): Promise<PeerDays | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-peer-'));
  const list = join(directory, 'urls.txt');
  const bytes: number[] = [];
  const requests: number[] = [];
  const asked: number[] = [];
  try {
    for (let day = 0; day <= days; day++) {
      await replay.setDay(day);
      writeFileSync(list, `${replay.urlsOf(day).join('\n')}\n`);
      if (!(await run(peer.program, peer.command(list, join(directory, 'copy'), day > 0)))) return undefined;
      const traffic = await replay.traffic();
      if (day === 0 && traffic.requests === 0) return undefined;
      if (day === 0) continue;
      bytes.push(traffic.bytes);
      requests.push(traffic.requests);
      asked.push(Math.min(1, traffic.requests / replay.urlsOf(day).length));
      onDay(day, traffic.bytes);
    }
    return { bytes, requests, asked };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds for one day; HTTrack takes a minute of them on a quiet machine. */
const LIMIT = 900_000;

/** False when there is no such program; what it says is not asked, because dead links make some of them complain. */
function run(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn(program, args, { stdio: 'ignore', timeout: LIMIT });
    child.once('error', () => resolve(false));
    child.once('close', () => resolve(true));
  });
}
