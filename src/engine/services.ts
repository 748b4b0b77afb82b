/** What every long run has beside its work: a door for others, a log, a search index, a workbench if wanted. */
import { version } from '../base/version.ts';
import { type ControlParts, HomeControl } from '../home/control.ts';
import { openDoor } from '../home/door.ts';
import type { Home } from '../home/home.ts';
import { startIndexing } from '../home/indexing/indexing.ts';
import { openLog } from '../home/log.ts';
import type { SteerOrder } from '../home/orders.ts';
import { startNotifying } from '../notify/start.ts';
import { startWorkbench, type WorkbenchThread } from '../workbench/start.ts';
import type { Engine } from './engine.ts';

/** Default port of the workbench. */
export const WORKBENCH_PORT = 7700;

export interface Attending {
  readonly command: string;
  readonly data: string;
  /** What is kept, as it is shown to people. */
  readonly keep: string;
  /** A port, or true for the usual one. */
  readonly workbench?: number | boolean | undefined;
  readonly budget?: ControlParts['budget'];
  /** Milliseconds until a second look has shown what of a visit is noise; default: there is none. */
  readonly settled?: number | undefined;
}

export interface Attended {
  /** Address of the workbench, with its token; absent when none was asked for. */
  readonly workbench: string | undefined;
  /** Ends what serves the run. The workbench goes on, with what has come of it. */
  leave(): Promise<void>;
  closeWorkbench(): Promise<void>;
}

/** If one service fails to start (a port is taken), closes the others and ends the run. */
export async function startServices(engine: Engine, options: Attending): Promise<Attended> {
  try {
    return await begin(engine, options);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function begin(engine: Engine, options: Attending): Promise<Attended> {
  const { home, settings, clock } = engine;
  const { command, data, keep, budget } = options;
  const control = new HomeControl({
    ...{ home, settings, clock, command, keep },
    seed: urls => engine.collection.seed(urls),
    scope: engine.bounds.scope.join(', '),
    log: ({ order, done }) => log.write('info', { order }, done),
    ...(engine.cluster && {
      share: (order: SteerOrder) => engine.cluster!.steering.share(order),
      forward: (order: SteerOrder) => engine.cluster!.steering.forward(order),
    }),
    ...(budget && { budget }),
  });
  engine.cluster?.steering.attach(order => control.obeyOther(order));
  const workbench = await serve(data, options.workbench); // the only one that can fail for a reason of the user's
  const door = await openDoor(data, control);
  const indexing = startIndexing(home);
  const log = openLog(data, command);
  const notifying = startNotifying({ data, settled: options.settled ?? 0 }, why =>
    log.write('warn', { why }, 'no messages about changes are sent'),
  );
  log.write('info', { data, version, ...sizes(home) }, 'started');
  return {
    workbench: workbench?.address,
    async leave() {
      const { outcomes, bytesDown, bytesUp, seconds } = home.progress;
      await indexing.stop();
      await notifying.stop();
      await door.close();
      const { failure, changed: indexed } = indexing.report() ?? {};
      if (failure) log.write('warn', { failure, indexed }, 'the search index cannot be updated');
      log.write('info', { outcomes, bytesDown, bytesUp, seconds }, 'ended');
      log.close();
    },
    closeWorkbench: async () => workbench?.close(),
  };
}

function sizes({ partitions }: Home): { pages: number; servers: number } {
  return {
    pages: partitions.sum(({ ledger }) => ledger.pages.own),
    servers: partitions.sum(({ ledger }) => ledger.servers.size),
  };
}

async function serve(directory: string, wanted: number | boolean | undefined): Promise<WorkbenchThread | undefined> {
  if (wanted === undefined || wanted === false) return undefined;
  const start = (port: number) => startWorkbench({ directory, port, version });
  // Another workbench may have the default port: then any free one will do, unless the user named one.
  return wanted === true ? start(WORKBENCH_PORT).catch(() => start(0)) : start(wanted);
}
