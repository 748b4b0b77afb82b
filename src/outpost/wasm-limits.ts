/** What a WebAssembly module asks for, read from its bytes before anything of it runs. */
import { SkeinError } from '../base/errors.ts';

const PAGE = 65_536;
const IMPORTS = 2;
const TABLES = 4;
const MEMORIES = 5;
const MOST_ENTRIES = 100_000;

/** Throws 'refused' when the module imports anything or may use more than `memory` bytes. */
export function checkModule(bytes: Uint8Array, memory: number): void {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 8 || view.readUInt32LE(0) !== 0x6d736100) throw refused('it is not WebAssembly');
  const cursor = { at: 8 };
  let used = 0;
  while (cursor.at < view.length) {
    const section = view[cursor.at++]!;
    const size = varint(view, cursor);
    const end = cursor.at + size;
    if (end > view.length) throw refused('it is cut short');
    if (section === IMPORTS && varint(view, cursor) > 0) throw refused('it imports something');
    if (section === TABLES || section === MEMORIES) {
      for (let left = varint(view, cursor); left > 0; left--) {
        const { least, most } = limitsOf(view, cursor, section === TABLES);
        if (section === TABLES && least > MOST_ENTRIES) throw refused('its table is too large');
        if (section === TABLES) continue;
        if (most === undefined) throw refused('its memory has no maximum');
        used += most * PAGE;
      }
    }
    cursor.at = end;
  }
  if (used > memory) throw refused(`it may use ${used} bytes of memory, ${memory} are allowed`);
}

function limitsOf(view: Buffer, cursor: { at: number }, table: boolean): { least: number; most: number | undefined } {
  if (table) cursor.at++; // the type of its entries
  const flags = view[cursor.at++] ?? 0xff;
  if (flags > 1) throw refused('its memory is shared, or of 64 bits');
  const least = varint(view, cursor);
  return { least, most: flags === 1 ? varint(view, cursor) : undefined };
}

function varint(view: Buffer, cursor: { at: number }): number {
  let value = 0;
  for (let scale = 1; scale < 2 ** 35; scale *= 128) {
    const byte = view[cursor.at++];
    if (byte === undefined) throw refused('it is cut short');
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
  throw refused('a number in it does not end');
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `The decider is refused: ${why}.`);
}
