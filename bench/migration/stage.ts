/** What the experiments have in common: the recorded sites being served, an outpost beside them, and runs of home. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  /** A file of the URLs of all pages of a day, as home or the outposts reach them. */
  seeds(day: number, through: boolean): Promise<string>;
  /** An outpost beside the sites that serves the home of this name. */
  outpost(name: string): Promise<Running>;
}

/** Sets everything up, lets `play` run, and takes everything down. */
export async function onStage(rate: string, play: (stage: Stage) => Promise<void>): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'migration-'));
  try {
    connect(rate);
    const ports = ['--port', '8080', '--control', '8081', '--site-ports', String(FIRST_PORT)];
    const replay = run('site', join(data, 'replay.mjs'), '--data', data, ...ports, '--profile', 'real', '--rewrite');
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
    async seeds(day, through) {
      const file = join(directory, `seeds-${day}-${through}`);
      if (existsSync(file)) return file;
      const urls = await ask(`/urls?day=${day}`);
      writeFileSync(file, through ? urls : urls.replaceAll('127.0.0.1', SITE));
      return file;
    },
    async outpost(name) {
      const terms = { host: HOME, port: DOOR, expires: 1e14, uses: 9, servers: [], quotas: {} };
      const token = new Members(join(dataOf(name), 'door')).invite(terms);
      const running = run('site', 'outpost.ts', join(directory, `${name}-outpost`), token, 'near');
      await running.ready;
      return running;
    },
  };
}
