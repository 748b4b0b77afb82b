/** What the experiments have in common: the recorded sites being served, an outpost beside them, and runs of home. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Members } from '../../src/transfer/members.ts';
import type { Order, Result } from './home.ts';
import { connect, disconnect, HOME, linkBytes, type Running, run, SITE } from './network.ts';

export const data = fileURLToPath(new URL('../../../shared/data/dev', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/bench/', import.meta.url));
const FIRST_PORT = 9000;
const DOOR = 7700;
/** Sites in the recording. */
const SITES = 10;

export interface Trip extends Result {
  /** Bytes on home's link. */
  readonly up: number;
  readonly down: number;
}

export interface Stage {
  readonly directory: string;
  /** Sets the day that the sites show. */
  day(day: number): Promise<void>;
  /** A run of home with what it cost. `through`: its outposts fetch; else it fetches itself. */
  home(name: string, order: Omit<Order, 'data' | 'listen'>, through: boolean): Promise<Trip>;
  /** URLs of all pages of a day, as the outposts reach them. */
  urls(day: number): Promise<string[]>;
  /** A file of the URLs of all pages of a day, as home or the outposts reach them. */
  seeds(day: number, through: boolean): Promise<string>;
  /** An outpost beside the sites that serves the home of this name, with so many below it, one under the other. */
  outpost(home: string, options?: { readonly name: string; readonly children: number }): Promise<Pick<Running, 'end'>>;
  /** URLs that servers were asked for so far. */
  asked(): string[];
}

/** Sets everything up, lets `play` run, and takes everything down. */
export async function onStage(
  { rate = '', gzip = true }: { readonly rate?: string; readonly gzip?: boolean },
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'migration-'));
  try {
    connect(rate);
    const ports = ['--port', '8080', '--control', '8081', '--site-ports', String(FIRST_PORT)];
    const more = ['--rewrite', '--log', join(directory, 'log'), '--gzip', gzip ? 'on' : 'off'];
    const replay = run('site', join(data, 'replay.mjs'), '--data', data, ...ports, '--profile', 'real', ...more);
    await replay.ready;
    await run('site', 'relay.ts', SITE, String(SITES), String(FIRST_PORT), '127.0.0.1').ready;
    await play(makeStage(directory));
  } finally {
    await disconnect();
    rmSync(directory, { recursive: true, force: true });
  }
}

function makeStage(directory: string): Stage {
  const ask = async (path: string, method = 'GET') => {
    const asked = run('site', 'ask.ts', `http://127.0.0.1:8081${path}`, method);
    return asked.output;
  };
  const dataOf = (name: string) => join(directory, name);
  return {
    directory,
    day: async day => {
      await ask(`/day?set=${day}`, 'POST');
    },
    async home(name, order, through) {
      const before = linkBytes();
      const whole: Order = { ...order, data: dataOf(name), ...(through && { listen: `${HOME}:${DOOR}` }) };
      const result = JSON.parse(await run('home', 'home.ts', JSON.stringify(whole)).output) as Result;
      const after = linkBytes();
      return { ...result, up: after.up - before.up, down: after.down - before.down };
    },
    urls: async day => (await ask(`/urls?day=${day}`)).trim().split('\n'),
    async seeds(day, through) {
      const file = join(directory, `seeds-${day}-${through}`);
      if (existsSync(file)) return file;
      const urls = await ask(`/urls?day=${day}`);
      writeFileSync(file, through ? urls : urls.replaceAll('127.0.0.1', SITE));
      return file;
    },
    async outpost(home, { name, children } = { name: 'near', children: 0 }) {
      const running: Running[] = [];
      let parent = { host: HOME, port: DOOR, door: join(dataOf(home), 'door') };
      for (let level = 0; level <= children; level++) {
        const terms = { expires: 1e14, uses: 9, servers: [], quotas: {} };
        const { host, port } = parent;
        const token = new Members(parent.door).invite({ host, port, ...terms });
        const own = join(directory, `${home}-${name}-${level}`);
        const listen = level < children ? [`${SITE}:${++doors}`] : [];
        const outpost = run('site', 'outpost.ts', own, token, `${name}-${level}`, ...listen);
        await outpost.ready;
        running.push(outpost);
        parent = { host: SITE, port: doors, door: join(own, 'door') };
      }
      return {
        async end() {
          for (const outpost of running.reverse()) await outpost.end();
        },
      };
    },
    asked: () => {
      const lines = readFileSync(join(directory, 'log'), 'utf8').trim().split('\n');
      return lines.filter(line => line !== '').map(urlOf);
    },
  };
}

/** Doors of outposts that are parents. */
let doors = 7800;

/** A line of the servers' log is JSON: host and path. */
function urlOf(line: string): string {
  const { host, u } = JSON.parse(line) as { host: string; u: string };
  return host + u;
}
