/** The services of a run, and what is said of them. */
import type { Engine } from '../engine/engine.ts';
import { type Attended, type Attending, startServices } from '../engine/services.ts';
import { missingContact } from './options/contact.ts';
import { paint } from './print/terminal.ts';

export type { Attended } from '../engine/services.ts';

export async function attend(opened: Engine, options: Attending): Promise<Attended> {
  const missing = missingContact(opened.ledger);
  if (missing) console.error(paint('yellow', missing));
  const attended = await startServices(opened, options);
  if (attended.workbench !== undefined) console.error(`${paint('bold', 'Workbench:')} ${attended.workbench}`);
  return attended;
}
