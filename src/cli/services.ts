/** The services of a run, and what is said of them. */
import type { Engine } from '../engine/engine.ts';
import { type Attended, type Attending, startServices } from '../engine/services.ts';
import { missingContact } from './options/contact.ts';
import { paint } from './print/terminal.ts';
import { nextSignal } from './signals.ts';

export type { Attended } from '../engine/services.ts';

export async function attend(opened: Engine, options: Attending): Promise<Attended> {
  const missing = missingContact(
    opened.settings,
    [...opened.pool].map(({ ledger }) => ledger),
  );
  if (missing) console.error(paint('yellow', missing));
  const attended = await startServices(opened, options);
  if (attended.workbench !== undefined) console.error(`${paint('bold', 'Workbench:')} ${attended.workbench}`);
  return attended;
}

/** The run is over. Who watches it in a terminal may look at what came of it until Ctrl-C; a script goes on at once. */
export async function endWorkbench(attended: Attended, interrupted: boolean): Promise<void> {
  if (attended.workbench !== undefined && !interrupted && process.stdout.isTTY) {
    const stopped = nextSignal();
    console.error(`\nThe workbench is still running: ${attended.workbench}\nStop it with Ctrl-C.`);
    const holding = setInterval(() => {}, 60_000); // a signal alone keeps no process
    await stopped;
    clearInterval(holding);
  }
  await attended.closeWorkbench();
}
