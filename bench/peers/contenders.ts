/** Who runs, and with which command: politeness off, several connections, bodies stored, for all alike. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from './measured.ts';

/**
 * In all, over however many servers. With eight the server on this machine goes to sleep between two requests, and every
 * crawler pays for waking it: with 32 Skein needs a twentieth less time, with 128 a tenth more. spider-rs takes as many as
 * it likes.
 */
export const CONNECTIONS = 32;

export interface Job {
  readonly seeds: readonly string[];
  /** Empty and the contender's own. */
  readonly directory: string;
  /** Pages after which a slow contender may stop. */
  readonly pages: number;
  /** Root of the project, and folder into which npm installed the peers. */
  readonly project: string;
  readonly modules: string;
}

export interface Contender {
  readonly name: string;
  /** Debian or npm package it comes from; empty = ours. */
  readonly package: string;
  /** Too slow for the whole web: runs on a part of it. */
  readonly partial: boolean;
  /** How many times as fast Skein has to be; 0 = no target. */
  readonly target: number;
  /** Exit codes that mean a complete run; wget says 8 when any answer was an error, and some links are dead. */
  readonly codes: readonly number[];
  /** Stores one file for each page, so that they can be counted. */
  readonly fileAPage: boolean;
  /** False: cannot be kept to several servers. */
  readonly several: boolean;
  run(job: Job): Omit<Run, 'directory'>;
}

const hosts = (job: Job): string => job.seeds.map(seed => new URL(seed).hostname).join(',');

const skein: Contender = {
  name: 'skein',
  package: '',
  partial: false,
  target: 0,
  fileAPage: false,
  several: true,
  codes: [0],
  run: ({ seeds, directory, project }) => ({
    command: join(project, 'node_modules', '.bin', 'node'),
    arguments: [
      join(project, 'bin', 'skein.js'),
      'crawl',
      ...seeds,
      ...['--data', directory, '--pace', '0', '--connections', String(CONNECTIONS / seeds.length)],
      ...['--allow-private', '--json'],
    ],
  }),
};

/** Its best thread count is not known beforehand, so each is a contender and the best one counts. */
const wget2 = (threads: number): Contender => ({
  name: `wget2, ${threads} thread${threads === 1 ? '' : 's'}`,
  package: 'wget2',
  partial: false,
  target: 0.5,
  fileAPage: false,
  several: true,
  codes: [0, 8],
  run: job => ({
    command: 'wget2',
    arguments: [
      ...['-q', '-r', '--level=0', '--no-robots', `--max-threads=${threads}`, '-P', job.directory],
      // It stays on the hosts of its start URLs. With --span-hosts it would ask for every host that any page names.
      ...job.seeds,
    ],
  }),
});

const wget: Contender = {
  name: 'wget --warc-file',
  package: 'wget',
  partial: false,
  target: 4,
  fileAPage: false,
  several: true,
  codes: [0, 8],
  run: job => ({
    command: 'wget',
    arguments: [
      ...['-q', '-r', '-l', 'inf', '-e', 'robots=off', '-P', job.directory],
      `--warc-file=${join(job.directory, 'crawl')}`,
      ...(job.seeds.length > 1 ? ['-H', '-D', hosts(job)] : []),
      ...job.seeds,
    ],
  }),
};

const httrack: Contender = {
  name: 'httrack',
  package: 'httrack',
  partial: false,
  target: 0,
  fileAPage: false,
  several: true,
  codes: [0],
  run: job => ({
    command: 'httrack',
    arguments: [
      ...job.seeds,
      ...[
        '-O',
        job.directory,
        '-q',
        '-s0',
        `-c${CONNECTIONS}`,
        '-%c10000',
        '-A1000000000',
        '--disable-security-limits',
      ],
      ...(job.seeds.length > 1 ? job.seeds.map(seed => `+${new URL(seed).hostname}/*`) : []),
    ],
  }),
};

const scrapy: Contender = {
  name: 'Scrapy',
  package: 'python3-scrapy',
  partial: true,
  target: 20,
  fileAPage: true,
  several: true,
  codes: [0],
  run: job => ({
    command: 'scrapy',
    arguments: [
      ...['runspider', join(job.project, 'bench', 'peers', 'scrapy-spider.py'), '-L', 'ERROR'],
      ...['-a', `seeds=${job.seeds.join(',')}`, '-a', `directory=${job.directory}`],
      ...['ROBOTSTXT_OBEY=0', 'TELNETCONSOLE_ENABLED=0', `CLOSESPIDER_PAGECOUNT=${job.pages}`].flatMap(set => [
        '-s',
        set,
      ]),
      ...[`CONCURRENT_REQUESTS_PER_DOMAIN=${CONNECTIONS}`, `CONCURRENT_REQUESTS=${CONNECTIONS}`].flatMap(set => [
        '-s',
        set,
      ]),
    ],
  }),
};

const node = (name: string, from: string, file: string, target: number, partial: boolean): Contender => ({
  name,
  package: from,
  partial,
  target,
  fileAPage: true,
  several: from !== '@spider-rs/spider-rs',
  codes: [0],
  run: job => ({
    command: process.execPath,
    arguments: [
      join(job.project, 'bench', 'peers', file),
      ...[job.modules, job.directory, String(job.pages), ...job.seeds],
    ],
  }),
});

/** Versions are fixed: a figure without one says nothing. Crawlee's cheerio package is what its crawler is made of. */
export const NPM_PEERS = ['@crawlee/cheerio@3.18.1', '@spider-rs/spider-rs@0.0.157'] as const;

export const contenders: readonly Contender[] = [
  skein,
  ...[1, 2, 4, 8, 16, 32].map(wget2),
  wget,
  node('spider-rs', '@spider-rs/spider-rs', 'spider-rs.ts', 3, false),
  httrack,
  node('Crawlee Cheerio', '@crawlee/cheerio', 'crawlee.ts', 20, true),
  scrapy,
];

export function installed(contender: Contender, project: string, modules: string): boolean {
  if (contender.package === '') return existsSync(join(project, 'bin', 'skein.js'));
  if (contender.package.startsWith('@')) return existsSync(join(modules, 'node_modules', contender.package));
  const names = contender.package === 'python3-scrapy' ? 'scrapy' : contender.package;
  return (process.env['PATH'] ?? '').split(':').some(folder => existsSync(join(folder, names)));
}
