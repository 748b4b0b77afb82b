/** A real home for hostile outposts to come to: ledger, archive, door and audits, in this process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY, systemClock } from '../../src/base/clock.ts';
import { version } from '../../src/base/version.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { joinParent, StandingOutpost } from '../../src/outpost/standing-outpost.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { freePort } from '../free-port.ts';
import { chosen } from '../journeys/collection.ts';

export interface Target extends AsyncDisposable {
  readonly directory: string;
  readonly opened: Engine;
  readonly port: number;
  token(servers?: readonly string[]): string;
  /** Resolves when the crawl has ended; rejects with what ended home. */
  readonly ended: Promise<void>;
  /** An outpost that tells the truth. */
  honest(name: string): Promise<AsyncDisposable>;
  /** Ends home; what verify says of the collection then. */
  problems(): Promise<readonly unknown[]>;
}

export async function openTarget(seeds: readonly string[], more: Record<string, unknown> = {}): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-target-'));
  const data = join(directory, 'home');
  const port = await freePort();
  const options = { listen: `127.0.0.1:${port}`, threads: 0, audit: 0, scope: ['*'], ...more };
  const opened = await openHome(chosen(data, options), seeds, {});
  await opened.ready();
  const members = new Members(join(data, 'door'));
  const ended = opened.run(crawlSupply(opened, 60_000));
  ended.catch(() => {}); // whoever awaits it sees it
  let open = true;
  const close = async () => {
    if (!open) return;
    open = false;
    opened.home.stop();
    await ended.catch(() => {});
    await opened.close();
  };
  const expires = Date.now() + DAY;
  const token = (servers: readonly string[] = []) =>
    members.invite({ host: '127.0.0.1', port, expires, uses: 1, servers, quotas: {} });
  return {
    ...{ directory: data, opened, port, ended, token },
    async honest(name) {
      const place = join(directory, name);
      joinParent(
        { directory: place, token: token(), name, servers: [], allowPrivate: true, ceilings: { pace: 0 } },
        Date.now(),
      );
      const outpost = new StandingOutpost({
        ...{ directory: place, software: version, threads: 1, spoolBytes: 1e8, clock: systemClock, say: () => {} },
        backOff: { first: 50, longest: 100 },
      });
      const running = outpost.run();
      return {
        async [Symbol.asyncDispose]() {
          await outpost.stop();
          await running;
        },
      };
    },
    async problems() {
      await close();
      const ledger = openLedger(data);
      const { problems } = await verifyCollection(ledger);
      ledger.close();
      return problems;
    },
    async [Symbol.asyncDispose]() {
      await close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
