/** What the experiments have in common: the recorded sites being served, an outpost beside them, and runs of home. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Members } from '../../src/transfer/entry/members.ts';
import type { Order, Result } from './home.ts';
import { addMachine, connect, disconnect, HOME, linkBytes, type Running, refusals, run, SITE } from './network.ts';

export const data = fileURLToPath(new URL('../../../shared/data/dev', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/bench/', import.meta.url));
const FIRST_PORT = 9000;
const DOOR = 7700;
/** Bytes of a connection that is asked for, and refused. */
export const KNOCK = { down: 74, up: 54 };
/** Sites in the recording. */
const SITES = 10;

export interface Trip extends Result {
  /** Bytes on home's link, without those of knocks. */
  readonly up: number;
  readonly down: number;
  /** How often outposts knocked while home was not there yet, which depends on how long it takes to start. */
  readonly knocks: number;
}

export interface Stage {
  readonly directory: string;
  /** Sets the day that the sites show. */
  day(day: number): Promise<void>;
  /** A run of home with what it cost. `through`: its outposts fetch; else it fetches itself. */
  home(name: string, order: Omit<Order, 'data' | 'listen'>, through: boolean): Promise<Trip>;
  /** URLs of all pages of a day, as they are called beside the sites. */
  urls(day: number): Promise<string[]>;
  /** A file of the URLs of all pages of a day, as machines beside the sites reach them, or all others. */
  seeds(day: number, beside: boolean): Promise<string>;
  /** An outpost that serves the home of this name, with so many below it, one under the other. */
  outpost(home: string, options?: OutpostPlace): Promise<Outpost>;
  /** URLs that servers were asked for so far. */
  asked(): string[];
}

export interface OutpostPlace {
  readonly name: string;
  readonly children: number;
  /** Rate of the link that each of them has of its own; none = they stand beside the sites. */
  readonly link?: string;
}

export interface Outpost {
  /** All of them have met their parents. */
  readonly joined: Promise<unknown>;
  end(): Promise<void>;
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
    machines.clear();
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
      const before = { ...linkBytes(), knocks: refusals() };
      const whole: Order = { ...order, data: dataOf(name), ...(through && { listen: `${HOME}:${DOOR}` }) };
      const result = JSON.parse(await run('home', 'home.ts', JSON.stringify(whole)).output) as Result;
      const knocks = refusals() - before.knocks;
      const { up, down } = linkBytes();
      return {
        ...result,
        knocks,
        up: up - before.up - knocks * KNOCK.up,
        down: down - before.down - knocks * KNOCK.down,
      };
    },
    urls: async day => (await ask(`/urls?day=${day}`)).trim().split('\n'),
    async seeds(day, beside) {
      const file = join(directory, `seeds-${day}-${beside}`);
      if (existsSync(file)) return file;
      const urls = await ask(`/urls?day=${day}`);
      writeFileSync(file, beside ? urls : urls.replaceAll('127.0.0.1', SITE));
      return file;
    },
    outpost: (home, place = { name: 'near', children: 0 }) => startOutposts(directory, home, place),
    asked: () => {
      const lines = readFileSync(join(directory, 'log'), 'utf8').trim().split('\n');
      return lines.filter(line => line !== '').map(urlOf);
    },
  };
}

/** Doors of outposts that are parents. */
let doors = 7800;

async function startOutposts(directory: string, home: string, place: OutpostPlace): Promise<Outpost> {
  const { name, children, link } = place;
  const running: Running[] = [];
  let parent = { host: HOME, port: DOOR, door: join(directory, home, 'door') };
  for (let level = 0; level <= children; level++) {
    const terms = { expires: 1e14, uses: 9, servers: [], quotas: {} };
    const { host, port } = parent;
    const token = new Members(parent.door).invite({ host, port, ...terms });
    const own = join(directory, `${home}-${name}-${level}`);
    const world = link === undefined ? 'site' : `${name}-${level}`;
    const address = link === undefined ? SITE : machineAt(world, link);
    const ownPort = ++doors;
    const listen = level < children ? [`${address}:${ownPort}`] : [];
    const outpost = run(world, 'outpost.ts', own, token, `${name}-${level}`, ...listen);
    await outpost.ready;
    running.push(outpost);
    parent = { host: address, port: ownPort, door: join(own, 'door') };
  }
  return {
    joined: Promise.all(running.map(({ again }) => again)),
    async end() {
      for (const outpost of running.reverse()) await outpost.end();
    },
  };
}

/** Machines stay where they are for the next outposts of their names. */
const machines = new Map<string, string>();

function machineAt(world: string, link: string): string {
  const address = machines.get(world) ?? addMachine(world, link);
  machines.set(world, address);
  return address;
}

/** A line of the servers' log is JSON: host and path. */
function urlOf(line: string): string {
  const { host, u } = JSON.parse(line) as { host: string; u: string };
  return host + u;
}
