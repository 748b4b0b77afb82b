/** The thread behind copying.ts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Copier } from './copier.ts';
import type { CopyLeave, CopyReport, CopyTurn } from './copying.ts';
import type { ObjectStore } from './objects.ts';
import { copiedNote, notCopied, noteCopied, type Offsite, offsiteOf, openObjects } from './offsite.ts';

interface Open {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  readonly copier: Copier;
}

/** Milliseconds until the next try after the store refused, doubled each time up to the longest. */
const FIRST_WAIT = 5000;
const LONGEST_WAIT = 300_000;

const port = parentPort!;
const opened = new Map<string, Open>();
let [failures, notBefore] = [0, 0];
/** The next turn, when one comes while another is under way; the last turn waits for it. */
let next: CopyTurn | undefined;
let working = false;
/** Ticks until which this peer may write; without a cluster always. */
let until = Number.POSITIVE_INFINITY;

/** The store, which refuses to write once the leave is over: then another peer may write there. */
function underLeave(objects: ObjectStore): ObjectStore {
  const ask = () => {
    if (systemClock.ticks() >= until) throw new SkeinError('refused', 'The engine does not answer.');
  };
  return {
    address: objects.address,
    async put(name, bytes) {
      ask();
      await objects.put(name, bytes);
    },
    async remove(name) {
      ask();
      await objects.remove(name);
    },
    get: (name, offset, into) => objects.get(name, offset, into),
    list: prefix => objects.list(prefix),
    close: () => objects.close(),
  };
}

async function openPartition(directory: string, ledger: Ledger, { to }: Offsite): Promise<Open> {
  const before = opened.get(directory);
  if (before?.objects.address === to) return before;
  before?.copier.close();
  before?.objects.close();
  const objects = underLeave(await openObjects(to));
  const open = { ledger, objects, copier: new Copier(directory, objects) };
  opened.set(directory, open);
  return open;
}

/** Returns how many bytes are left. */
async function copyOne(directory: string): Promise<number> {
  const ledger = opened.get(directory)?.ledger ?? new Ledger(directory, 'read');
  const offsite = offsiteOf(ledger);
  if (!offsite || offsite.readOnly) {
    if (!opened.has(directory)) ledger.close();
    return 0;
  }
  const { copier } = await openPartition(directory, ledger, offsite);
  let trouble: { readonly trouble?: string } = {};
  try {
    await copier.turn(ledger.storage.segments.all());
  } catch (error) {
    trouble = { trouble: (error as Error).message };
    throw error;
  } finally {
    const copied = Object.fromEntries(copier.copied());
    const note = { to: offsite.to, copied, ...trouble };
    // A partition that is another peer's by now has no directory any more.
    if (existsSync(directory) && JSON.stringify(note) !== JSON.stringify(copiedNote(directory)))
      noteCopied(directory, note);
  }
  return notCopied(ledger) ?? 0;
}

function leftIn(directory: string): number {
  if (!existsSync(join(directory, 'ledger.db'))) return 0;
  const ledger = new Ledger(directory, 'read');
  try {
    return notCopied(ledger) ?? 0;
  } finally {
    ledger.close();
  }
}

async function work({ directories, last = false }: CopyTurn): Promise<CopyReport> {
  for (const [directory, { ledger, objects, copier }] of opened) {
    if (directories.includes(directory)) continue;
    copier.close();
    objects.close();
    ledger.close();
    opened.delete(directory);
  }
  let [left, trouble] = [0, ''];
  for (const directory of directories) {
    if (!existsSync(join(directory, 'ledger.db'))) continue; // it went to another peer
    try {
      left += await copyOne(directory);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      trouble = error.message;
      left += leftIn(directory);
    }
  }
  failures = trouble === '' ? 0 : failures + 1;
  notBefore = trouble === '' ? 0 : performance.now() + Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1));
  return { trouble, left, last };
}

port.on('message', async (turn: CopyTurn | CopyLeave) => {
  if ('until' in turn) {
    until = turn.until;
    return;
  }
  next = turn;
  if (working) return;
  working = true;
  while (next) {
    const given: CopyTurn = next;
    next = undefined;
    if (given.last || performance.now() >= notBefore) port.postMessage(await work(given));
  }
  working = false;
});
