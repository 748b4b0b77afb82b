/**
 * What a WebAssembly module asks for, read from its bytes before anything of it runs. It refuses early and in words what the
 * limits of the cage would end later: the wall does not depend on it.
 */
import { SkeinError } from '../../base/errors.ts';

const PAGE = 65_536;
const MAGIC = 0x6d736100;
const IMPORTS = 2;
const TABLES = 4;
const MEMORIES = 5;
/** Of all tables together, when it starts. */
const MOST_ENTRIES = 100_000;
/** Types of what a table holds: functions, or nothing that a module without imports could have. */
const FUNCTIONS = 0x70;
const FOREIGN = 0x6f;

/** WebAssembly is known by its first bytes; anything else is taken for JavaScript. */
export function isModule(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === MAGIC;
}

/** Throws 'refused' when the module imports anything or may use more than `memory` bytes. */
export function checkModule(bytes: Uint8Array, memory: number): void {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 8) throw refused('it is truncated');
  const cursor = { at: 8 };
  let used = 0;
  let entries = 0;
  while (cursor.at < view.length) {
    const section = view[cursor.at++]!;
    const size = varint(view, cursor);
    const end = cursor.at + size;
    if (end > view.length) throw refused('it is truncated');
    if (section === IMPORTS && varint(view, cursor) > 0) throw refused('it has imports');
    if (section === TABLES) entries += entriesOf(view, cursor);
    if (section === MEMORIES) used += bytesOf(view, cursor);
    cursor.at = end;
  }
  if (entries > MOST_ENTRIES) throw refused('its table is too large');
  if (used > memory) throw refused(`it may use ${used} bytes of memory; the limit is ${memory}`);
}

/** Tables of other types, and those with a value to begin with, are written in other ways, which nothing here reads. */
function entriesOf(view: Buffer, cursor: { at: number }): number {
  let entries = 0;
  for (let left = varint(view, cursor); left > 0; left--) {
    const type = view[cursor.at++];
    if (type !== FUNCTIONS && type !== FOREIGN) throw refused('one of its tables holds something other than functions');
    entries += limitsOf(view, cursor).least;
  }
  return entries;
}

function bytesOf(view: Buffer, cursor: { at: number }): number {
  let used = 0;
  for (let left = varint(view, cursor); left > 0; left--) {
    const { most } = limitsOf(view, cursor);
    if (most === undefined) throw refused('its memory has no maximum');
    used += most * PAGE;
  }
  return used;
}

function limitsOf(view: Buffer, cursor: { at: number }): { least: number; most: number | undefined } {
  const flags = view[cursor.at++] ?? 0xff;
  if (flags > 1) throw refused('its memory is shared or has 64-bit addresses');
  const least = varint(view, cursor);
  return { least, most: flags === 1 ? varint(view, cursor) : undefined };
}

function varint(view: Buffer, cursor: { at: number }): number {
  let value = 0;
  for (let scale = 1; scale < 2 ** 35; scale *= 128) {
    const byte = view[cursor.at++];
    if (byte === undefined) throw refused('it is truncated');
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
  throw refused('a number in it is too long');
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `The decider is refused: ${why}.`);
}
