/** Outposts as processes of their own, for journeys: invited, joined, killed and started again. */
import { join } from 'node:path';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { freePort } from '../free-port.ts';
import type { Web } from '../web/web.ts';
import { type Running, skeinJson, start } from './skein.ts';

export interface OutpostProcess {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  running: Running;
  /** kill -9, and wait until it is gone. */
  kill(): Promise<void>;
  /** The same outpost again, with nothing but its directory. */
  again(): void;
}

/** A token of whoever keeps its members in `parent`. */
export async function invite(parent: string, port: number, ...more: string[]): Promise<string> {
  const { token } = await skeinJson<{ token: string }>(
    ...['outpost', 'invite', '--data', parent, '--listen', `127.0.0.1:${port}`, ...more],
  );
  return token;
}

/** Starts an outpost that joins with the token and listens for others. */
export async function startOutpost(
  name: string,
  place: string,
  token: string,
  { more = [], node = [] }: { readonly more?: readonly string[]; readonly node?: readonly string[] } = {},
): Promise<OutpostProcess> {
  const port = await freePort();
  const directory = join(place, name);
  const options = ['--directory', directory, '--set', 'threads=1', '--listen', `127.0.0.1:${port}`, '--allow-private'];
  const outpost: OutpostProcess = {
    name,
    directory,
    port,
    running: start(['outpost', 'join', token, '--name', name, '--least-pace', '0', ...options, ...more], { node }),
    async kill() {
      outpost.running.child.kill('SIGKILL');
      await outpost.running.ended;
    },
    again() {
      outpost.running = start(['outpost', 'run', ...options], { node });
    },
  };
  return outpost;
}

/** Pages that the collection has more than one visit of. */
export function visitedTwice(data: string): string[] {
  const ledger = openLedger(data);
  const rows = ledger['database']
    .prepare('SELECT p.url FROM visits v JOIN pages p ON p.id = v.page GROUP BY p.id HAVING count(*) > 1')
    .all();
  ledger.close();
  return rows.map(row => row['url'] as string);
}

/**
 * For `skein crawl` where requests are counted: home does not choose pages by chance to look at them itself, to see
 * whether outposts tell the truth.
 */
export const UNAUDITED = ['--set', 'audit=0'] as const;

/** Pages that were asked for again. */
export function askedAgain(web: Web): string[] {
  return web.mustFind().filter(url => web.requests(url) > 1);
}
